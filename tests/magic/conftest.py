"""One Python kernel with the extension loaded, for all of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.magic.client import PythonNotebook


@pytest.fixture(scope="package")
def kernel() -> Iterator[PythonNotebook]:
    notebook = PythonNotebook()
    try:
        notebook.run("%load_ext runcode").check()
        yield notebook
    finally:
        notebook.close()


@pytest.fixture
def notebook(kernel: PythonNotebook) -> PythonNotebook:
    """The kernel with nothing of another test in its namespace."""
    kernel.run(_FORGET).check()  # %reset would do, but takes a second
    return kernel


_FORGET = """
for _name in [name for name in globals() if not name.startswith("_")]:
    if _name not in ("In", "Out", "get_ipython", "exit", "quit", "open"):
        del globals()[_name]
"""
