"""The wheel has every file of the package, and none besides."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

from tests.packaging.installed import ROOT, Distributions

PACKAGES = {"sandbox_kernel": ROOT / "sandbox_kernel", "runcode": ROOT / "extension" / "runcode"}
KERNELSPEC = "share/jupyter/kernels/sandbox"


def files_of(folder: Path, name: str) -> set[str]:
    """The files of a package as the wheel is to have them: no bytecode, nothing hidden."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {
        f"{name}/{path}"
        for path in found
        if "__pycache__" not in path.parts and not any(part[0] == "." for part in path.parts)
    }


def test_the_wheel_has_the_packages_and_the_kernelspec_and_nothing_else(
    distributions: Distributions,
) -> None:
    names = set(zipfile.ZipFile(distributions.wheel).namelist())
    own = {name for name in names if ".dist-info/" not in name and ".data/" not in name}
    data = {name.partition(".data/data/")[2] for name in names if ".data/" in name}
    assert own == {path for name, folder in PACKAGES.items() for path in files_of(folder, name)}
    assert data == files_of(ROOT / "kernelspec", KERNELSPEC)


def test_both_packages_say_that_they_are_typed(distributions: Distributions) -> None:
    names = zipfile.ZipFile(distributions.wheel).namelist()
    assert {f"{name}/py.typed" for name in PACKAGES} <= set(names)


def test_the_sdist_builds_the_wheel_that_the_tree_builds(distributions: Distributions) -> None:
    assert distributions.wheel.read_bytes() == distributions.wheel_of_the_tree.read_bytes()


def test_the_sdist_has_what_a_distributor_needs(distributions: Distributions) -> None:
    with tarfile.open(distributions.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/conftest.py"}
    assert needed <= names
    assert not {name for name in names if "node_modules" in name or name.endswith(".pyc")}
