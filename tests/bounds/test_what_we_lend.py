"""Whatever a guest passes to what we lend ready-made, the call ends and says little."""

from __future__ import annotations

import inspect
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.capabilities import checked, display, fetch, files
from sandbox_kernel.capabilities.charts import chart_display
from sandbox_kernel.capabilities.showing import MOST_BYTES_IN_ALL
from sandbox_kernel.capabilities.tables import table_display
from sandbox_kernel.tools import Toolbox
from tests.bounds.hostile_values import HOSTILE, MEGA, doubled

LONGEST = 2_000
Function = Callable[..., Any]


def add(number: int, text: str = "", numbers: list[int] | None = None, some: Any = None) -> int:
    """Has a parameter of each kind."""
    return number


def lent(root: Path) -> dict[str, Function]:
    """By name, all that a guest may call."""
    (root / "a").write_text("text")
    found = {"checked": checked(add), **Toolbox([add]).exports()}
    for capability in (files(root, "overlay"), fetch(["example.com"]), display()):
        host = capability.loan(capability.name).host
        found |= {f"{capability.name}.{name}": each for name, each in host.items()}
    return {name: each for name, each in found.items() if callable(each)}


def calls_with(value: Any) -> Iterator[tuple[Any, ...]]:
    """The value as every argument, and within those that hold others."""
    yield (value,)
    yield ("a", value)
    yield (1, value, value)
    yield ("https://example.org/", "GET", value, value, value)
    yield ("https://example.org/", value, [], None, value)
    yield ([value] * 3, {"columns": [value], "title": value})
    yield ([[value, value]] * 3,)
    yield ([{"a": value, "b": 1}] * 3,)
    yield ({"a": value, "b": [value] * 3},)
    yield ({"mark": value, "data": value},)
    yield ({"data": [{"a": value, "b": 1}] * 3, "x": "a", "y": "b", "color": "a"},)
    yield ({"data": value, "x": value},)
    yield ({"data": {"a": [value] * 3, "b": [1, 2, 3]}, "x": "a", "y": "b", "mark": "bar"},)
    yield ({"width": value, "height": 1, "data": value},)
    yield ([["add", {"number": value}], [value, value]],)
    yield ([{"name": value, "args": value}],)
    for name in ("number", "text", "numbers", "some"):
        yield ({"number": 1, name: value},)
        yield ("add", {"number": 1, name: value})


async def ended(function: Function, args: tuple[Any, ...]) -> str:
    """What the call says if it fails."""
    try:
        given = function(*args)
        if inspect.isawaitable(given):
            await given
    except Exception as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", HOSTILE)
async def test_any_value_in_any_place_ends_in_few_words(name: str, tmp_path: Path) -> None:
    value = HOSTILE[name]()
    for called, function in lent(tmp_path).items():
        for args in calls_with(value):
            assert len(await ended(function, args)) <= LONGEST, (called, len(args))


async def test_no_call_spells_a_value_in_order_to_cut_it(tmp_path: Path) -> None:
    value, functions = doubled(20), lent(tmp_path)
    tracemalloc.start()
    try:
        for called, function in functions.items():
            for args in calls_with(value):
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
                await ended(function, args)
                assert tracemalloc.get_traced_memory()[1] - before < 3 * MEGA, (called, len(args))
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "data",
    [
        [[0] * 100_000] * 1_000,
        [{f"k{at}": at for at in range(100_000)}] * 1_000,
        {f"k{at}": [0] * 1_000 for at in range(1_000)} | {"a": [0] * MEGA},
    ],
    ids=["arrays", "objects", "columns"],
)
def test_rows_that_are_shared_are_not_copied(data: Any) -> None:
    tracemalloc.start()
    try:
        assert "columns" in table_display(data)["text/plain"]
        with pytest.raises(ValueError, match="no row has"):
            chart_display({"data": data, "x": "missing"})
        assert tracemalloc.get_traced_memory()[1] < 20 * MEGA
    finally:
        tracemalloc.stop()


def test_what_a_run_shows_is_bounded_in_all() -> None:
    source = """import { image } from 'display';
    const png = new Uint8Array(4_000_000);
    png.set([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
    png.set([0, 0, 0, 0, 73, 68, 65, 84], 33);
    let shown = 0;
    try { for (;;) { image(png); shown++ } } catch (error) { report(error.message) }
    export default shown"""
    result = run_code(source, lend=[display()], report=lambda said: None).wait(60)
    assert result.status == "success", result.error
    assert result.result == MOST_BYTES_IN_ALL // 4_000_000
    assert "in all" in result.reports[0]


async def test_the_loop_goes_on_while_something_is_drawn() -> None:
    """A guest that waits for its picture gets what the host said of it, as from any plain function."""
    source = """import { chart, table } from 'display';
    let said;
    try { table(1) } catch (error) { said = [error.name, error.message] }
    export default [table([{ a: 1 }]) === undefined, said]"""
    result = await run_code(source, lend=[display()])
    kept, said = result.unwrap()
    assert kept
    assert said[0] == "TypeError"
    assert len(result.displays) == 1
