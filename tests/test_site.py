"""The documents as a site: pages made from the code are up to date, and no link is dead."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "docs" / "site"


@pytest.fixture(scope="module")
def reference() -> Any:
    spec = importlib.util.spec_from_file_location("reference", SITE / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_pages_are_those_that_the_code_makes_now(reference: Any) -> None:
    """If this fails: `python docs/site/reference.py`."""
    pages = reference.pages()
    assert {path.name for path in reference.FOLDER.glob("*.md")} == set(pages)
    for name, text in pages.items():
        assert (reference.FOLDER / name).read_text("utf-8") == text, name


def test_the_page_of_names_has_every_package_with_public_names(reference: Any) -> None:
    import sandbox_kernel

    folder = Path(sandbox_kernel.__file__).parent
    own = {path.parent.name for path in folder.glob("*/__init__.py") if _has_all(path)}
    internal = {"engine", "programs", "kernel", "cli", "notebook", "wire", "worker", "isolation"}
    assert own - internal - {"explain", "plain", "many"} == set(reference.PACKAGES) - {""}


def _has_all(path: Path) -> bool:
    return "__all__" in path.read_text("utf-8")


def test_every_public_name_says_in_a_line_what_it_is(reference: Any) -> None:
    listed = [line for line in reference.pages()["names.md"].splitlines() if line.startswith("- `")]
    assert len(listed) > 100
    assert [line for line in listed if line.rstrip().endswith("`:")] == []


def test_the_site_is_built_without_a_warning_so_no_link_is_dead(tmp_path: Path) -> None:
    """`dummy` reads every page and follows every link, and writes nothing."""
    build("dummy", tmp_path)


def build(builder: str, folder: Path) -> None:
    """Builds it into the folder; a warning is an error."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder]
    command += ["-c", str(SITE), "-d", str(folder / "trees"), str(ROOT), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
