"""Nothing that the sandbox emits becomes active content or a terminal escape, on any path."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox_kernel.clean import is_clean
from tests.clients import Client
from tests.markup import check_inert

EVIL = "<img src=x onerror=alert(1)>\\x1b[2J\\x1b]0;title\\x07\\u202egnp.exe\\r\\x9b31m\\ud800"
ALLOWED = {
    "text/plain",
    "text/html",
    "application/json",
    "application/vnd.jupyter.widget-view+json",
}

PATHS = {
    "result": f"export default '{EVIL}'",
    "nested result": f"export default {{ '{EVIL}': ['{EVIL}'] }}",
    "record": f"export default [{{ '{EVIL}': '{EVIL}' }}]",
    "map": f"new Map([['{EVIL}', new Set(['{EVIL}'])]])",
    "class name": f"const C = {{ ['{EVIL}']: class {{}} }}['{EVIL}']; new C()",
    "function name": f"({{ ['{EVIL}']() {{}} }})['{EVIL}']",
    "symbol": f"Symbol('{EVIL}')",
    "error as a value": f"new Error('{EVIL}')",
    "log": f"console.log('{EVIL}'); console.error('{EVIL}')",
    "log of a structure": f"console.log({{ '{EVIL}': '{EVIL}' }}, '%s', '{EVIL}')",
    "format": f"console.log('%s %o %c', '{EVIL}', '{EVIL}', '{EVIL}')",
    "table": f"console.table([{{ '{EVIL}': '{EVIL}' }}])",
    "group and count": f"console.group('{EVIL}'); console.count('{EVIL}'); console.trace('{EVIL}')",
    "thrown": f"throw new Error('{EVIL}')",
    "thrown name": f"const e = new Error('x'); e.name = '{EVIL}'; throw e",
    "thrown text": f"throw '{EVIL}'",
    "thrown stack": f"const e = new Error('x'); e.stack = '    at {EVIL} (cell-1.ts:1:1)'; throw e",
    "specifier": f"import '{EVIL}'",
    "rejection": f"Promise.reject(new Error('{EVIL}')); 1",
    "report": f"report('{EVIL}'); report({{ '{EVIL}': '{EVIL}' }}); 1",
    "long": "export default '<script>'.repeat(100000)",
    "bridge error": f"import {{ fail }} from 'evil'; fail('{EVIL}')",
    "bridge print": f"import {{ say }} from 'evil'; say('{EVIL}')",
}


@pytest.fixture(scope="module", autouse=True)
def bridge(kernel: Client) -> None:
    kernel.run(
        "%%bridge evil\ndef fail(x): raise ValueError(x)\ndef say(x): print(x)\n"
        "def back(x): return x"
    )


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return []


@pytest.mark.parametrize("path", PATHS)
def test_no_path_is_active(kernel: Client, path: str) -> None:
    done = kernel.run(PATHS[path])
    contents = [m["content"] for m in done.messages if m["msg_type"] != "execute_input"]
    for content in [*contents, done.content]:
        assert set(content.get("data", {})) <= ALLOWED or "comm_id" in content
        check_inert(content.get("data", {}).get("text/html", ""))
        for text in strings(content):
            assert is_clean(text), (path, text)
    if path not in ("long", "thrown stack"):
        assert "onerror" in json.dumps(contents), "the text itself is shown"


def test_inspection_of_hostile_values_is_clean(kernel: Client) -> None:
    kernel.run('%defaults --global evil={"k": "\\u001b[2J\\u202e"}')
    text = kernel.inspect("ev|il")
    assert text is not None
    assert is_clean(text)
    assert r"\x1B[2J\u202E" in text


def test_hostile_names_in_magics_come_back_clean(kernel: Client) -> None:
    done = kernel.run("%%runcode --\x1b[2J\u202e\n1")
    assert done.status == "error"
    assert is_clean(done.traceback)
