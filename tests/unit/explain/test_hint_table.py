"""What people and models type, with the hint that it gets; and as much that may get none.

Every row is a real run. A row without a hint is one where a guess would be wrong.
"""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel import evaluate, run_code
from sandbox_kernel.contract import CodeExecutionError


async def load(name: str = "") -> list[int]:
    return [len(name)]


def read_text(path: str) -> str:
    raise ValueError(f"no {path}")


LENT: dict[str, Any] = {
    "imports": {"db": {"load": load, "read_text": read_text, "VERSION": 1}},
    "globals": {"rows": [1, 2, 3], "limit": 10, "fetchRows": load},
    "modules": {"./lib.ts": "export const add = (a, b) => a + b;\nexport function sub() {}"},
}


def failure(source: str, **options: Any) -> CodeExecutionError:
    error = evaluate(source, **{**LENT, **options}).wait(30).error
    assert error is not None, f"{source!r} did not fail"
    return error


FENCED = "this is Markdown"
PYTHON = "this looks like Python"
HINTED = [
    # a model's reply as it came
    ("```ts\nexport default 1\n```", FENCED),
    ("```\n1 + 1\n```\n", FENCED),
    ("Here is the code:\n\n```typescript\nrows.length\n```\nIt counts rows.", FENCED),
    ("Sure!\n```js\n1\n```", FENCED),
    ("~~~js\nconst x = 1;\n~~~", FENCED),
    # Python
    ("def f(x):\n    return x", PYTHON),
    ("async def f(x):\n    return x", PYTHON),
    ("import pandas as pd\npd.DataFrame(rows)", PYTHON),
    ("import os", PYTHON),
    ("import os, sys", PYTHON),
    ("import os\n", PYTHON),
    ("import json  # to read\njson.loads('1')", PYTHON),
    ("import numpy\n\nnumpy.arange(3)", PYTHON),
    ("squares = [x * x for x in rows]", PYTHON),
    ("sizes = {k: len(k) for k in rows}", PYTHON),
    ("limit = 5 if rows else 6", PYTHON),
    ("rows = sorted(rows, key=lambda r: r)", PYTHON),
    ('"""Counts rows."""\nrows', PYTHON),
    ("from math import sqrt\nsqrt(2)", PYTHON),
    ("class Point:\n    pass", PYTHON),
    ("class Point(Base):\n    pass", PYTHON),
    ("for row in rows:\n    print(row)", PYTHON),
    ("if limit > 3:\n    limit", PYTHON),
    ("while True:\n    pass", PYTHON),
    ("try:\n    1\nexcept Exception:\n    2", PYTHON),
    ("with open('x') as file:\n    file.read()", PYTHON),
    ("double = lambda x: x * 2", PYTHON),
    ("print(rows)", "write console.log"),
    ("len(rows)", "write text.length"),
    ("const none = None", "write null"),
    ("const yes = True", "write true"),
    ("# counts the rows\nrows.length", "// in JavaScript"),
    ('const text = f"{limit} rows"', "backticks"),
    # modules
    ("const fs = require('fs')", "write import"),
    ("module.exports = { a: 1 }", "write export default"),
    ("exports.total = 1", "write export default"),
    ("const total = 1;\nreturn total;", "a module cannot return"),
    ("import { add } from './lib'", "write './lib.ts'"),
    ("import { add } from './lib.js'", "write './lib.ts'"),
    ("import { ad } from './lib.ts'", "did you mean 'add'? './lib.ts' exports add, sub"),
    ("import { x } from './other.ts'", "modules={'./other.ts': SOURCE} gives the run such a module"),
    ("import { x } from './libs.ts'", "did you mean './lib.ts'? what can be imported: './lib.ts'"),
    ("import { x } from './rows.json'", "modules={'./rows.json': SOURCE} gives the run such a module"),
    ("import { x } from '../lib.ts'", "nothing is above the root of the modules"),
    ("import db from 'db'", "write import * as db from 'db'"),
    ("import { laod } from 'db'", "did you mean 'load'? 'db' exports load, read_text, VERSION"),
    ("import { x } from 'dbs'", "did you mean 'db'?"),
    ("import _ from 'lodash'", "what can be imported: 'db', './lib.ts'"),
    ("await import('./lib')", "write './lib.ts'"),
    # a forgotten await
    ("const all = fetchRows('x');\nall.map((row) => row)", "fetchRows('x') gives a promise; write await"),
    ("fetchRows().map((row) => row)", "write await fetchRows()"),
    ("import { load } from 'db';\nconst all = load();\nfor (const row of all) row;", "write await load()"),
    ("import * as db from 'db';\nconst all = db.load();\nall.filter(Boolean)", "write await db.load()"),
    ("async function get() { return [1]; }\nconst all = get();\nall.join()", "write await get()"),
    ("const get = async () => [1];\nget().join()", "write await get()"),
    # names
    ("load('x')", "import { load } from 'db'"),
    ("db.load('x')", "import * as db from 'db'"),
    ("setTimeout(() => 1, 5)", "lend=[capabilities.timers()]"),
    ("await sleep(5)", "lend=[capabilities.timers()]"),
    ("await fetch('https://example.org')", "the sandbox has no network"),
    ("new URL('https://example.org')", "lend=[capabilities.web()]"),
    ("new TextEncoder().encode('x')", "lend=[capabilities.web()]"),
    ("new Intl.NumberFormat('de').format(1)", "lend a function"),
    ("crypto.randomUUID()", "lend=[capabilities.web()]"),
    ("performance.now()", "use Date.now()"),
    ("Buffer.from('x')", "use Uint8Array"),
    ("process.env.HOME", "with globals="),
    ("document.title", "no page"),
    ("window.rows", "use globalThis"),
    ("__dirname", "no files"),
    ("eval('1')", "no eval"),
    ("new Function('return 1')()", "no eval"),
    ("report(1)", "report=FUNCTION"),
    ("total = 1", "write let total"),
    ("rowz.length", "did you mean rows?"),
    ("math.max(1, 2)", "did you mean Math?"),
    ("consol.log(1)", "did you mean console?"),
    # a notebook's and a shell's lines
    ("!ls", "the sandbox has no shell"),
    ("!pip install pandas", "the sandbox has no shell"),
    ("%pip install pandas", "magic"),
    ("console?", "asks IPython for help"),
]  # fmt: skip

UNHINTED = [
    # mistakes in JavaScript, which the message names
    "const x = ;",
    "let a = 1 let b = 2",
    "function f( {",
    "rows.map((row) => row",
    "const o = { a: 1 b: 2 }",
    "if (limit > 3 { }",
    "for (const x of rows { }",
    "class Point { constructor( { }",
    "switch (limit) { case 1 1 }",
    "const text = 'never closed",
    "import { a from 'db'",
    "import x",
    "import x\n\n// import os\nx",
    "const a = 5 if (a > 3) nope(); else nope()",
    "const said = 'one for all in all' 1",
    "const f = function () { yield 1 }",
    "yield 1",
    "for (const x in rows for) {}",
    "sleeping(5)",
    "import y from",
    "import { load, b c } from 'db'",
    "const x = 1 for (;;) {}",
    "const text = 'a' 'b'",
    "export default",
    "const else = 1",
    "a ? b :",
    "const fine = (x) =>:",
    "x => { return: 1 }",
    "class A { #x = ; }",
    # what merely resembles another language
    "// def f(x):\nconst a = ;",
    "/*\n```\nrows\n```\n*/\nnope()",
    "nope();\n/** example:\n```ts\n1\n```\n*/",
    "const text = `\n# title\n`;\ntext.nope()",
    "const query = 'import os';\nquery.nope()",
    "!nope",
    "!nope && 1",
    "const a = 5 % nope",
    "limit\n% nope",
    "nope ? 1 : 2",
    # errors of the code's own
    "throw new Error('return not in a function')",
    "throw new TypeError('fetch is not defined')",
    "throw 'setTimeout is not defined'",
    "throw { name: 'ReferenceError' }",
    "null.x",
    "undefined()",
    "rows.nope()",
    "rows.map(3)",
    "({}).a.b",
    "const one = 1; one = 2",
    "one; let one = 1",
    "JSON.parse('{a')",
    "[].reduce((a, b) => a + b)",
    "new Array(-1)",
    "BigInt(1) + 1",
    "class Point {}\nPoint()",
    "const get = () => [1];\nget().nope()",
    "const all = await fetchRows();\nall.nope()",
    "let all = fetchRows();\nall = await all;\nall.nope()",
    "await new Promise(() => {})",
    # names that nothing is near
    "frobnicate(1)",
    "total.length",
    "ts.x",
    "nope === 1",
    "nope => nope, nope",
    # bridges and linking
    "import { read_text } from 'db';\nread_text('x')",
    "import './lib.ts';\nnope()",
    "import { Frobnicator } from './lib.ts' with",
    "import { add } from './lib.ts';\nadd.nope()",
    "export { nope }",
    "export default 1; export default 2",
    "(() => { for (;;) { throw new RangeError('far') } })()",
    "new Proxy({}, { get() { throw new Error('no') } }).x",
    "Symbol() + ''",
    "structuredClone(() => 1)",
    "Promise.reject(new Error('x'))",
    "throw Object.assign(new Error('eval is not supported'), { name: 'TypeErro' })",
    "const { a } = null",
    "'x'.repeat(-1)",
    "const rowsLater = fetchRows();\nrows.nope()",
    "const get = async () => [1];\nconst now = await get();\nnow.nope()",
    "function get() { return [1]; }\nconst all = get();\nall.nope()",
    "const all = fetchRows;\nall.map(1)",
    "import { add } from './lib.ts';\nadd().nope()",
]  # fmt: skip


@pytest.mark.parametrize(("source", "hint"), HINTED, ids=[source for source, _ in HINTED])
def test_what_people_and_models_type_gets_the_right_hint(source: str, hint: str) -> None:
    found = failure(source).hint
    assert found is not None
    assert hint in found


@pytest.mark.parametrize("source", UNHINTED)
def test_a_guess_is_not_made(source: str) -> None:
    assert failure(source).hint is None


def test_there_are_as_many_rows_without_a_hint() -> None:
    assert len(UNHINTED) >= len(HINTED)


@pytest.mark.parametrize(
    ("source", "execute", "hint"),
    [
        ("console.log(42)", {}, "write export default VALUE, or use evaluate"),
        ("export function main() {}", {"fn": "man"}, "did you mean 'main'? the module exports main"),
        ("export const a = 1, b = 2", {"fn": "zzz"}, "the module exports a, b"),
        ("function main() {}", {"fn": "main"}, "write export before the function"),
    ],
)  # fmt: skip
def test_a_missing_export_says_what_to_export(
    source: str, execute: dict[str, Any], hint: str
) -> None:
    error = run_code(source, execute=execute).wait(30).error
    assert error is not None
    assert hint in (error.hint or "")


def test_memory_says_which_option_raises_it() -> None:
    source = "const all = []; for (;;) all.push(new Array(1000).fill(0))"
    error = run_code(source, memory_limit_bytes=2**23).wait(30).error
    assert error is not None
    assert "memory_limit_bytes=" in (error.hint or "")


def test_nothing_to_import_says_how_to_lend() -> None:
    bare = failure("import x from 'lodash'", imports={}, modules={})
    assert "imports={'NAME'" in (bare.hint or "")
    relative = failure("import x from './helper'", imports={}, modules={})
    assert "modules={'./helper.ts': SOURCE}" in (relative.hint or "")


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("../lib", "write '../lib.ts': the extension is part of the path"),
        ("../libs.ts", "did you mean '../lib.ts'?"),
        ("./lib", "modules={'./deep/lib.ts': SOURCE} gives the run such a module"),
        ("../../lib.ts", "nothing is above the root of the modules"),
    ],
)
def test_a_path_that_a_module_imports_begins_at_that_module(typed: str, hint: str) -> None:
    modules = {**LENT["modules"], "./deep/here.ts": f"import {{ add }} from '{typed}'"}
    assert (failure("import './deep/here.ts'", modules=modules).hint or "").startswith(hint)


@pytest.mark.parametrize("typed", ["./", ".", "./lib.ts/", "./a'b.ts", "./a/b.ts"])
def test_a_path_that_is_not_near_is_not_said_to_be_another(typed: str) -> None:
    hint = failure(f'import "{typed}"').hint
    assert hint is None or "did you mean" not in hint


@pytest.mark.parametrize(
    "source",
    ["export * from './lib.ts'", "const a = 1; export { a };", "export{add}from './lib.ts'"],
)
def test_a_module_that_exports_in_other_ways_is_not_said_to_export_nothing(source: str) -> None:
    modules = {**LENT["modules"], "./all.ts": source}
    assert failure("import { ad } from './all.ts'", modules=modules).hint is None
