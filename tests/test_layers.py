"""The import rule of docs/architecture.md: imports point down only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sandbox_kernel

ROOT = Path(sandbox_kernel.__file__).parent
# What each layer may know of ours, besides itself.
FOUNDATION = {"errors", "values", "specifiers", "jsonable"}
MAY_KNOW = {
    "values": set(),
    "errors": set(),
    "specifiers": set(),
    "jsonable": {"values"},
    "contract": FOUNDATION,
    "wire": FOUNDATION,
    "bridges": FOUNDATION | {"wire"},
    "worker": {"wire", "errors", "specifiers"},
    "engine": FOUNDATION | {"wire", "contract", "bridges", "loops"},
    "loops": {"errors"},
    "execution": FOUNDATION | {"engine", "contract", "loops"},
    "run": FOUNDATION | {"engine", "contract", "execution"},
    "selftest": FOUNDATION | {"engine", "run", "contract", "wire", "worker", "execution"},
    "notebook": FOUNDATION | {"run", "execution", "contract", "bridges", "engine"},
    "kernel": FOUNDATION
    | {"run", "execution", "contract", "bridges", "engine", "notebook", "selftest"},
}


def _layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    """Layers of ours that a file imports."""
    package = ("sandbox_kernel", *path.relative_to(ROOT).parts[:-1])
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            full = [*base, *(node.module.split(".") if node.module else ())]
            names = [full] if len(full) > 1 else [[*full, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        else:
            continue
        found |= {name[1] for name in names if name[0] == "sandbox_kernel" and len(name) > 1}
    return found - {"__version__"}


EXTENSION = ROOT.parent / "extension" / "runcode"


def test_the_extension_knows_what_the_kernel_knows_and_not_the_kernel() -> None:
    for path in EXTENSION.glob("*.py"):
        text = path.read_text("utf-8")
        assert "sandbox_kernel.kernel" not in text, path


FILES = sorted(p for p in ROOT.rglob("*.py") if _layer(p) in MAY_KNOW)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_what_its_layer_may_know(path: Path) -> None:
    layer = _layer(path)
    assert _imports(path) - {layer} <= MAY_KNOW[layer]


def test_every_part_of_the_package_has_a_layer() -> None:
    known = {*MAY_KNOW, "__init__", "__main__", "__pycache__"}
    assert {_layer(path) for path in ROOT.iterdir()} <= known | {"py.typed"}
