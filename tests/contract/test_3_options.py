"""Section 3: options, exports, imports, modules, globals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox_kernel import OptionError, SerializationError, run_code

Value = Callable[..., Any]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memoryLimitBytse": 1}, "did you mean 'memoryLimitBytes'"),
        ({"timeout": 5}, "unknown option 'timeout'"),
        ({"imports": {"./fs": {}}}, "'./fs' is not a bare specifier"),
        ({"imports": {"https://x/y.js": {}}}, "is not a bare specifier"),
        ({"imports": {"fs": 5}}, "must be a mapping"),
        ({"modules": {"helpers": ""}}, "'helpers' is not a relative specifier"),
        ({"modules": {"../up.js": ""}}, "'../up.js' is not a relative specifier"),
        ({"modules": {"./a/../b.js": ""}}, "is not a relative specifier"),
        ({"modules": {"./a.js": 5}}, "must be a string"),
        ({"globals": {"not valid": 1}}, "'not valid' is not a JavaScript identifier"),
        ({"globals": {"class": 1}}, "'class' is a reserved name"),
        ({"globals": {"undefined": 1}}, "'undefined' is a reserved name"),
        ({"globals": {5: 1}}, "keys of globals must be strings, not 5"),
        ({"language": "python"}, "'javascript' or 'typescript'"),
        ({"memoryLimitBytes": 0}, "must be positive"),
        ({"memoryLimitBytes": True}, "whole number"),
        ({"memoryLimitBytes": 1.5}, "whole number"),
        ({"filename": ""}, "filename"),
        ({"filename": "a\nb"}, "filename"),
        ({"filename": "./a.js", "modules": {"./a.js": ""}}, "also a key of modules"),
        ({"report": 5}, "must be callable"),
        ({"execute": {"fn": 5}}, "must be a string"),
        ({"execute": {"args": 5}}, "must be a list"),
        ({"timeout": 3}, "run_code(…).terminate"),
        ({"memory": 3}, "did you mean 'memory_limit_bytes'?"),
        ({"fn": "main"}, "did you mean 'execute'?"),
        ({"env": {}}, "did you mean 'globals'?"),
        ({"memoryLimitByte": 3}, "did you mean 'memoryLimitBytes'?"),
        ({"zzz": 3}, "known: execute, imports, modules, globals,"),
        ({"execute": {"arguments": []}}, "did you mean 'args'"),
        ({"execute": []}, "must be a mapping"),
    ],
)
def test_3_a_bad_option_raises_at_once_and_names_the_offender(
    options: dict[Any, Any], message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        run_code("export default 1", options)
    assert message in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_3_a_source_that_is_not_text_raises_at_once() -> None:
    with pytest.raises(TypeError, match="source must be a string, not bytes"):
        run_code(b"export default 1")  # type: ignore[arg-type]  # which is what must fail


def test_3_an_option_given_in_both_spellings_raises() -> None:
    with pytest.raises(OptionError, match="given twice"):
        run_code("export default 1", {"memoryLimitBytes": 10**7}, memory_limit_bytes=10**7)


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"globals": {"rows": [1, {"when": object()}]}}, "globals.rows[1].when"),
        ({"imports": {"fs": {"x": {"y": object()}}}}, "imports['fs'].x.y"),
        ({"execute": {"args": [1, {"k-v": object()}]}}, "execute.args[1]['k-v']"),
        ({"globals": {"kind": int}}, "globals.kind"),
    ],
)
def test_3_a_value_that_cannot_cross_raises_at_once_and_names_its_path(
    options: dict[str, Any], path: str
) -> None:
    with pytest.raises(SerializationError) as caught:
        run_code("export default 1", options)
    assert caught.value.path == path
    assert path in str(caught.value)


# -- 3.1


INCREMENT = """
export function increment(n: number): number { return n + 1; }
export default function fallback() { return 123; }
"""


def test_3_1_execute_selects_the_export_and_its_arguments(value: Value) -> None:
    assert value(INCREMENT, execute={"fn": "increment", "args": [100]}) == 101


def test_3_1_execute_omitted_means_the_default_export_without_arguments(value: Value) -> None:
    assert value(INCREMENT) == 123
    assert value(INCREMENT, execute={}) == 123
    assert value(INCREMENT, execute={"fn": "default", "args": []}) == 123


def test_3_1_a_returned_thenable_is_awaited(value: Value) -> None:
    assert (
        value("export default () => ({ then(ok) { ok({ then(ok) { ok('deep') } }) } })") == "deep"
    )


def test_3_1_an_export_that_is_not_a_function_is_the_result_itself(value: Value) -> None:
    assert value("export const answer = 42", execute={"fn": "answer"}) == 42


def test_3_1_arguments_for_an_export_that_is_not_a_function_are_an_error(run: Value) -> None:
    result = run("export default 42", execute={"args": [1]})
    assert result.status == "error"
    assert "not a function" in result.error.message


def test_3_1_a_missing_export_is_a_link_error_and_effects_before_it_stand(run: Value) -> None:
    result = run(
        "report('ran'); console.log('too')", execute={"fn": "nope"}, report=lambda value: None
    )
    assert result.status == "link_error"
    assert "'nope'" in result.error.message
    assert result.reports == ["ran"]
    assert result.logs[0].args == ("too",)


def test_3_1_arguments_are_marshaled_as_any_value(value: Value) -> None:
    source = (
        "export default (m, s, b) => [m instanceof Map, s instanceof Set, b instanceof Uint8Array]"
    )
    assert value(source, execute={"args": [{1: 2}, {3}, b"x"]}) == [True, True, True]


def test_3_1_an_export_named_like_a_prototype_method_is_not_found(run: Value) -> None:
    assert run("export default 1", execute={"fn": "toString"}).status == "link_error"
    assert run("export default 1", execute={"fn": "__proto__"}).status == "link_error"


# -- 3.2


def test_3_2_named_namespace_and_default_imports_of_a_bridge(value: Value) -> None:
    source = """
    import greet, { add } from 'tools';
    import * as tools from 'tools';
    export default [greet('ada'), add(2, 3), tools.add(4, 5), Object.keys(tools)];
    """
    tools = {"default": lambda name: f"hi, {name}", "add": lambda a, b: a + b}
    assert value(source, imports={"tools": tools}) == ["hi, ada", 5, 9, ["add", "default"]]


def test_3_2_scoped_specifiers_and_subpaths_are_bare(value: Value) -> None:
    imports = {"@scope/pkg": {"a": 1}, "fs/promises": {"b": 2}}
    source = "import { a } from '@scope/pkg'; import { b } from 'fs/promises'; export default a + b"
    assert value(source, imports=imports) == 3


def test_3_2_any_export_name_works(value: Value) -> None:
    source = "import { 'not an identifier' as x, ключ } from 'odd'; export default [x, ключ]"
    assert value(source, imports={"odd": {"not an identifier": 1, "ключ": 2}}) == [1, 2]


@pytest.mark.parametrize(
    "specifier",
    [
        "fs",
        "https://example.org/x.js",
        "data:text/javascript,export default 1",
        "file:///etc/passwd",
        "node:fs",
        "/etc/passwd",
        "#internal",
        "",
        "\\x01tools",
        "./tools",
        "tools/",
        "Tools",
    ],
)
def test_3_2_an_unknown_specifier_fails_linkage_and_is_named(run: Value, specifier: str) -> None:
    result = run(f"report(1); import '{specifier}'", imports={"tools": {}}, report=lambda v: None)
    assert result.status == "link_error"
    assert result.error.specifier == specifier.replace("\\x01", "\x01")
    assert result.reports == []


def test_3_2_a_missing_named_export_fails_linkage(run: Value) -> None:
    result = run("\n  import { nope } from 'tools'", imports={"tools": {"yes": 1}})
    assert result.status == "link_error"
    assert (result.error.specifier, result.error.line, result.error.column) == ("tools", 2, 24)
    assert "'nope'" in result.error.message


def test_3_2_inherited_names_are_not_exports(run: Value) -> None:
    result = run("import { toString } from 'tools'", imports={"tools": {}})
    assert result.status == "link_error"


@pytest.mark.parametrize("specifier", ["\ud800", "\x1b", "é", "a\u202e"])
def test_3_2_an_unknown_specifier_of_odd_characters_is_named_too(
    run: Value, specifier: str
) -> None:
    spelled = specifier.encode("unicode_escape").decode()
    result = run(f"import '{spelled}'")
    assert (result.status, result.error.specifier) == ("link_error", specifier)
    result = run(f"await import('{spelled}')")
    assert (result.status, result.error.name) == ("error", "LinkError")


def test_3_2_a_specifier_with_a_nul_is_refused(run: Value) -> None:
    assert run("import '\\x00x'").status == "link_error"
    result = run("await import('\\x00x')")
    assert (result.status, result.error.name) == ("error", "LinkError")


def test_3_2_several_functions_of_one_module_stay_apart(value: Value) -> None:
    functions = {name: (lambda name=name: name) for name in ("a", "b", "c")}
    source = "import * as s from 's'; export default [s.a(), s.b(), s.c(), s.a === s.b]"
    assert value(source, imports={"s": functions}) == ["a", "b", "c", False]


# -- 3.3


def test_3_3_modules_resolve_relative_to_each_other(value: Value) -> None:
    modules = {
        "./lib/a.js": "import { b } from './b.js'; import { top } from '../top.js'; export const a = b + top",
        "./lib/b.js": "export const b: number = 1",
        "./top.js": "export const top = 10",
    }
    assert value("import { a } from './lib/a.js'; export default a", modules=modules) == 11


def test_3_3_entry_imports_resolve_from_its_filename(value: Value) -> None:
    modules = {"./src/x.js": "export default 'x'", "./y.js": "export default 'y'"}
    source = "import x from './x.js'; import y from '../y.js'; export default x + y"
    assert value(source, modules=modules, filename="src/main.ts") == "xy"


@pytest.mark.parametrize("filename", ["main.ts", "./main.ts", "/abs/main.ts", "<cell 1>"])
def test_3_3_a_filename_without_a_relative_folder_means_the_root(
    value: Value, filename: str
) -> None:
    source = "import x from './x.js'; export default x"
    assert value(source, modules={"./x.js": "export default 1"}, filename=filename) == 1


def test_3_3_nothing_climbs_out_of_the_graph(run: Value) -> None:
    result = run("import '../x.js'", modules={"./x.js": ""})
    assert result.status == "link_error"
    assert "leads out" in result.error.message


def test_3_3_modules_are_evaluated_once_and_may_be_cyclic(value: Value) -> None:
    modules = {
        "./a.js": "import { b } from './b.js'; globalThis.count = (globalThis.count ?? 0) + 1;"
        " export const a = () => 'a' + b()",
        "./b.js": "import { a } from './a.js'; export const b = () => 'b'; export const viaA = () => a()",
    }
    source = (
        "import { viaA } from './b.js'; import './a.js'; export default [viaA(), globalThis.count]"
    )
    assert value(source, modules=modules) == ["ab", 1]


def test_3_3_a_syntax_error_in_a_module_names_the_module(run: Value) -> None:
    result = run("import './bad.js'", modules={"./bad.js": "let ok = 1;\nlet x = ;"})
    assert result.status == "link_error"
    assert result.error.name == "SyntaxError"
    assert (result.error.filename, result.error.line, result.error.column) == ("./bad.js", 2, 9)


def test_3_3_modules_may_import_bridges(value: Value) -> None:
    modules = {"./m.js": "import { n } from 'host'; export default n + 1"}
    source = "import m from './m.js'; export default m"
    assert value(source, modules=modules, imports={"host": {"n": 1}}) == 2


def test_3_3_a_module_that_throws_is_an_error_in_that_module(run: Value) -> None:
    result = run("import './m.js'", modules={"./m.js": "\nthrow new RangeError('no')"})
    assert result.status == "error"
    assert (result.error.name, result.error.filename, result.error.line) == (
        "RangeError",
        "./m.js",
        2,
    )


# -- 3.4


def test_3_4_globals_are_free_identifiers_but_not_on_global_this(value: Value) -> None:
    source = """
    export default [typeof answer, typeof globalThis.answer, 'answer' in globalThis,
      Object.keys(globalThis).length, Reflect.ownKeys(globalThis).includes('answer')]
    """
    assert value(source, globals={"answer": 42}) == ["number", "undefined", False, 0, False]


def test_3_4_globals_are_seen_by_modules_and_can_be_shadowed(value: Value) -> None:
    modules = {"./m.js": "export default answer"}
    source = "import m from './m.js'; const answer = 'mine'; export default [m, answer]"
    assert value(source, modules=modules, globals={"answer": 42}) == [42, "mine"]


def test_3_4_a_global_may_replace_an_intrinsic(value: Value) -> None:
    source = "export default [Math.random(), $_1]"
    options = {"globals": {"Math": {"random": lambda: 4}, "$_1": "dollar"}}
    assert value(source, **options) == [4, "dollar"]


def test_3_4_a_supplied_console_is_used_and_nothing_is_captured(run: Value) -> None:
    heard: list[Any] = []
    result = run("console.log('x', 1)", globals={"console": {"log": lambda *a: heard.append(a)}})
    assert heard == [("x", 1)]
    assert result.logs == []


def test_3_4_without_globals_neither_report_nor_anything_else_is_there(value: Value) -> None:
    assert value("export default [typeof report, typeof console, typeof native]") == [
        "undefined",
        "object",
        "undefined",
    ]


@pytest.mark.parametrize(
    ("key", "size"),
    [("a" * 4097, "4,097"), ("é" * 2**20, "2,097,152"), ("./" + "a" * 4095, "4,097")],
)
@pytest.mark.parametrize("option", ["imports", "modules"])
def test_3_a_specifier_longer_than_any_that_can_be_imported_raises_at_once(
    option: str, key: str, size: str
) -> None:
    with pytest.raises(OptionError) as caught:
        run_code("export default 1", {option: {key: {} if option == "imports" else ""}})
    assert caught.value.option == option
    assert str(caught.value) == (
        f"{option} key '{key[:60]}…' has {size} bytes; a specifier may have at most 4,096"
    )


@pytest.mark.parametrize(
    "option", [{"imports": {"\ud800": {"f": 1}}}, {"modules": {"./\ud800": ""}}]
)
def test_3_half_of_a_surrogate_pair_is_not_a_specifier(option: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="half of a surrogate pair"):
        run_code("export default 1", option)
