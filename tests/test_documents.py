"""The documents say what is so: examples run, named things exist, nothing public goes undescribed."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import dataclasses
import inspect
import io
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jupyter_client.manager import KernelManager

import sandbox_kernel
from sandbox_kernel import errors
from sandbox_kernel.contract import STATUSES
from sandbox_kernel.notebook.options.grammar import OPTIONS
from sandbox_kernel.options import CodeExecutionOptions
from tests.scenery import has_npm, scenery

ROOT = Path(__file__).resolve().parent.parent
_FOLDERS = ("", "docs", "docs/tasks", "docs/examples", "docs/reference")
PAGES = [page for folder in _FOLDERS for page in sorted((ROOT / folder).glob("*.md"))]

_FENCE = re.compile(r"^```(\w+)?([^\n]*)\n(.*?)^```$", re.S | re.M)


class Block(NamedTuple):
    """A fenced block: its language, what else the fence says, its text, its line, where it runs."""

    language: str
    note: str
    text: str
    line: int
    runs_in: str  # `python`, the kernels `sandbox` and `python3`, or nowhere
    section: int = 0  # of recipes, each of which stands alone


def runs_in(language: str, text: str, in_ipython: bool) -> str:
    """On a page that loads the magic every block without another language is a cell of IPython."""
    first = text.lstrip().split("\n")[0]
    if language == "ts" or first.startswith(("%%bridge", "%%module")):
        return "sandbox"
    if in_ipython and language in ("", "python"):
        return "python3"
    return language if language == "python" else ""


# Examples with large numbers run as they stand in `make soak`, and with these otherwise.
SMALLER = {
    "recipes.md": {
        "range(2_000)": "range(200)",
        "#> 2000 3996001": "#> 200 39601",
        "range(50)": "range(10)",
        "#> [40, 10]": "#> [8, 2]",
        "range(10_000)": "range(1_000)",
        "#> total 24997.5": "#> total 2497.5",
    },
    "many.md": {"range(1_000)": "range(100)", "#> 1248750.0": "#> 12375.0"},
}


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    for large, small in SMALLER.get(page.name, {}).items():
        assert large in text, large
        text = text if "SANDBOX_SOAK_SECONDS" in os.environ else text.replace(large, small)
    magical = "\n%load_ext runcode" in text
    found = []
    for each in _FENCE.finditer(text):
        line = text[: each.start()].count("\n") + 1
        language = each[1] or ""
        place = runs_in(language, each[3], magical)
        section = text[: each.start()].count("\n### ") if page.name == "recipes.md" else 0
        found.append(Block(language, each[2].strip(), each[3], line, place, section))
    return found


def pages_with(kind: str) -> list[Path]:
    return [page for page in PAGES if any(block.runs_in == kind for block in blocks(page))]


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


# ---------------------------------------------------------------------------- examples run


@pytest.mark.scaled
@pytest.mark.parametrize("page", pages_with("python"), ids=names)
def test_the_python_examples_of_a_page_run_and_print_what_they_say(
    page: Path, tmp_path: Path
) -> None:
    found = [block for block in blocks(page) if block.runs_in == "python"]
    with scenery(page.name, tmp_path) as given, asyncio.Runner() as runner:
        namespace = dict(given)
        for block in found:
            if block.note == "npm" and not has_npm():
                continue
            if namespace.get("section") != block.section:  # a recipe needs no other read first
                namespace = {**given, "section": block.section}
            printed = io.StringIO()
            source = "\n" * block.line + block.text
            code = compile(source, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            with contextlib.redirect_stdout(printed):
                awaited = eval(code, namespace)  # a coroutine if the block awaits at its top
                if awaited is not None:
                    runner.run(awaited)
            expected = re.findall(r"^#> ?(.*)$", block.text, re.M)
            assert printed.getvalue().splitlines() == expected, f"{page.name}:{block.line}"


@pytest.mark.parametrize(
    ("page", "kernel"),
    [(page, kernel) for kernel in ("sandbox", "python3") for page in pages_with(kernel)],
    ids=lambda value: value if isinstance(value, str) else names(value),
)
def test_the_cells_of_a_page_run_in_one_notebook(page: Path, kernel: str) -> None:
    with _client(kernel) as client:
        for block in blocks(page):
            if block.runs_in != kernel:
                continue
            reply = client.execute_interactive(
                block.text, timeout=60, output_hook=lambda _: None, stop_on_error=False
            )["content"]
            wanted = "error" if "error" in block.note else "ok"
            problem = "\n".join(reply.get("traceback", []))
            assert reply["status"] == wanted, f"{page.name}:{block.line}\n{problem}"


@contextlib.contextmanager
def _client(kernel: str) -> Iterator[Any]:
    manager = KernelManager(kernel_name=kernel)
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=False)


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_block_of_a_page_is_of_a_kind_that_we_know(page: Path) -> None:
    known = {"", "python", "ts", "text", "sh", "json"}
    assert not [block for block in blocks(page) if block.language not in known]


# ---------------------------------------------------------------------------- named things exist


def prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_the_links_and_pictures_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        found = page.parent / path if path else page
        assert found.exists(), target
        if anchor and found.suffix == ".md":
            assert anchor in _anchors(found), target


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


_TOP = {path.name for path in ROOT.iterdir()}


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_the_paths_that_a_page_names_exist(page: Path) -> None:
    for quoted in re.findall(r"`([\w./-]+)`", prose(page)):
        first = quoted.split("/")[0]
        if "/" in quoted and first in _TOP and not first.startswith("."):
            assert (ROOT / quoted).exists(), quoted


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_the_commands_that_a_page_names_are_there(page: Path) -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for verb in re.findall(r"(?:^|`)make (\w+)", page.read_text("utf-8"), re.M):
        assert verb in targets, f"make {verb}"


def test_every_document_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page.is_dir():
            waiting += page.glob("*.md")
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = re.findall(r"\]\(([^)\s#]+)", prose(page))
        waiting += [page.parent / target for target in targets if "://" not in target]
    assert {names(page) for page in PAGES if page.resolve() not in reached} == set()


# ---------------------------------------------------------------------------- nothing is left out


def document(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(CodeExecutionOptions)])
def test_every_option_of_run_code_has_its_row(name: str) -> None:
    assert f"| `{name}` |" in document("api.md")


@pytest.mark.parametrize("name", sandbox_kernel.__all__)
def test_every_public_name_is_mentioned(name: str) -> None:
    assert re.search(rf"`(?:sandbox_kernel\.)?{name}[`(]", document("api.md"))


@pytest.mark.parametrize("name", sandbox_kernel.CodeExecutionResult.__dataclass_fields__)
def test_every_field_of_a_result_has_its_row(name: str) -> None:
    assert f"| `{name}` |" in document("api.md")


@pytest.mark.parametrize("name", sandbox_kernel.CodeExecutionError.__dataclass_fields__)
def test_every_field_of_an_error_is_described(name: str) -> None:
    assert f"`{name}`" in document("errors.md")


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_its_row(status: str) -> None:
    assert f"| `{status}` |" in document("errors.md")


def test_the_tree_of_exceptions_is_the_one_in_the_code() -> None:
    tree = (errors.__doc__ or "").split("\n\n")[1].strip()
    assert tree in document("errors.md")


@pytest.mark.parametrize("name", sandbox_kernel.Engine.class_trait_names(config=True))
def test_every_trait_of_the_engine_has_its_row(name: str) -> None:
    if name not in ("log", "parent"):
        assert f"| `{name}` |" in document("configuration.md")


@pytest.mark.parametrize("name", sandbox_kernel.Programs.class_trait_names(config=True))
def test_every_trait_of_programs_has_its_row(name: str) -> None:
    if name not in ("log", "parent"):
        assert f"| `{name}` |" in document("configuration.md").partition("## Programs")[2]


@pytest.mark.parametrize("name", sandbox_kernel.ProgramResult.__dataclass_fields__)
def test_every_field_of_a_programs_result_is_described(name: str) -> None:
    assert f"`{name}`" in document("programs.md").partition("## The result")[2]


PROGRAM_OPTIONS = [*inspect.signature(sandbox_kernel.run_program).parameters][1:-1]


@pytest.mark.parametrize("name", PROGRAM_OPTIONS)
def test_every_option_of_run_program_is_described(name: str) -> None:
    assert f"`{name}`" in document("programs.md").partition("## Options")[2]


@pytest.mark.parametrize("option", [each.name for each in OPTIONS])
def test_every_option_of_the_magics_is_described(option: str) -> None:
    assert f"`--{option}" in document("magics.md")


def _rows(section: str) -> list[list[str]]:
    """The cells of the tables below a title of docs/dependencies.md, without their heads."""
    text = document("dependencies.md").partition(f"## {section}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")]
    return rows[1:]


def _explained() -> dict[str, set[str]]:
    """The packages of docs/dependencies.md, by extra; those needed to run are under ''."""
    found = {"": {name for row in _rows("What is needed to run") for name in _quoted(row[0])}}
    extra = ""
    for first, packages, _ in _rows("Extras"):
        extra = next(iter(_quoted(first)), extra)
        found.setdefault(extra, set()).update(_quoted(packages))
    return found


def _quoted(text: str) -> list[str]:
    return re.findall(r"`([\w-]+)`", text)


def declared() -> dict[str, set[str]]:
    """The packages of pyproject.toml in the same form."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = {"": project["dependencies"], **project["optional-dependencies"]}
    return {
        extra: {re.split(r"[<>=!~\[ ;]", each)[0] for each in packages} - {project["name"]}
        for extra, packages in listed.items()
    }


def test_the_dependencies_with_a_reason_are_those_that_are_declared() -> None:
    assert _explained() == declared()


def test_every_part_of_the_package_is_in_the_tree_of_the_architecture() -> None:
    tree = document("architecture.md").partition("```text\n")[2].partition("```")[0]
    drawn = set(re.findall(r"[a-z_]+", tree))
    folder = Path(sandbox_kernel.__file__).parent
    parts = {path.stem for path in folder.iterdir() if path.suffix in ("", ".py")}
    assert {part for part in parts if not part.startswith("__")} - drawn == set()


def test_every_verb_has_a_rule_its_line_of_help_and_its_line_in_contributing() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
    assert phony is not None
    verbs = set(phony[1].split()) - {"system"}  # a part of others
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert verbs == set(re.findall(r"^(\w+):.* ## ", makefile, re.M))
    assert verbs == set(re.findall(r"make (\w+)\b", contributing))


def test_make_lab_opens_a_notebook_that_exists() -> None:
    first = re.search(r"^FIRST_NOTEBOOK := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert first is not None
    assert (ROOT / first[1]).exists()


# ---------------------------------------------------------------------------- where the reader is


def _needs_a_loop(text: str) -> bool:
    """Whether it awaits at its top, as a cell of a notebook may."""
    try:
        compile(text, "README.md", "exec")
    except SyntaxError:
        return True
    return False


def _readme(*, in_notebook: bool) -> list[Block]:
    found = [block for block in blocks(ROOT / "README.md") if block.runs_in == "python"]
    return [block for block in found if _needs_a_loop(block.text) == in_notebook]


def test_the_readme_has_an_example_for_a_script_and_one_for_a_notebook() -> None:
    assert _readme(in_notebook=False)
    assert _readme(in_notebook=True)


@pytest.mark.parametrize(
    "block", _readme(in_notebook=False), ids=lambda block: f"line {block.line}"
)
def test_an_example_of_the_readme_for_scripts_is_one(block: Block, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(block.text)
    command = [sys.executable, str(tmp_path / "example.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == re.findall(r"^#> ?(.*)$", block.text, re.M)


def test_the_examples_of_the_readme_for_notebooks_run_in_one() -> None:
    with _client("python3") as client:
        for block in _readme(in_notebook=True):
            printed: list[str] = []

            def hook(message: dict[str, Any], printed: list[str] = printed) -> None:
                if message["msg_type"] == "stream":
                    printed.append(message["content"]["text"])

            reply = client.execute_interactive(block.text, timeout=60, output_hook=hook)["content"]
            assert reply["status"] == "ok", reply
            expected = re.findall(r"^#> ?(.*)$", block.text, re.M)
            assert "".join(printed).splitlines() == expected
