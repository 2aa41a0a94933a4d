"""The import rule of docs/architecture.md: imports point down only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sandbox_kernel

ROOT = Path(sandbox_kernel.__file__).parent
EXTENSION = ROOT.parent / "extension" / "runcode"

# What each part of the package may know of the others. Parts that are still to come are here too,
# so that the first of their files already has its place.
DATA = {
    "budget",
    "brief",
    "clean",
    "width",
    "errors",
    "values",
    "specifiers",
    "jsonable",
    "jsonpieces",
    "sizes",
    "pictures",
    "spelling",
    "explain",
    "calls",
    "loans",
    "annotations",
    "schemas",
}
SEAM = DATA | {
    "contract",
    "options",
    "plain",
    "wire",
    "bridges",
    "exports",
    "backend",
    "loops",
    "lifetimes",
    "clock",
}
RUNS = SEAM | {"lending", "transcript", "execution", "opened", "engine", "many", "run"}
LENT = {"permissions", "capabilities", "sessions", "programs"}
TOP = {"tools", "agents", "mcp", "service", "cluster", "notebook", "kernel", "cli"}
MAY_KNOW: dict[str, set[str]] = {
    "budget": set(),
    "clean": set(),
    "width": set(),
    "brief": {"budget"},
    "errors": set(),
    "explain": {"budget", "clean", "width", "spelling"},
    "values": {"brief"},
    "calls": {"brief", "budget"},
    "loans": set(),
    "annotations": {"errors", "schemas"},
    "schemas": {"brief"},
    "specifiers": set(),
    "sizes": set(),
    "pictures": set(),
    "folders": {"isolation", "spelling"},
    "npm": {"errors", "folders"},
    "configured": {"errors", "spelling"},
    "spelling": set(),
    "replies": set(),
    "jsonable": {"budget", "values"},
    "jsonpieces": {"jsonable"},
    "contract": DATA,
    "options": DATA,
    "plain": DATA,
    "wire": DATA | {"plain"},
    "bridges": DATA | {"wire"},
    "exports": DATA | {"plain", "wire", "bridges"},
    "backend": DATA | {"contract", "wire", "bridges"},
    "loops": {"errors"},
    "lifetimes": set(),
    "clock": set(),
    "lending": SEAM,
    "dataframe": DATA | {"contract"},
    "transcript": SEAM,
    "execution": SEAM | {"transcript"},
    "opened": SEAM | {"transcript", "execution"},
    "isolation": {"errors"},
    "worker": {"wire", "errors", "specifiers", "isolation"},
    "engine": SEAM | {"isolation", "execution", "configured"},  # whose handles it lists
    "permissions": SEAM,
    "http_client": set(),
    "capabilities": SEAM | {"isolation", "permissions", "http_client"},
    "sessions": DATA | {"isolation"},
    "programs": SEAM
    | {"transcript", "execution", "isolation", "permissions", "capabilities", "sessions"}
    | {"configured"}
    | {"lending", "engine"},  # JavaScript programs are modules on the engine
    "many": (RUNS - {"many", "run"}),
    "run": (RUNS - {"run"}) | LENT,
    "selftest": RUNS | {"worker", "isolation", "programs"},
    "tools": RUNS | LENT | {"http_client"},
    "agents": RUNS | LENT | {"tools", "http_client"},
    "cluster": RUNS | LENT,
    "service": RUNS | LENT | {"tools", "configured", "isolation", "http_client"},
    "mcp": RUNS | LENT | {"tools", "service"},
    "notebook": RUNS | LENT | {"tools", "agents", "mcp", "cluster", "folders"},
    "kernel": RUNS | LENT | {"tools", "agents", "mcp", "cluster", "notebook", "selftest"},
    "cli": RUNS | LENT | (TOP - {"cli"}) | {"selftest", "folders", "npm", "isolation"},
}
# The families of notebook/, by the same rule.
NOTEBOOK_MAY_KNOW: dict[str, set[str]] = {
    "interrupts": set(),
    "earlier": set(),
    "options": set(),
    "assist": set(),
    "show": {"options", "assist"},
    "view": {"show"},
    "ask": set(),
    "colours": set(),
    "modules": {"options", "show"},
    "runs": set(),
    "servers": {"ask"},
    "stopping": {"interrupts"},
    "programcell": {"options", "show", "view", "ask", "interrupts", "stopping"},
    "agentcell": {"options", "show", "view", "ask", "interrupts", "stopping"},
    "cellrun": {"options", "show", "view", "ask", "interrupts", "stopping", "earlier"},
}


def _part(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _imports(path: Path) -> set[tuple[str, ...]]:
    """Modules of ours that a file imports, as paths below the package."""
    package = ("sandbox_kernel", *path.relative_to(ROOT).parts[:-1])
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            full = (*base, *(node.module.split(".") if node.module else ()))
            found |= {(*full, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {tuple(alias.name.split(".")) for alias in node.names}
    return {name[1:] for name in found if name[0] == "sandbox_kernel" and len(name) > 1}


FILES = sorted(p for p in ROOT.rglob("*.py") if _part(p) in MAY_KNOW)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_what_its_part_may_know(path: Path) -> None:
    part = _part(path)
    known = {name[0] for name in _imports(path)} - {part, "__version__"}
    assert known <= MAY_KNOW[part]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "notebook").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_families_of_the_notebook_keep_their_order(path: Path) -> None:
    family = path.relative_to(ROOT).parts[1].removesuffix(".py")
    known = {name[1] for name in _imports(path) if name[0] == "notebook"} - {family}
    assert known <= NOTEBOOK_MAY_KNOW.get(family, set())


def test_every_part_of_the_package_has_its_place() -> None:
    others = {"__init__", "__main__", "__pycache__", "py.typed"}
    assert {_part(path) for path in ROOT.iterdir()} <= {*MAY_KNOW, *others}


def test_the_rule_itself_has_no_circle() -> None:
    below = dict(MAY_KNOW)
    while below:
        free = {part for part, known in below.items() if not known & set(below)}
        assert free, f"these know each other: {sorted(below)}"
        below = {part: known for part, known in below.items() if part not in free}


def test_nothing_below_knows_what_stands_on_top() -> None:
    assert {part for part, known in MAY_KNOW.items() if known & TOP} <= TOP


def test_the_engine_never_knows_programs() -> None:
    assert not MAY_KNOW["engine"] & LENT


def test_the_extension_does_not_know_the_kernel() -> None:
    for path in EXTENSION.glob("*.py"):
        assert "sandbox_kernel.kernel" not in path.read_text("utf-8"), path


# Who may start a process. Whoever needs another kind of process goes through one of these.
STARTS_PROCESSES = {
    "engine/spawn.py",  # the zygote
    "worker/__main__.py",  # its workers
    "worker/prefault.py",  # its rehearsal
    "programs/spawn.py",  # the guardian and the zygote of programs
    "programs/binaries.py",  # asks Node.js and Deno once what they are
    "programs/installers.py",  # pip and npm, for programs that may install
    "programs/inside/zygote.py",  # their supervisors
    "programs/inside/supervisor.py",  # and the guests of those
    "programs/inside/prelude.py",  # starts none, and says so to whoever tries
    "selftest.py",
    "kernel/doctor.py",
}


def test_only_these_files_start_processes() -> None:
    starters = {"fork", "forkpty", "posix_spawn", "posix_spawnp", "Popen", "execv"}
    modules = {"subprocess", "multiprocessing", "pty"}
    found = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = isinstance(node, ast.Attribute) and node.attr in starters
            imported = isinstance(node, ast.Import) and {a.name for a in node.names} & modules
            if called or imported:
                found.add(str(path.relative_to(ROOT)))
    assert found == STARTS_PROCESSES
