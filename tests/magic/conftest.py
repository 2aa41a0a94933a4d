"""One Python kernel with the extension loaded, for all of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients import Client


@pytest.fixture(scope="package")
def kernel() -> Iterator[Client]:
    client = Client.start("python3")
    try:
        client.run("%load_ext runcode").check()
        yield client
    finally:
        client.close()


@pytest.fixture
def notebook(kernel: Client) -> Client:
    """The kernel with nothing of another test in its namespace."""
    kernel.run(_FORGET).check()  # %reset would do, but takes a second
    return kernel


_FORGET = """
for _name in [name for name in globals() if not name.startswith("_")]:
    if _name not in ("In", "Out", "get_ipython", "exit", "quit", "open"):
        del globals()[_name]
"""
