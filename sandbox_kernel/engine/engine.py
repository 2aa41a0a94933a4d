"""Engine: the worker pool with its limits as traits, configurable like anything in Jupyter."""

from __future__ import annotations

from typing import Any, Self

from traitlets import Bool, Int, validate
from traitlets.config import SingletonConfigurable

from .pool import WorkerPool


class Engine(SingletonConfigurable, WorkerPool):
    """Runs code in locked-down worker processes here; `Engine.instance()` is the default."""

    spares = Int(
        WorkerPool.spares,
        min=0,
        help="Workers kept ready, locked down and waiting for a job. A spare costs about 3 MB.",
    ).tag(config=True)
    concurrency = Int(
        WorkerPool.concurrency,
        min=1,
        help="Runs executing at the same time; more are queued in the order they came.",
    ).tag(config=True)
    default_memory_limit_bytes = Int(
        WorkerPool.default_memory_limit_bytes,
        min=1,
        help="Heap limit of a run that sets none, in bytes.",
    ).tag(config=True)
    cpu_seconds = Int(
        WorkerPool.cpu_seconds,
        min=1,
        help="Safety cap: processor time of one run in seconds, enforced by the kernel.",
    ).tag(config=True)
    output_bytes = Int(
        WorkerPool.output_bytes,
        min=1024,
        help="Safety cap: what all that one run sends may take in the host's memory, in bytes.",
    ).tag(config=True)
    calls_in_flight = Int(
        WorkerPool.calls_in_flight,
        min=1,
        help="Safety cap: asynchronous bridge calls of one run under way at once.",
    ).tag(config=True)
    message_bytes = Int(
        WorkerPool.message_bytes,
        min=1024,
        max=2**32 - 1,
        help="The largest single message taken from a worker.",
    ).tag(config=True)
    require_isolation = Bool(
        WorkerPool.require_isolation,
        help="Refuse to run without the system-call filter. On by default on Linux.",
    ).tag(config=True)

    @validate("message_bytes", "output_bytes")
    def _whole(self, proposal: Any) -> int:
        return int(proposal["value"])

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        WorkerPool.__init__(self)
        self.observe(lambda change: self.renew(), "cpu_seconds")

    @classmethod
    def instance(cls, *args: Any, **settings: Any) -> Self:
        """The default engine; what was started without one is taken over."""
        first = not cls.initialized()
        engine = super().instance(*args, **settings)
        if first:
            engine.take_over(WorkerPool.shared())
        return engine
