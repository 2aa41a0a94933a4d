"""A cell's text: magics at its head, positions of the rest kept."""

from __future__ import annotations

import pytest

from sandbox_kernel.errors import OptionError
from sandbox_kernel.kernel.cell import parse_cell
from sandbox_kernel.kernel.completeness import is_complete


def test_a_plain_cell_is_its_own_source() -> None:
    cell = parse_cell("const a = 1\n% not a magic here")
    assert cell.cell_magic is None
    assert cell.source == "const a = 1\n% not a magic here"


def test_the_magics_line_stays_as_an_empty_one() -> None:
    cell = parse_cell("%%runcode --fn f\nexport const f = 1")
    assert cell.cell_magic is not None
    assert (cell.cell_magic.name, cell.cell_magic.line) == ("runcode", "--fn f")
    assert cell.source == "\nexport const f = 1"
    assert cell.body == "export const f = 1"


def test_line_magics_may_stand_above_code_and_above_a_cell_magic() -> None:
    cell = parse_cell("\n%defaults --memory 1MiB\n\n%bridges\n%%module ./a.ts\nexport {}")
    assert [magic.name for magic in cell.line_magics] == ["defaults", "bridges"]
    assert cell.cell_magic is not None
    assert cell.source == "\n\n\n\n\nexport {}"
    assert cell.body == "export {}"
    assert parse_cell("%help\n1").source == "\n1"


def test_windows_line_ends_are_line_ends() -> None:
    assert parse_cell("%%runcode\r\n1\r\n2").source == "\n1\n2"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("%%runcod\n1", "unknown magic %%runcod; did you mean %%runcode?"),
        ("%default", "unknown magic %default; did you mean %defaults?"),
        ("%bridge x", "did you mean %%bridge?"),
        ("%%help", "did you mean %help?"),
        ("%", "unknown magic %; known: %defaults"),
        ("%%", "known: %%runcode"),
    ],
)
def test_an_unknown_magic_is_an_error_with_the_nearest(text: str, says: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_cell(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", "complete"),
        ("1 + 1", "complete"),
        ("function f() { return 1 }", "complete"),
        ("const s = `a ${b} c`", "complete"),
        ("a / b / c", "complete"),
        ("x.replace(/[/'`]/g, '')", "complete"),
        ("// a comment with ( and '", "complete"),
        ("%help", "complete"),
        ("function f() {", "incomplete"),
        ("const a =", "incomplete"),
        ("foo(1,", "incomplete"),
        ("`open ${1}", "incomplete"),
        ("`open ${ f(", "incomplete"),
        ("/* open", "incomplete"),
        ("export default", "incomplete"),
        ("() =>", "incomplete"),
        ("%%bridge fs", "incomplete"),
        ("%%bridge fs\ndef f(): pass", "incomplete"),
        ("%%bridge fs\ndef f(): pass\n\n", "complete"),
        ("f(]", "invalid"),
        ("'open", "invalid"),
        ("}", "invalid"),
        ("%nope", "invalid"),
    ],
)
def test_whether_a_cell_is_whole(text: str, status: str) -> None:
    assert is_complete(text)["status"] == status


def test_an_unfinished_block_asks_for_indentation() -> None:
    assert is_complete("function f() {")["indent"] == "  "
    assert is_complete("a(() => {\n  if (b) {")["indent"].startswith("    ")
