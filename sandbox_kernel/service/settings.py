"""Every setting of the service, with its default and its unit, as traits."""

from __future__ import annotations

import os
from pathlib import Path

from traitlets import Bool, Float, Int, List, Unicode

from ..configured import Configured
from ..errors import OptionError
from .addresses import Address, address_of

HOME_OF_WORKSPACES = "/var/sandbox"  # seed 001's; used where it is there and can be written to
LONGEST_TIMEOUT_MS = 300_000
_WITHOUT_KEY = ("development", "dev", "local", "test")
_BODY_BYTES = 64 * 2**20


class Settings(Configured):
    """docs/service.md has the flag and the environment variables of each."""

    listen = Unicode(
        "127.0.0.1:9000", help="HOST:PORT, :PORT for all interfaces, or unix:PATH."
    ).tag(config=True)
    key = Unicode(
        "", help="What requests have to show. Empty: only for development on loopback."
    ).tag(config=True)
    environment = Unicode("production", help="development, dev, local and test need no key.").tag(
        config=True
    )
    workspaces_root = Unicode(
        "", help="Where workspaces lie. Empty: /var/sandbox if it is writable, else a private one."
    ).tag(config=True)
    session_ttl = Float(
        3600.0, help="Seconds after its last use in which a workspace is kept."
    ).tag(config=True)
    python = Unicode("", help="The interpreter of Python programs. Empty: the service's own.").tag(
        config=True
    )
    node = Unicode("", help="The Node.js of Node programs. Empty: the one on PATH.").tag(
        config=True
    )
    max_concurrent = Int(4, min=1, max=10_000, help="Executions at once; others get 503.").tag(
        config=True
    )
    max_output = Int(
        512 * 2**10, min=0, max=2**30, help="Bytes kept of stdout, and of stderr."
    ).tag(config=True)
    max_memory = Int(
        256 * 2**20, min=2**20, max=2**40, help="Bytes of one program, and the most of one run."
    ).tag(config=True)
    default_timeout_ms = Int(
        30_000, min=1, max=LONGEST_TIMEOUT_MS, help="If a request has none."
    ).tag(config=True)
    max_timeout_ms = Int(
        60_000, min=1, max=LONGEST_TIMEOUT_MS, help="Longer ones are clamped."
    ).tag(config=True)
    hosts = List(Unicode(), help="The names under which it may be addressed, beside loopback.").tag(
        config=True
    )
    callback_hosts = List(Unicode(), help="Hosts that tools may be called on.").tag(config=True)
    install_packages = Bool(False, help="Whether programs may install packages.").tag(config=True)
    log_code = Bool(False, help="Whether the log holds the code that is executed.").tag(config=True)
    grace = Float(20.0, min=0, help="Seconds that executions get to end after SIGTERM.").tag(
        config=True
    )
    max_body = Int(_BODY_BYTES, min=1024, max=2**30, help="Bytes of one request.").tag(config=True)
    read_timeout = Float(30.0, help="Seconds in which a request has to arrive, and be read.").tag(
        config=True
    )
    max_connections = Int(1_000, min=1, help="Connections at once; others are closed.").tag(
        config=True
    )

    @property
    def address(self) -> Address:
        return address_of(self.listen)

    def check(self) -> None:
        """OptionError if it must not be started like this."""
        address = self.address
        if self.key:
            return
        if self.environment.strip().lower() not in _WITHOUT_KEY:
            raise OptionError(
                "no key: set SANDBOX_EXECUTOR_SERVICE_API_KEY (or --key-file FILE) to what requests"
                " have to show; or, to develop on this machine without one, set SANDBOX_ENVIRONMENT"
                " (or --environment) to development, dev, local or test"
            )
        if not address.is_local:
            raise OptionError(
                f"without a key it listens on loopback only, and {self.listen} is reached from"
                " elsewhere: set SANDBOX_EXECUTOR_SERVICE_API_KEY, or listen on 127.0.0.1:PORT"
            )

    def root(self) -> str | None:
        """Of the workspaces; None for a private directory that goes with the process."""
        if self.workspaces_root:
            return self.workspaces_root
        home = Path(HOME_OF_WORKSPACES)
        return str(home) if home.is_dir() and os.access(home, os.W_OK | os.X_OK) else None
