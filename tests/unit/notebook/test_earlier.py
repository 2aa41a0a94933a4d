"""Which cell declared a name: right, or nobody."""

from __future__ import annotations

import time

import pytest

from sandbox_kernel.notebook.earlier import EarlierCells


def cells(*sources: str) -> EarlierCells:
    earlier = EarlierCells()
    for number, source in enumerate(sources, 1):
        earlier.add(number, source)
    return earlier


@pytest.mark.parametrize(
    "source",
    [
        "const rows = 1",
        "let rows;",
        "var rows=1",
        "const rows: number[] = []",
        "export const rows = 1",
        "function rows() {}",
        "async function rows() {}",
        "function* rows() {}",
        "export default function rows() {}",
        "class rows {}",
        "enum rows { A }",
        "const { rows } = f()",
        "const { a, rows } = f()",
        "const { a: rows } = f()",
        "const [first, rows] = f()",
        "const a = 1, rows = 2",
        "1 + 1\nconst rows = 1",
    ],
)
def test_a_declaration_is_found(source: str) -> None:
    assert cells("1", source, "2").cell_of("rows") == 2


@pytest.mark.parametrize(
    "source",
    [
        "rows.length",
        "const rowsLater = 1",
        "const $rows = 1",
        "  const rows = 1",
        "function f(rows) {}",
        "// const rows = 1",
        "const { rows: a } = f()",
        "const a = f(b, rows)",
        "const text = 'const rows'",
        "import { rows } from 'db'",
    ],
)
def test_what_declares_nothing_at_the_top_is_not_found(source: str) -> None:
    assert cells(source).cell_of("rows") is None


def test_the_latest_cell_counts() -> None:
    assert cells("const a = 1", "const b = 1", "const a = 2", "a").cell_of("a") == 3


def test_names_are_no_patterns() -> None:
    assert cells("const $a = 1").cell_of("$a") == 1
    assert cells("const xa = 1").cell_of(".a") is None


def test_old_cells_are_forgotten() -> None:
    assert cells("const a = 1", *["1"] * 500).cell_of("a") is None


@pytest.mark.parametrize(
    "unit", ["const {", "const a, ", "var [" + "a" * 190 + "\n", "const NAME,"]
)
def test_hostile_cells_are_searched_in_linear_time(unit: str) -> None:
    earlier = cells(*[unit * 20_000] * 200)
    started = time.thread_time()
    assert earlier.cell_of("a" * 100) is None
    earlier.cell_of("a")
    assert time.thread_time() - started < 5
