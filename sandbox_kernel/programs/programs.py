"""Programs: a pool of places for programs with its settings as traits, configurable like Engine."""

from __future__ import annotations

import asyncio
from typing import Any, Self

from traitlets import Bool, Enum, Int, Unicode
from traitlets.config import SingletonConfigurable

from ..backend import ActiveRun
from ..configured import Configured
from ..sessions import Workspaces
from .active import Listener
from .contract import ProgramOptions
from .default import default_pool
from .levels import LEVELS
from .pool import Processes, ProgramPool
from .settings import STRONGEST, Settings

_DEFAULTS = Settings()


class Programs(Configured, SingletonConfigurable):
    """Runs programs in isolated processes here; `Programs.instance()` is the default."""

    serves = "run_program"

    spares = Int(
        _DEFAULTS.spares,
        min=0,
        help="Places kept ready: processes forked, locked down and waiting for a program.",
    ).tag(config=True)
    concurrency = Int(
        _DEFAULTS.concurrency,
        min=1,
        help="Programs executing at the same time; more are queued in the order they came.",
    ).tag(config=True)
    max_queued = Int(
        _DEFAULTS.max_queued, min=0, help="Programs that may wait; further ones are refused."
    ).tag(config=True)
    max_processes = Int(
        _DEFAULTS.max_processes, min=1, help="Processes and threads of one program."
    ).tag(config=True)
    open_files = Int(
        _DEFAULTS.open_files,
        min=16,
        help="Open files of one process of a program; all of them together may have eight times as many.",
    ).tag(config=True)
    cpu_seconds = Int(
        _DEFAULTS.cpu_seconds,
        min=1,
        help="Safety cap: processor seconds of one process, enforced by the operating system.",
    ).tag(config=True)
    directory_bytes = Int(
        _DEFAULTS.directory_bytes,
        min=2**16,
        help="Bytes that a program may have in its directory and its /tmp together.",
    ).tag(config=True)
    directory_files = Int(
        _DEFAULTS.directory_files, min=16, help="Files and folders there, likewise."
    ).tag(config=True)
    python = Unicode(
        _DEFAULTS.python,
        help="The interpreter of Python programs, of the host's own version; '' is the host's own.",
    ).tag(config=True)
    node = Unicode(
        _DEFAULTS.node,
        help="The Node.js of Node programs; '' is the one on PATH, or else in the wheel of [node].",
    ).tag(config=True)
    deno = Unicode(
        _DEFAULTS.deno,
        help="The Deno of Deno programs; '' is the one on PATH, or else in the wheel of [deno].",
    ).tag(config=True)
    isolation = Enum(
        (STRONGEST, *LEVELS),
        _DEFAULTS.isolation,
        help="The level of isolation: the strongest that works here, or one that has to.",
    ).tag(config=True)
    require_isolation = Bool(
        _DEFAULTS.require_isolation,
        help="Refuse to run programs that cannot be kept from the host's files. On by default on Linux.",
    ).tag(config=True)

    def __init__(self, *, pool: ProgramPool | None = None, **traits: Any) -> None:
        super().__init__(**traits)
        self._pool = pool or ProgramPool(self.settings)
        self._pool.configure(self.settings)
        self.observe(self._configure_pool, list(Settings._fields))

    @classmethod
    def instance(cls, *args: Any, **traits: Any) -> Self:
        """The default, which is what `run_program` uses when it is given none."""
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
        self, options: ProgramOptions, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveRun:
        """What `run_program` calls."""
        return self._pool.start(options, listener, loop)

    def warm_up(self) -> None:
        """Starts the zygote and its spares now rather than at the first program."""
        self._pool.warm_up()

    def close(self) -> None:
        """Ends every program and every process. Idempotent."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def workspaces(self) -> Workspaces:
        """Those of sessions for which the caller names none."""
        return self._pool.workspaces

    @workspaces.setter
    def workspaces(self, workspaces: Workspaces) -> None:
        self._pool.workspaces = workspaces

    @property
    def executing(self) -> int:
        """How many programs execute now."""
        return self._pool.executing

    @property
    def queued(self) -> int:
        """How many programs wait for one of those to end."""
        return self._pool.queued

    def processes(self) -> Processes:
        """The processes of this object; for diagnostics and tests."""
        return self._pool.processes()

    def doctor(self) -> dict[str, Any]:
        """The level of isolation, why a better one is not there and how to get it, and the runtimes.

        Starts what is needed to know it; IsolationError if programs cannot be isolated at all.
        """
        return self._pool.examine()
