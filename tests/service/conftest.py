from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.contract.serving import KEY, Service, serving
from tests.contract.wheels import npm_registry
from tests.service.talking import LARGE_OUTPUT, Small


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """One process for all of them; who fills it, or kills it, starts another.

    Nobody reads its log, which is more than a pipe holds: that does not stop it either.
    """
    flags = ["--max-concurrent", "8", "--read-timeout", "2s", "--max-body", "1MiB"]
    with serving(*flags, SANDBOX_MAX_OUTPUT=str(LARGE_OUTPUT)) as found:
        yield found


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Small]:
    folder = tmp_path_factory.mktemp("small")
    (folder / "key").write_text(f"{KEY}\n")
    flags = ["--max-concurrent", "1", "--max-connections", "20", "--session-ttl", "1s"]
    flags += ["--callback-host", socket.gethostname(), "--workspaces", str(folder / "root")]
    flags += ["--key-file", str(folder / "key"), "--install-packages"]
    (folder / "wheels").mkdir()
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder / "wheels")}
    script = f"touch {folder / 'script-ran'}"
    with (
        npm_registry("tinypackage", "module.exports = 42;", script) as registry,
        serving(
            *flags,
            SANDBOX_EXECUTOR_SERVICE_API_KEY="",
            npm_config_registry=registry,
            npm_config_cache=str(folder / "npm"),
            **pip,
        ) as service,
    ):
        yield Small(service, socket.gethostname(), folder / "root", 20, folder / "wheels", registry)
