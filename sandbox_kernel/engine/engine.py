"""Engine: a worker pool with its settings as traits, configurable like anything in Jupyter."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from traitlets import Bool, Float, Int
from traitlets.config import SingletonConfigurable

from ..backend import ActiveCode, Lent, Listener
from ..configured import Configured
from ..wire.order import Order
from .default import default_pool
from .doctor import examine
from .pool import Processes, WorkerPool
from .settings import Settings

if TYPE_CHECKING:
    from ..execution import CodeExecution

_DEFAULTS = Settings()


class Engine(Configured, SingletonConfigurable):
    """Runs code in locked-down worker processes here; `Engine.instance()` is the default."""

    serves = "run_code"

    spares = Int(
        _DEFAULTS.spares,
        min=0,
        help="Workers kept ready, locked down and waiting for a run. A spare costs about 3 MB.",
    ).tag(config=True)
    concurrency = Int(
        _DEFAULTS.concurrency,
        min=1,
        help="Runs executing at the same time; more are queued in the order they came.",
    ).tag(config=True)
    max_queued = Int(
        _DEFAULTS.max_queued,
        min=0,
        help="Runs that may wait for a place; beyond it run_code raises EngineBusyError. 0: none.",
    ).tag(config=True)
    queue_seconds = Float(
        _DEFAULTS.queue_seconds,
        min=0,
        help="Seconds that a run may wait for a place; then it is terminated. 0: no bound.",
    ).tag(config=True)
    default_memory_limit_bytes = Int(
        _DEFAULTS.default_memory_limit_bytes,
        min=1,
        help="Heap limit in bytes of a run that sets none.",
    ).tag(config=True)
    cpu_seconds = Int(
        _DEFAULTS.cpu_seconds,
        min=1,
        help="Safety cap: processor seconds of one run, enforced by the operating system.",
    ).tag(config=True)
    output_bytes = Int(
        _DEFAULTS.output_bytes,
        min=1024,
        help="Safety cap: bytes of host memory that one run's messages may occupy.",
    ).tag(config=True)
    calls_in_flight = Int(
        _DEFAULTS.calls_in_flight,
        min=1,
        help="Safety cap: asynchronous bridge calls of one run under way at once.",
    ).tag(config=True)
    message_bytes = Int(
        _DEFAULTS.message_bytes,
        min=1024,
        max=2**32 - 1,
        help="The largest single message taken from a worker, in bytes.",
    ).tag(config=True)
    require_isolation = Bool(
        _DEFAULTS.require_isolation,
        help="Refuse to run without the system-call filter. On by default on Linux.",
    ).tag(config=True)

    def __init__(self, *, pool: WorkerPool | None = None, **traits: Any) -> None:
        super().__init__(**traits)
        self._pool = pool or WorkerPool(self.settings)
        self._pool.configure(self.settings)
        self.observe(self._configure_pool, list(Settings._fields))

    @classmethod
    def instance(cls, *args: Any, **traits: Any) -> Self:
        """The default engine, which is what `run_code` uses when it is given none."""
        if not cls.initialized():
            traits["pool"] = default_pool(replace_closed=True)
        return super().instance(*args, **traits)

    @property
    def settings(self) -> Settings:
        """The traits as plain data."""
        return Settings(*(getattr(self, name) for name in Settings._fields))

    def _configure_pool(self, _change: Any) -> None:
        self._pool.configure(self.settings)

    def start(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveCode:
        """What `run_code` calls."""
        return self._pool.start(order, lent, listener, loop)

    def runs(self) -> list[CodeExecution]:
        """The handles of all runs that execute or wait in the queue, oldest first."""
        return self._pool.runs()

    def terminate_all(self, reason: str | None = None) -> None:
        """Terminates all of these; runs that are started from now on are not affected."""
        self._pool.terminate_all(reason)

    def warm_up(self) -> None:
        """Starts the zygote and its spares, as many as are wanted, now rather than at a run."""
        self._pool.warm_up()

    def close(self) -> None:
        """Ends every run and every process; leaves no zombie and no descriptor. Idempotent."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def executing(self) -> int:
        """How many runs execute now."""
        return self._pool.executing

    @property
    def queued(self) -> int:
        """How many runs wait for one of those to end."""
        return self._pool.queued

    def processes(self) -> Processes:
        """The engine's own processes; for diagnostics and tests."""
        return self._pool.processes()

    def doctor(self) -> dict[str, Any]:
        """What this engine is made of and how far it isolates."""
        return examine(self.settings)
