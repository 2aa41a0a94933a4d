"""Whatever a guest makes, every rendering of it ends, is short, clean, and never fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings

from sandbox_kernel.budget import CHARACTERS, WORK, Budget, hard_limit
from sandbox_kernel.clean import is_clean
from sandbox_kernel.contract import CodeExecutionError, CodeExecutionLog, CodeExecutionResult
from sandbox_kernel.explain.scene import Scene
from sandbox_kernel.jsonable import to_jsonable
from sandbox_kernel.notebook.show.outline import outline
from sandbox_kernel.notebook.show.output import MAX_TEXT, console_line, show
from sandbox_kernel.notebook.show.render import MAX_NAME
from sandbox_kernel.notebook.show.result import result_bundle
from sandbox_kernel.notebook.show.table import records_table
from sandbox_kernel.notebook.show.traceback import traceback_of
from sandbox_kernel.notebook.view.still import LISTED, LISTED_TEXT, plain_text
from sandbox_kernel.notebook.view.tally import NEWEST_CHARACTERS, Tally, weight
from tests.bounds.hostile_values import HOSTILE, hostile_values

MOST = hard_limit(CHARACTERS)


def logged(*args: Any, method: str = "log", depth: int = 0) -> str:
    return console_line(CodeExecutionLog("log", args, 0.0, method, depth))


def traceback_text(value: Any) -> str:
    """The value's text as everything that an error consists of."""
    text = show(value) * 10
    error = CodeExecutionError(text, text, f"at {text} (cell:1:1)\n" * 20, text, text, 1, 1)
    scene = Scene("cell", "throw 1")
    return "\n".join(traceback_of(CodeExecutionResult("link_error", error=error), scene).lines)


def listed(value: Any) -> str:
    result = CodeExecutionResult("success", reports=[value] * 300)
    return plain_text(result)


RENDERINGS: dict[str, tuple[Callable[[Any], str], int]] = {
    "show": (show, MOST),
    "show, deeply": (lambda value: show(value, 12), MOST),
    "a log": (logged, MAX_TEXT + 30),
    "a log in groups": (lambda value: logged(value, "x", depth=1_000_000), MOST + 1),
    "a log with directives": (lambda value: logged("%s%o%d%j" * 9, *[value] * 40), MOST + 1),
    "a log of many": (lambda value: logged(*[value] * 100_000), MOST + 1),
    "a format": (lambda value: logged(value, *[value] * 1_000), MOST + 1),
    "console.table": (lambda value: logged(value, method="table"), MAX_TEXT + 30),
    "console.table of rows": (lambda value: logged([value] * 2_000, method="table"), MOST + 1),
    "console.table of cells": (lambda value: logged([{"a": value}], method="table"), MOST + 1),
    "a table of records": (lambda value: records_table(value, show) or "", MOST),
    "a traceback": (traceback_text, MOST),
    "the view as text": (listed, LISTED * (LISTED_TEXT + 10) + 200),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_every_rendering_is_bounded_and_clean(name: str) -> None:
    value = HOSTILE[name]()
    for rendering, (render, most) in RENDERINGS.items():
        text = render(value)
        assert len(text) <= most, rendering
        assert is_clean(text), rendering


@pytest.mark.parametrize("name", HOSTILE)
def test_a_bundle_a_view_and_an_outline_are_bounded(name: str) -> None:
    value = HOSTILE[name]()
    bundle = result_bundle(value)
    assert len(bundle["text/plain"]) <= MOST
    assert len(bundle.get("text/html", "")) <= MOST
    assert is_clean(bundle.get("text/html", ""))
    if "application/json" in bundle:
        assert weight(bundle["application/json"]) <= 2 * CHARACTERS
    assert weight(outline(value)) <= 200_000
    tally = Tally()
    tally.take([value] * 300, [CodeExecutionLog("log", (value,), 0.0)] * 300)
    drawn = [tally.reports.since(0), tally.logs.since(0), tally.progress(), tally.plot.drawn()]
    assert weight(drawn) <= 2 * NEWEST_CHARACTERS + 2 * 200_000


@settings(max_examples=15)
@given(hostile_values)
def test_any_value_is_bounded_in_every_rendering(value: Any) -> None:
    for render, most in RENDERINGS.values():
        text = render(value)
        assert len(text) <= most
        assert is_clean(text)
    assert weight(outline(value)) <= 200_000
    assert len(result_bundle(value)["text/plain"]) <= MOST
    assert len(repr(CodeExecutionResult("success", value))) <= 10_100
    to_jsonable(value)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_rendering_hardly_overspends_its_work(name: str) -> None:
    """By one text, or one row of a table, at most."""
    value = HOSTILE[name]()
    shown, tabulated = Budget(), Budget()
    show(value, budget=shown)
    console_line(CodeExecutionLog("log", (value,), 0.0, "table"), tabulated)
    for budget in (shown, tabulated):
        assert budget.work >= -WORK
        assert budget.characters >= -CHARACTERS // 2


class _Key(str):
    """Counts how often a key is spelled."""

    __slots__ = ()
    spelled: ClassVar[int] = 0

    def __getitem__(self, at: Any) -> str:
        _Key.spelled += 1
        return super().__getitem__(at)


def test_keys_that_are_cut_alike_are_spelled_a_few_times() -> None:
    rows = [{_Key(f"{'k' * 1_000}{row}{at}"): 1 for at in range(9)} for row in range(1_000)]
    _Key.spelled = 0
    assert logged(rows, method="table").count("kkk") >= 1
    assert 0 < _Key.spelled <= 1_000


def test_a_part_spends_the_whole() -> None:
    whole = Budget(100, 10)
    whole.part(30, 5).spend(20, 2)
    assert (whole.characters, whole.work) == (80, 8)
    assert whole.part(1_000, 1_000).characters == 80


def test_the_reader_is_told_how_much_is_missing() -> None:
    assert logged("x" * (MAX_TEXT + 1_200_000)).endswith("x… 1.2 MB more\n")
    assert logged("x" * (MAX_TEXT + 52_000)).endswith("x… 52 KB more\n")
    assert logged("x" * (MAX_TEXT + 1)).endswith("x… 1 more character\n")
    assert logged("a", "x" * CHARACTERS).endswith("x… 2 more characters\n")
    assert logged("\x1b" * 1_300_000).endswith("… 1.3 MB more\n")
    assert logged(*["a"] * 100_000).endswith(" more arguments\n")
    assert show({"k" * (MAX_NAME + 1): 1}) == f"{{\n  '{'k' * MAX_NAME}…': 1\n}}"
    assert show(HOSTILE["bigint"]()).endswith("… 1,990,001 more digits n")
    assert logged([[0] * 50] * 1_000, method="table").endswith(" more rows\n")
    assert "more items" in show(HOSTILE["floats"]())


def test_a_value_that_cannot_be_shown_says_so() -> None:
    class Broken(dict[str, int]):
        def items(self) -> Any:
            raise OSError("a secret path")

    broken = Broken(a=1)
    assert show(broken) == "[Broken, which cannot be shown: OSError]"
    assert logged([broken], 1) == "[list, which cannot be shown: OSError] 1\n"
    assert outline(broken) == ["note", "[Broken, which cannot be shown: OSError]"]
    assert result_bundle(broken) == {"text/plain": "[Broken, which cannot be shown: OSError]"}
    assert records_table([broken], show) is None
    assert "cannot be shown" in logged(broken, method="table")


def test_groups_indent_by_at_most_a_hundred_levels() -> None:
    assert logged("a", depth=2**20) == " " * 200 + "a\n"
