"""A run always settles, also when the processes it needs are stopped."""

from __future__ import annotations

import os
import signal
import time

import pytest

from sandbox_kernel import Engine, run_code
from sandbox_kernel.engine import pool, zygote
from tests.waiting import until


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE", 0.3)
    monkeypatch.setattr(zygote, "_QUIET_MILLISECONDS", 100)


def test_a_run_whose_zygote_is_stopped_ends_with_an_engine_error() -> None:
    with Engine(spares=0) as engine:
        assert run_code("export default 1", engine=engine).wait(30).result == 1
        zygote = engine.processes().zygote
        assert zygote is not None
        os.kill(zygote, signal.SIGSTOP)
        result = run_code("export default 2", engine=engine).wait(30)
        assert result.error is not None
        assert (result.status, result.error.name) == ("error", "EngineError")
        assert "none answered within 0.3 s" in result.error.message
        assert run_code("export default 3", engine=engine).wait(30).result == 3


def test_a_run_whose_worker_is_stopped_ends_with_an_engine_error() -> None:
    with Engine(spares=1) as engine:
        engine.warm_up()
        assert until(lambda: engine.processes().spares)
        (spare,) = engine.processes().spares
        os.kill(spare, signal.SIGSTOP)
        result = run_code("export default 2", engine=engine).wait(30)
        assert result.error is not None
        assert (result.status, result.error.name) == ("error", "EngineError")
        assert run_code("export default 3", engine=engine).wait(30).result == 3


def test_a_run_that_computes_without_a_word_is_not_taken_for_stuck() -> None:
    run = run_code("for (;;);")
    time.sleep(1)  # longer than a silent worker is left alone
    assert run.running
    run.terminate()
    assert run.wait(30).status == "terminated"
