"""A cell's last expression becomes its default export, where it stands."""

from __future__ import annotations

import pytest

from sandbox_kernel.worker.typescript import prepare

SHOWN = {
    "1 + 1": "export default (1 + 1)",
    "let a = 1\na;": "let a = 1\nexport default (a);",
    "a, b // comment\n;;": "export default (a, b) // comment\n;;",
    "x as any": "export default (x)       ",
    "await f()\n/* end */": "export default (await f())\n/* end */",
    "({ a: 1 })": "export default (({ a: 1 }))",
    "() => 1": "export default (0,() => 1)",
    "'use strict'": "export default ('use strict')",
    "import { a } from 'x'\na": "import { a } from 'x'\nexport default (a)",
    "export const b = 1\nb": "export const b = 1\nexport default (b)",
    "x = 5": "export default (x = 5)",
}
NOT_SHOWN = [
    "",
    "// comment",
    "let a = 1",
    "export default 1; 2",
    "const a = 1; export { a as default }; a",
    "export { default } from 'x'; 1",
    "if (a) b",
    "{ a }",
    "namespace N { export const a = 1 }",
    "interface A {}",
    "a +",
    "function f() {}",
]


@pytest.mark.parametrize("source", SHOWN)
def test_a_last_expression_is_exported(source: str) -> None:
    prepared = prepare(source, last_expression=True)
    assert prepared.text == SHOWN[source]
    assert prepared.shows_last


@pytest.mark.parametrize("source", NOT_SHOWN)
def test_without_a_last_expression_nothing_is_shown(source: str) -> None:
    prepared = prepare(source, last_expression=True)
    assert prepared == prepare(source)
    assert not prepared.shows_last


def test_a_type_at_the_end_does_not_hide_the_expression_before_it_in_doubt() -> None:
    assert not prepare("a\ntype B = 1", last_expression=True).shows_last


def test_columns_are_those_of_the_cell() -> None:
    prepared = prepare("let a = 1\n  boom()", last_expression=True)
    assert prepared.source_column(2, prepared.text.split("\n")[1].index("boom") + 1) == 3


def test_javascript_too() -> None:
    prepared = prepare("1", language="javascript", last_expression=True)
    assert (prepared.text, prepared.shows_last) == ("export default (1)", True)
