"""What is refused is refused by name, at its place, with what to write instead."""

from __future__ import annotations

import pytest

from sandbox_kernel.worker.typescript import UnsupportedSyntax, prepare

REFUSED = {
    "import a = require('a')": ("import", 1, 1),
    "let x: number\n  import a = require('a')": ("import", 2, 3),
    "const é = '𝒳'; export = é": ("export default", 1, 16),
    "@logged class A {}": ("decorator", 1, 1),
    "class A {\r\n  '𝒳' = 1; @bound m() {}\r\n}": ("decorator", 2, 12),
    "class A { constructor(@inject a) {} }": ("decorator", 1, 23),
    "const x = <div id='a'>text</div>": ("JSX", 1, 11),
    "const x = (\n  <>\n<b/></>\n)": ("JSX", 2, 3),
    "function f() { return <A.B {...c}><d/></A.B> }": ("JSX", 1, 23),
}


@pytest.mark.parametrize("source", REFUSED)
def test_what_has_no_meaning_in_an_es_module_is_refused(source: str) -> None:
    word, line, column = REFUSED[source]
    with pytest.raises(UnsupportedSyntax) as refused:
        prepare(source)
    assert word in refused.value.message
    assert (refused.value.line, refused.value.column) == (line, column)


@pytest.mark.parametrize(
    "source",
    [
        "import type a = require('a')",
        "declare class A { @dec x }",
        "declare module 'x' { import a = require('a'); export = a }",
        "const a = '@x <div></div>' // @x <div></div>",
    ],
)
def test_what_is_only_a_type_is_not_refused(source: str) -> None:
    prepare(source)
