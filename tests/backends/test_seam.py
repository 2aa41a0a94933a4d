"""What passes through the seam: plain data that is sent, live functions that are lent."""

from __future__ import annotations

import pickle
from array import array
from typing import Any

import pytest

from sandbox_kernel import EngineClosedError, run_code
from sandbox_kernel.lending import lend
from sandbox_kernel.options import CodeExecutionOptions
from sandbox_kernel.wire.order import Order
from tests.backends.recorder import Recorder
from tests.backends.script import script


def test_an_order_is_plain_data_that_can_be_pickled() -> None:
    numbers = array("d", [1.0, 2.0])
    options = CodeExecutionOptions.of(
        imports={"fs": {"read": len}},
        modules={"./a.ts": "export {}"},
        globals={"rows": [{"n": 1}], "numbers": numbers},
        execute={"fn": "scan", "args": [1]},
        memory_limit_bytes=10_000_000,
    )
    order, lent = lend("export default 1", options)
    copy = pickle.loads(pickle.dumps(order))
    assert copy == order
    assert [bytes(item) for item in copy.attachments] == [numbers.tobytes()]
    assert Order.unpack(copy.pack()) == order._replace(attachments=())
    assert lent.bridges.function(0)[0] is len


def test_an_order_without_a_memory_limit_leaves_it_to_the_backend() -> None:
    order, _ = lend("", CodeExecutionOptions.of())
    assert order.memory_limit == 0


def test_every_order_has_a_seed_of_its_own() -> None:
    options = CodeExecutionOptions.of()
    assert lend("", options)[0].seed != lend("", options)[0].seed


def test_the_report_sink_is_lent_and_not_sent() -> None:
    reports: list[Any] = []
    sink = reports.append
    order, lent = lend("", CodeExecutionOptions.of(report=sink))
    assert lent.report is sink
    assert order.builtins == ("report", "console")


def test_a_backend_that_refuses_to_start_raises() -> None:
    recorder = Recorder()
    recorder.closed = True
    with pytest.raises(EngineClosedError, match="the recorder is closed"):
        run_code(script(["return", 1]), engine=recorder)
    assert recorder.orders == []


def test_the_faces_need_nothing_but_the_seam() -> None:
    recorder = Recorder()
    run = run_code(script(["return", 7]), engine=recorder)
    assert run.wait(20).result == 7
    assert [order.filename for order in recorder.orders] == ["<runCode>"]
