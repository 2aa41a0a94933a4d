"""JavaScript is a subset: erasing it changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_kernel.worker.typescript import prepare

# Every n-th file of each package; all of them were compared once.
SAMPLES = {
    "three/build": 1,
    "acorn/dist": 1,
    "lodash-es": 4,
    "rxjs/dist/esm": 6,
    "effect/dist/esm": 9,
}


@pytest.mark.parametrize("folder", SAMPLES)
def test_published_javascript_is_left_as_it_is(folder: str, packages: Path) -> None:
    scripts = [*(packages / folder).rglob("*.js"), *(packages / folder).rglob("*.mjs")]
    assert scripts
    for script in sorted(scripts)[:: SAMPLES[folder]]:
        source = script.read_text()
        assert prepare(source).text == source, script


@pytest.mark.parametrize(
    "source",
    [
        "import { unused } from 'x'",
        "import unused, * as all from 'x'; export { a } from 'y'",
        "a < b, c > d; f(a < b, c > d); a < b > c",
        "x\n(y)\n[z]\n`t`\n/r/g",
        "label: for (;;) { break label }",
        "class A { get; set; static; async; x = 1; #y; static { } 'z'() { } }",
        "type\nfoo = 1; abstract\nclass B {}",
        "let as = 1, satisfies = 2, type = 3; as; f(as, type); type.x = 1; satisfies++",
        "#!/usr/bin/env node\n\ufeffx",
        "\ufefflet x = 1",
        "a ? (b) : c => d; a ? (b, c) : d; ({ a: b ? c : d })",
        "async () => { for await (const x of y) ; }; a?.[b]?.(c) ?? d; 1_000n; /[/]/v",
        "export default class { } export { x as 'string name' }; import y from 'z' with { type: 'json' }",
        "if (a) b; else c\nwhile (0) ;\ndo x\nwhile (0)",
        "let x = a\n++b\nlet y = `${`${c}`}`",
        "",
        "\n\n",
        "// only a comment",
    ],
)
def test_javascript_is_left_as_it_is(source: str) -> None:
    assert prepare(source).text == source


def test_the_javascript_language_is_not_even_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_kernel.worker.typescript.pipeline.grammar", None)
    assert prepare("let x: number", language="javascript").text == "let x: number"
