"""Text at its worst as every kind of name: it arrives as it is, or is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel.worker.failure import cut
from tests.escapes.attack import attack, outcome

TEXTS = {
    "nul": "\0",
    "nul_inside": "a\0b",
    "lone_high": "\ud800",
    "lone_low": "x\udfffy",
    "swapped": "\udc00\ud800",
    "pair": "\U0001f600",
    "escape": "\x1b[31m\x07",
    "separators": "\u2028\u2029",
    "newline": "a\nb\r\nc",
    "quotes": "\"'`\\",
    "brackets": '"],["x","Uint8Array",0]',
    "bidi": "\u202eabc\u202c",
    "huge": "n" * 1_000_000,
    "empty": "",
    "bom": "\ufeff",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_text_goes_there_and_back(kind: str) -> None:
    text = TEXTS[kind]
    received: list[Any] = []
    result = attack(
        """
take(text, { [text]: text }, new Map([[text, text]]), new Set([text]), [7n, text]);
report({ [text]: [text] }); report([7n, text]);
console.log(text, { [text]: text }); console.count(text);
const named = { [text]() {} }[text];
console.log(named); take(named);
export default [text, take(1) === text, text.length];
""",
        globals={"text": text, "take": lambda *args: received.append(args) or text},
        report=lambda value: None,
    )
    assert result.status == "success", result.error
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    assert result.result == [text, True, units]
    assert result.reports == [{text: [text]}, [7, text]]
    assert received[0][:2] == (text, {text: text})
    assert list(received[0][2].items()) == [(text, text)]
    assert received[0][3:] == ({text}, [7, text])
    assert received[1][0].name == text
    assert [log.args for log in result.logs[:2]] == [(text, {text: text}), (f"{text}: 1",)]
    shown = f"[Function: {text}]" if text else "[Function (anonymous)]"
    assert result.logs[2].args[0].text == shown


@pytest.mark.parametrize("kind", TEXTS)
def test_text_as_the_name_of_an_export(kind: str) -> None:
    result = attack("export default 1", execute={"fn": TEXTS[kind]})
    assert result.status == "link_error"
    assert result.error is not None
    assert result.error.message == cut(f"the module has no export '{TEXTS[kind]}'", 65_536)


RUNS = ("newline", "huge")  # sound programs that name what does not exist


@pytest.mark.parametrize("kind", TEXTS)
def test_text_as_source(kind: str) -> None:
    """Inside a string and as the whole source, in both languages."""
    for language in ("javascript", "typescript"):
        result = attack(TEXTS[kind], language=language)
        assert result.status == ("error" if kind in RUNS else "link_error"), (language, result)
        assert result.error is not None
        assert result.error.name != "SandboxCrash"
    if not set(TEXTS[kind]) & set('\n\r"\\'):
        assert outcome(f'export default "{TEXTS[kind]}"') == TEXTS[kind]


def test_names_of_functions_that_are_accessors() -> None:
    received: list[Any] = []
    outcome(
        """
const f = () => 1;
Object.defineProperty(f, 'name', { get() { throw 1 } });
const g = () => 1;
Object.defineProperty(g, 'name', { value: { toString() { throw 2 } } });
take(f, g, class { static name = 'n' }, Object.assign(() => 1));
export default 1;
""",
        globals={"take": lambda *args: received.extend(args)},
    )
    assert [f.name for f in received] == ["", "", "n", ""]
