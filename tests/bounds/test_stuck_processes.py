"""A run always settles, also when the processes it needs are stopped."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from sandbox_kernel import Engine, run_code
from sandbox_kernel.engine import pool, zygote
from tests.waiting import until


@pytest.fixture
def little_patience() -> Iterator[pytest.MonkeyPatch]:
    """`undo` it before a run that has to wait for a new zygote."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "PATIENCE", 0.3)
        patch.setattr(zygote, "_QUIET_MILLISECONDS", 100)
        yield patch


def test_a_run_whose_zygote_is_stopped_ends_with_an_engine_error(
    little_patience: pytest.MonkeyPatch,
) -> None:
    with Engine(spares=0) as engine:
        little_patience.setattr(pool, "PATIENCE", 60)
        assert run_code("export default 1", engine=engine).wait(30).result == 1
        pid = engine.processes().zygote
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        little_patience.setattr(pool, "PATIENCE", 0.3)
        result = run_code("export default 2", engine=engine).wait(30)
        assert result.error is not None
        assert (result.status, result.error.name) == ("error", "EngineError")
        assert "none answered within 0.3 s" in result.error.message
        little_patience.undo()
        assert run_code("export default 3", engine=engine).wait(30).result == 3


def test_a_run_whose_worker_is_stopped_ends_with_an_engine_error(
    little_patience: pytest.MonkeyPatch,
) -> None:
    with Engine(spares=1) as engine:
        engine.warm_up()
        assert until(lambda: engine.processes().spares)
        (spare,) = engine.processes().spares
        os.kill(spare, signal.SIGSTOP)
        result = run_code("export default 2", engine=engine).wait(30)
        assert result.error is not None
        assert (result.status, result.error.name) == ("error", "EngineError")
        little_patience.undo()
        assert run_code("export default 3", engine=engine).wait(30).result == 3


@pytest.mark.usefixtures("little_patience")
def test_a_run_that_computes_without_a_word_is_not_taken_for_stuck() -> None:
    with Engine(spares=1) as engine:
        engine.warm_up()
        assert until(lambda: engine.processes().spares)
        run = run_code("for (;;);", engine=engine)
        time.sleep(1)  # during which a silent worker is looked at several times
        assert run.running
        run.terminate()
        assert run.wait(30).status == "terminated"
