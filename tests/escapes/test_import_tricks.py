"""Specifiers, import.meta and namespaces: only what was lent is there, under exactly its name."""

from __future__ import annotations

import pytest

from sandbox_kernel import CodeExecutionError, CodeExecutionResult
from tests.escapes.attack import attack, failure, outcome

REFUSED = [
    "fs", "node:fs", "os", "std", "qjs:os", "bjson", "lent/", "lent/../lent", "LENT", " lent", "lent ",
    "./lent", "/etc/passwd", "file:///etc/passwd", "https://example.com/x.js", "data:text/javascript,1",
    "//x", "\\\\x", "..", ".", "", "../x.js", "./../x.js", "./a/../../x.js", "./X.js", "./x.js?1",
    "./x.js#1", "./%78.js", "\\u0000lent", "\\u0001lent", "<host>", "-", "#lent", "le\\u0000nt",
    "\\ud800", "./\\ud800.js", "l\\u0435nt", "x".ljust(100_000, "x"),
]  # fmt: skip


@pytest.mark.parametrize("specifier", REFUSED, ids=lambda text: repr(text)[:20])
def test_an_import_that_was_not_lent_is_refused(specifier: str) -> None:
    options = {"imports": {"lent": {"f": 1}}, "modules": {"./x.js": "export default 1"}}
    dynamic = outcome(
        f"let got; try {{ await import('{specifier}'); got = 'imported' }}"
        " catch (error) { got = error.name } export default got",
        **options,
    )
    assert dynamic == "LinkError"
    status, name, _ = failure(f"import '{specifier}'", **options)
    assert (status, name) == ("link_error", "LinkError")


def test_specifiers_that_are_not_text() -> None:
    seen = outcome(
        """
const seen = [];
for (const specifier of [undefined, null, 1, {}, [], { toString() { throw new RangeError() } },
  { toString: () => 'lent' }, new Proxy({}, {}), Symbol(), 7n, () => 1]) {
  try { seen.push(Object.keys(await import(specifier))) } catch (error) { seen.push(error.name) }
}
export default seen;
""",
        imports={"lent": {"f": 1}},
    )
    expected = (
        ["LinkError"] * 5 + ["RangeError", ["f"], "LinkError", "TypeError"] + ["LinkError"] * 2
    )
    assert seen == expected


def test_import_meta_holds_a_synthetic_url_and_nothing_else() -> None:
    seen = outcome(
        """
const meta = import.meta;
meta.resolve = () => 1;
meta.url = 'file:///etc/passwd';
export default [Reflect.ownKeys(meta).length, Object.getPrototypeOf(meta), await import('./m.js')
  .then((m) => m.default)];
""",
        modules={"./m.js": "export default [Reflect.ownKeys(import.meta), import.meta.url]"},
        filename="main.js",
    )
    assert seen == [2, None, [["url"], "sandbox:./m.js"]]


def test_a_bridged_namespace_cannot_be_changed_and_is_new_in_each_run() -> None:
    source = """
import * as lent from 'lent';
const tried = [];
for (const change of [() => { lent.f = 2 }, () => { delete lent.f }, () => { lent.g = 1 },
  () => Object.defineProperty(lent, 'f', { value: 3 }), () => Object.setPrototypeOf(lent, {})]) {
  try { change(); tried.push('changed') } catch (error) { tried.push(error.name) }
}
lent.object.changed = true;
export default [tried, lent.f, lent.object, Object.isExtensible(lent)];
"""
    given = {"f": 1, "object": {"a": 1}}
    for _ in range(2):
        seen = outcome(source, imports={"lent": given})
        assert seen == [["TypeError"] * 5, 1, {"a": 1, "changed": True}, False]
    assert given == {"f": 1, "object": {"a": 1}}


def test_import_attributes_and_phases_are_refused() -> None:
    options = {"modules": {"./x.json": '{"a": 1}', "./x.js": "export default 1"}}
    for source in (
        "import x from './x.json' with { type: 'json' }; export default x",
        "import defer * as x from './x.js'; export default x",
        "import source x from './x.js'; export default x",
        "import x from './x.js' assert { type: 'x' }; export default x",
    ):
        status, name, _ = failure(source, **options)
        assert (status, name) == ("link_error", "SyntaxError"), source


def test_a_module_that_imports_itself_and_its_importer() -> None:
    source = "import * as me from './a.js'; export const v = typeof me.v"
    told = failure("import { v } from './a.js'", modules={"./a.js": source})
    assert told == ("error", "ReferenceError", "v is not initialized")


MOST = 4096
MIB = 2**20
TOO_LONG = {
    "bare": ("a" * MIB, "a" * 60, "1,048,576"),
    "relative": ("./" + "a/" * (MIB // 2), "./" + "a/" * 29, "1,048,578"),
    "not_ascii": ("é" * MIB, "é" * 60, "2,097,152"),
    "lone_surrogates": ("\\ud800" * MOST, "\ufffd" * 60, "12,288"),
    "by_one_byte": ("a" * (MOST + 1), "a" * 60, "4,097"),
}
STATEMENTS = {
    "import": "\n  import '{}'",
    "import_from": "\n  import x from '{}'",
    "export_from": "\n  export * from '{}'",
}


def error_of(result: CodeExecutionResult) -> CodeExecutionError:
    assert result.error is not None
    return result.error


def assert_small(result: CodeExecutionResult) -> None:
    assert result.memory_used_bytes is not None
    assert result.memory_used_bytes < 32 * MIB


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("case", TOO_LONG)
def test_a_specifier_that_is_too_long_is_a_link_error(case: str, statement: str) -> None:
    specifier, start, size = TOO_LONG[case]
    source = STATEMENTS[statement].format(specifier)
    for language in ("javascript", "typescript"):
        result = attack(source, language=language)
        error = error_of(result)
        assert (result.status, error.name) == ("link_error", "LinkError")
        assert error.message == (
            f"cannot import '{start}…': a specifier may have at most 4,096 bytes, this one has {size}"
        )
        assert error.specifier == f"{start}…"
        assert_small(result)


def test_a_specifier_that_is_too_long_has_a_place() -> None:
    for statement, column in (("import", 10), ("import_from", 17), ("export_from", 17)):
        error = error_of(attack(STATEMENTS[statement].format("a" * MIB)))
        assert (error.line, error.column) == (2, column)


@pytest.mark.parametrize("size", [MOST + 1, MIB, 8 * MIB])
def test_a_dynamic_import_of_a_specifier_that_is_too_long_can_be_caught(size: int) -> None:
    result = attack(
        f"export default await import('a'.repeat({size})).catch((e) => [e.name, e.message])"
    )
    assert result.result == [
        "LinkError",
        f"cannot import '{'a' * 60}…': a specifier may have at most 4,096 bytes, this one has {size:,}",
    ]
    assert_small(result)


def test_a_specifier_of_the_most_bytes_there_may_be_is_imported() -> None:
    bare, relative = "a" * MOST, "./" + "é" * (MOST // 2 - 1)
    source = f"import {{ f }} from '{bare}'; import g from '{relative}'; export default [f, g]"
    options = {"imports": {bare: {"f": 1}}, "modules": {relative: "export default 2"}}
    assert outcome(source, **options) == [1, 2]


def test_the_place_of_an_import_is_found_in_linear_time() -> None:
    """Where spaces may stand around a bracket, each of them could be before or behind it."""
    source = "/* from" + " " * 2**20 + "*/\nimport 'x'"
    error = error_of(attack(source))
    assert (error.name, error.line, error.column) == ("LinkError", 2, 8)
