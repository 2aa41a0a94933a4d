"""The option grammar that the kernel and the IPython magic share."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel.errors import OptionError
from sandbox_kernel.notebook.options.grammar import CellOptions, Source, parse_options
from sandbox_kernel.notebook.options.help import complete_options, options_help


def test_every_option_is_read() -> None:
    line = (
        '--fn scan --args [1, "a b"] --import fs --import cfg={"a": 1} --global rows=[1, 2]'
        " --module ./m.ts=@m.ts --language javascript --memory 64MiB --filename f.js"
        " --deadline 500ms --no-widget"
    )
    options = parse_options(line, "kernel")
    assert options.fn == "scan"
    assert options.args == (1, "a b")
    assert options.imports == {
        "fs": Source("import", "fs", None),
        "cfg": Source("import", "cfg", '{"a": 1}'),
    }
    assert options.globals == {"rows": Source("global", "rows", "[1, 2]")}
    assert options.modules == {"./m.ts": Source("module", "./m.ts", "@m.ts")}
    assert (options.language, options.memory, options.filename) == ("javascript", 2**26, "f.js")
    assert options.deadline is not None
    assert (options.deadline.seconds, options.deadline.reason) == (0.5, "500ms budget")
    assert options.no_widget


def test_an_empty_line_gives_nothing() -> None:
    assert parse_options("  ", "kernel") == CellOptions()


@pytest.mark.parametrize(
    ("line", "attribute", "value"),
    [
        ("--args '[1, 2]'", "args", (1, 2)),
        ('--args="[]"', "args", ()),
        ('--filename "my file.ts"', "filename", "my file.ts"),
        ("--memory 1.5k", "memory", 1536),
        ("--memory 64MB", "memory", 64_000_000),
        ("--memory 1GiB", "memory", 2**30),
        ("--memory 4096", "memory", 4096),
        ("--fn=f", "fn", "f"),
    ],
)
def test_values_may_be_quoted_joined_and_abbreviated(
    line: str, attribute: str, value: object
) -> None:
    assert getattr(parse_options(line, "kernel"), attribute) == value


@pytest.mark.parametrize(
    ("text", "seconds", "reason"),
    [("2s", 2, "2s budget"), ("2", 2, "2s budget"), ("1.5m", 90, "1.5m budget")],
)
def test_a_deadline_names_its_budget(text: str, seconds: float, reason: str) -> None:
    deadline = parse_options(f"--deadline {text}", "kernel").deadline
    assert deadline is not None
    assert (deadline.seconds, deadline.reason) == (seconds, reason)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--memroy 1", "unknown option --memroy; did you mean --memory?"),
        ("--zzz", "unknown option --zzz; known: --fn"),
        ("fn", "'fn' is not an option"),
        ("--fn", "--fn needs a value: --fn NAME"),
        ("--fn --args []", "--fn needs a value"),
        ("--fn a --fn b", "--fn was given twice"),
        ("--global a=1 --global a=2", "--global a was given twice"),
        ("--global =1", "--global =1 has no name; write NAME=SOURCE"),
        ("--global a=", "--global a= has no source; write NAME=SOURCE"),
        ("--args {", "never closed"),
        ("--args x", "is not JSON"),
        ("--args 1", "--args 1 is not a JSON array; write --args [1]"),
        ("--memory lots", "is not a size"),
        ("--memory 0", "--memory 0 is zero; write a size like 64MiB"),
        ("--deadline soon", "--deadline soon is not a time; write it like 2s"),
        ("--deadline 0", "--deadline 0 is zero; write a time like 2s"),
        ("--language rust", "unknown"),
        ("--no-widget=1", "--no-widget takes no value; write just --no-widget"),
        ("--filename 'x", "never closed"),
        ("--into x", "--into is for the IPython magic %%runcode, not for this kernel"),
    ],
)
def test_what_is_wrong_is_named(line: str, says: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_options(line, "kernel")
    assert says in str(caught.value)


def test_the_magic_has_three_options_more() -> None:
    options = parse_options("--into result --background --raw", "magic")
    assert (options.into, options.background, options.raw) == ("result", True, True)
    with pytest.raises(OptionError, match="not a Python name"):
        parse_options("--into a-b", "magic")


def test_a_cells_options_lie_over_the_defaults() -> None:
    defaults = parse_options("--global a=1 --global b=2 --memory 1MiB --deadline 1s", "kernel")
    merged = parse_options("--global b=3 --memory 2MiB", "kernel").over(defaults)
    assert {name: source.text for name, source in merged.globals.items()} == {"a": "1", "b": "3"}
    assert merged.memory == 2**21
    assert merged.deadline == defaults.deadline


def test_sources_are_resolved_by_whoever_runs_the_cell() -> None:
    seen: list[Source] = []

    def resolve(source: Source) -> Any:
        seen.append(source)
        return {"resolved": source.text}

    options = parse_options("--import fs=x --global g --fn f --args [1]", "kernel")
    assert options.run_options(resolve) == {
        "imports": {"fs": {"resolved": "x"}},
        "globals": {"g": {"resolved": None}},
        "modules": {},
        "execute": {"fn": "f", "args": [1]},
    }
    assert [source.name for source in seen] == ["fs", "g"]


def test_python_expressions_stay_whole() -> None:
    line = "--global rows=df.to_dict('records') --import t={\"f\": lambda x: x + 1}"
    options = parse_options(line, "magic")
    assert options.globals["rows"].text == "df.to_dict('records')"
    assert options.imports["t"].text == '{"f": lambda x: x + 1}'


def names(option: Any, typed: str) -> list[str]:
    return ["fs", "tools"] if option.name == "import" else []


@pytest.mark.parametrize(
    ("line", "start", "some"),
    [
        ("", 0, "--fn"),
        ("--me", 0, "--memory"),
        ("--fn x --de", 7, "--deadline"),
        ("--language ", 11, "typescript"),
        ("--language=ja", 11, "javascript"),
        ("--import f", 9, "fs"),
        ("--import x=to", 11, "tools"),
    ],
)
def test_options_and_their_values_complete(line: str, start: int, some: str) -> None:
    at, matches = complete_options(line, "kernel", names)
    assert at == start
    assert some in matches


def test_an_option_that_was_used_up_is_not_offered_again() -> None:
    _, matches = complete_options("--fn x --import y --", "kernel", names)
    assert "--fn" not in matches
    assert "--import" in matches


def test_help_lists_every_option_of_a_face() -> None:
    assert "--into" not in options_help("kernel")
    assert "--into NAME" in options_help("magic")
