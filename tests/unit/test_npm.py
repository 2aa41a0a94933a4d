"""`modules_from`: real packages from npm, a real bundle, and packages made to go wrong."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import CodeExecutionResult, OptionError, modules_from
from tests.node.packages import installed

Value = Callable[..., Any]


def package(folder: Path, files: dict[str, str], **manifest: Any) -> Path:
    """A package as npm installs it."""
    made = folder / "node_modules" / manifest.setdefault("name", "pkg")
    for path, text in {**files, "package.json": json.dumps(manifest)}.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(text)
    return made


# ---------------------------------------------------------------------------- real packages


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("lodash-es", "import { chunk } from './lodash-es'; export default chunk([1, 2, 3], 2)",
         [[1, 2], [3]]),
        ("lodash-es", "import _ from './lodash-es'; export default _.sum([1, 2])", 3),
        ("lodash-es", "import './lodash-es/sandbox-self.js'; import sum from './lodash-es/sum.js';"
         " export default sum([1, 2])", 3),
        ("zod", "import { z } from './zod/v4'; export default z.number().parse(1)", 1),
        ("acorn", "import { parse } from './acorn'; export default"
         " parse('1', { ecmaVersion: 6 }).type", "Program"),
        ("@tanstack/query-core", "import { hashKey } from './@tanstack/query-core';"
         " export default hashKey([1])", "[1]"),
    ],
)  # fmt: skip
def test_an_installed_package_can_be_imported(
    value: Value, name: str, source: str, expected: Any
) -> None:
    assert value(source, modules=modules_from(installed() / name)) == expected


def test_a_bare_specifier_gets_the_relative_one(run: Callable[..., CodeExecutionResult]) -> None:
    modules = modules_from(installed() / "lodash-es")
    error = run("import { chunk } from 'lodash-es'", modules=modules).error
    assert error is not None
    assert error.hint is not None
    assert error.hint.startswith("did you mean './lodash-es'?")


def test_two_packages_can_be_lent_together(value: Value) -> None:
    modules = {**modules_from(installed() / "lodash-es"), **modules_from(installed() / "acorn")}
    source = "import { sum } from './lodash-es'; import { version } from './acorn'; export default [sum([1]), version]"
    assert value(source, modules=modules) == [1, "8.14.0"]


def test_a_package_that_needs_others_is_refused_and_its_bundle_runs(
    value: Value, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=r"rxjs needs other packages \(tslib\)") as refused:
        modules_from(installed() / "rxjs")
    command = str(refused.value).partition("npx ")[2].partition(", then")[0].split()
    assert command[0] == "esbuild"
    outfile = tmp_path / "rxjs.mjs"
    command = [str(installed() / ".bin" / "esbuild"), *command[1:-1], f"--outfile={outfile}"]
    subprocess.run(command, cwd=installed().parent, check=True, timeout=120, capture_output=True)
    source = "import { of, map } from './rxjs.mjs'; const got = []; of(1, 2).pipe(map((n) => n * 10)).subscribe((n) => got.push(n)); export default got"
    assert value(source, modules=modules_from(outfile)) == [10, 20]


def test_a_package_of_commonjs_is_refused_with_the_way_to_bundle_it() -> None:
    with pytest.raises(OptionError, match=r"typescript is a CommonJS package; .*npx esbuild"):
        modules_from(installed() / "typescript")


# ---------------------------------------------------------------------------- what package.json says


@pytest.mark.parametrize(
    "manifest",
    [
        {"type": "module"},
        {"type": "module", "main": "index.js"},
        {"type": "module", "exports": "./index.js"},
        {"type": "module", "exports": {".": "./index.js"}},
        {"type": "module", "exports": {"types": "./index.d.ts", "default": "./index.js"}},
        {"exports": {"import": "./index.js", "require": "./index.cjs"}},
        {"exports": {".": [{"node": "./n.cjs", "module": {"default": "./index.js"}}, "./c.cjs"]}},
        {"main": "index.cjs", "module": "./index.js"},
    ],
    ids=json.dumps,
)
def test_the_entry_is_what_a_bundler_would_take(
    tmp_path: Path, value: Value, manifest: dict[str, Any]
) -> None:
    files = {"index.js": "export const one = 1; export default 2;", "index.cjs": "broken("}
    modules = modules_from(package(tmp_path, files, **manifest))
    source = "import two, { one } from './pkg'; export default [one, two]"
    assert value(source, modules=modules) == [1, 2]


def test_subpaths_and_patterns_are_importable_as_the_package_exports_them(
    tmp_path: Path, value: Value
) -> None:
    files = {
        "dist/main.js": "export { deep } from './inner/deep.js'",
        "dist/inner/deep.js": "export const deep = 'deep'",
        "dist/features/x.js": "export default 'x'",
    }
    exports = {
        ".": "./dist/main.js",
        "./deep": {"import": "./dist/inner/deep.js"},
        "./features/*": "./dist/features/*.js",
        "./hidden": None,
        "./package.json": "./package.json",
    }
    modules = modules_from(package(tmp_path, files, name="@me/pkg", type="module", exports=exports))
    source = """
    import { deep } from './@me/pkg';
    import { deep as again } from './@me/pkg/deep';
    import x from './@me/pkg/features/x';
    export default [deep, again, x];
    """
    assert value(source, modules=modules) == ["deep", "deep", "x"]
    assert "./@me/pkg/hidden" not in modules


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ({}, "is a CommonJS package"),
        ({"exports": {"require": "./index.js"}}, "is a CommonJS package"),
        ({"exports": {".": None}}, "is a CommonJS package"),
        ({"type": "module", "main": "gone.js"}, "has no file gone.js"),
        ({"type": "module", "main": "../../outside.js"}, r"has no file \.\./\.\./outside.js"),
        ({"type": "module", "exports": "/etc/passwd"}, "has no file /etc/passwd"),
        ({"type": "module", "dependencies": {"left-pad": "1"}}, r"needs other packages \(left-pad\)"),
        ({"type": "module", "peerDependencies": {"react": "1"}}, r"needs other packages \(react\)"),
        ({"type": "module", "imports": {"#x": "./x.js"}}, "has imports that start with #"),
        ({"type": "module", "exports": {f"./{n}/*": "./*" for n in range(101)}}, "exports more than 100 patterns"),
        ({"type": "module", "exports": {".": "./index.js", "./other.js": "./index.js"}},
         "exports ./other.js as index.js, but has a file of that name"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_package_that_cannot_be_lent_is_refused_with_a_way_out(
    tmp_path: Path, manifest: dict[str, Any], says: str
) -> None:
    (tmp_path / "outside.js").write_text("export default 'outside'")
    made = package(tmp_path, {"index.js": "", "other.js": ""}, **manifest)
    with pytest.raises(OptionError, match=f"pkg {says}.*npx esbuild pkg --bundle") as refused:
        modules_from(made)
    assert refused.value.option == "modules"


def test_an_optional_peer_is_not_needed(tmp_path: Path) -> None:
    meta = {"react": {"optional": True}}
    made = package(
        tmp_path,
        {"index.js": ""},
        type="module",
        peerDependencies={"react": "1"},
        peerDependenciesMeta=meta,
    )
    assert "./pkg" in modules_from(made)


# ---------------------------------------------------------------------------- hostile folders


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"name": "../../x"}',
        '{"name": 7}',
        '{"name": "a b"}',
        '{"name": "."}',
    ],
    ids=lambda text: text[:20],
)
def test_a_package_json_that_makes_no_sense_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "package.json").write_text(text)
    with pytest.raises(
        OptionError, match=r"package.json (is not a JSON object|has no usable name)"
    ):
        modules_from(tmp_path)


def test_conditions_that_never_end_lead_nowhere(tmp_path: Path) -> None:
    nested: Any = "./index.js"
    for _ in range(400):
        nested = {"import": nested}
    made = package(tmp_path, {"index.js": ""}, type="module", exports=nested)
    with pytest.raises(OptionError, match="is a CommonJS package"):
        modules_from(made)


def test_a_link_in_a_package_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.js").write_text("export default 'secret'")
    made = package(tmp_path, {"index.js": ""}, type="module")
    (made / "secret.js").symlink_to(tmp_path / "secret.js")
    assert not [text for text in modules_from(made).values() if "'secret'" in text]


def test_a_package_that_is_too_large_is_refused(tmp_path: Path) -> None:
    made = package(tmp_path, {"index.js": ""}, type="module")
    with (made / "huge.js").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(
        OptionError, match="is too large to lend: its files have more than 33,554,432"
    ):
        modules_from(made)


def test_patterns_that_multiply_are_bounded(tmp_path: Path) -> None:
    files = {f"{number}.js": "" for number in range(150)}
    exports = {f"./{number}/*": "./*" for number in range(100)}
    with pytest.raises(OptionError, match="exports more than 5,000 modules"):
        modules_from(package(tmp_path, files, type="module", exports=exports))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere", "nowhere does not exist$"),
        ("emty", "emty does not exist; did you mean .*empty"),
        ("nowhere.js", "nowhere.js does not exist"),
        ("notes.txt", "notes.txt is not a package or a bundle"),
        ("binary.js", "binary.js is not UTF-8 text"),
        ("empty", "is not an installed npm package: it has no package.json"),
    ],
)
def test_what_is_neither_a_package_nor_a_bundle_is_refused(
    tmp_path: Path, name: str, says: str
) -> None:
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "binary.js").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").mkdir()
    with pytest.raises(OptionError, match=says):
        modules_from(tmp_path / name)
