"""`web()`: URLs as Node.js parses them, text, Base64, randomness."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.capabilities import web
from tests.capabilities.urls import CASES, PARSE, SETTERS


def run(source: str, **given: Any) -> Any:
    return run_code(source, lend=[web()], **given).wait(60).unwrap()


def here() -> Any:
    source = f"{PARSE} export default parse(cases, setters)"
    return run(source, globals={"cases": CASES, "setters": SETTERS})


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here")
def test_urls_are_parsed_and_set_as_in_node() -> None:
    code = f"{PARSE} console.log(JSON.stringify(parse(...JSON.parse(process.argv[1]))))"
    command = ["node", "-e", code, json.dumps([CASES, SETTERS])]
    spoken = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    theirs, ours = json.loads(spoken), here()
    cases = [*CASES, *SETTERS]
    both = zip(cases, [*ours[0], *ours[1]], [*theirs[0], *theirs[1]], strict=True)
    assert [each for each in both if each[1] != each[2]] == []


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"),
        ("http://ＥＸＡＭＰＬＥ。org/", "example.org"),
        ("http://user@evil@example.org/", "example.org"),
        ("http://example.org\\@evil.org/", "example.org"),
    ],
)
def test_spellings_of_a_host_become_one(url: str, host: str) -> None:
    assert run(f"export default new URL({json.dumps(url)}).hostname") == host


def test_search_params() -> None:
    source = """
    const p = new URLSearchParams('?b=2&a=1&b=3&c=%20x+y');
    const url = new URL('https://a.org/?x=1'); const before = url.searchParams; before.append('y', 'é&=');
    before.delete('x'); url.search = '?z=9'; const after = before.get('z');
    const q = new URLSearchParams({ k: 'v w' }); q.append('k', '2'); q.set('k', '3'); q.append('l', '');
    p.sort();
    export default { all: [...p], b: p.getAll('b'), has: [p.has('b', '3'), p.has('b', '4')], text: p.toString(), size: p.size,
      href: url.href, after, q: q + '', keys: [...q.keys()], values: [...q.values()],
      pairs: new URLSearchParams([['a', 'b'], ['a', 'c']]).toString(), none: p.get('nope') }"""
    assert run(source) == {
        "all": [["a", "1"], ["b", "2"], ["b", "3"], ["c", " x y"]],
        "b": ["2", "3"],
        "has": [True, False],
        "text": "a=1&b=2&b=3&c=+x+y",
        "size": 4,
        "href": "https://a.org/?z=9",
        "after": "9",
        "q": "k=3&l=",
        "keys": ["k", "l"],
        "values": ["3", ""],
        "pairs": "a=b&a=c",
        "none": None,
    }


def test_an_invalid_url_is_a_type_error_with_nodes_code() -> None:
    source = "try { new URL('nope') } catch (e) { globalThis.e = [e.name, e.message, e.code, e.input] } export default globalThis.e"
    assert run(source) == ["TypeError", "Invalid URL", "ERR_INVALID_URL", "nope"]
    assert run("export default [URL.canParse('x:y'), URL.canParse('x'), URL.parse('x')]") == [
        True,
        False,
        None,
    ]


@pytest.mark.parametrize(
    "text", ["", "plain", "é€😀", "\u0000\uffff", "\ud800x", "a\udc00", "\ufeffBOM"]
)
def test_text_becomes_bytes_and_text_again(text: str) -> None:
    source = "export default [new TextEncoder().encode(t), new TextDecoder('utf8', { ignoreBOM: true }).decode(new TextEncoder().encode(t))]"
    encoded, decoded = run(source, globals={"t": text})
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert bytes(encoded) == expected.encode()
    assert decoded == expected


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"\xc3",
        b"a\xe2\x82b",
        b"\xf0\x9f\x98",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xf5\x80\x80\x80",
        b"\xe2\x28\xa1",
    ],
)
def test_broken_bytes_are_replaced_or_refused(data: bytes) -> None:
    assert run("export default new TextDecoder().decode(d)", globals={"d": data}) == data.decode(
        "utf-8", "replace"
    )
    source = "try { new TextDecoder('utf-8', { fatal: true }).decode(d) } catch (e) { globalThis.e = e.name } export default globalThis.e"
    assert run(source, globals={"d": data}) == "TypeError"


def test_streamed_bytes_may_be_cut_anywhere() -> None:
    text = "aé€😀z"
    source = """export default cuts.map(([a, b]) => { const d = new TextDecoder(); return d.decode(a, { stream: true }) + d.decode(b, { stream: true }) + d.decode() })"""
    data = text.encode()
    cuts = [[data[:at], data[at:]] for at in range(len(data) + 1)]
    assert run(source, globals={"cuts": cuts}) == [text] * len(cuts)


def test_other_encodings() -> None:
    assert (
        run(
            "export default new TextDecoder('UTF-16').decode(d)",
            globals={"d": "hé😀".encode("utf-16-le")},
        )
        == "hé😀"
    )
    assert run("export default new TextDecoder().decode(d)", globals={"d": b"\xef\xbb\xbfx"}) == "x"
    result = run_code("new TextDecoder('koi8-r')", lend=[web()]).wait()
    assert result.error is not None
    assert result.error.name == "RangeError"


def test_views_are_decoded_where_they_begin() -> None:
    source = """const b = new TextEncoder().encode('abcdef').buffer; const d = new TextDecoder();
    export default [d.decode(b), d.decode(new DataView(b, 1, 2)), d.decode(new Uint16Array(b, 2, 1)), d.decode()]"""
    assert run(source) == ["abcdef", "bc", "cd", ""]


def test_base64() -> None:
    source = """const fails = (f) => { try { f(); return 'no error'; } catch (e) { return e.name; } };
    export default [btoa(''), btoa('a'), btoa('ab'), btoa('abc'), btoa('\\xff'), atob(' YW Jj\\n'), atob('YQ'), atob('YQ=='),
      ...['€'].map((t) => fails(() => btoa(t))), ...['A', 'A===', '=', 'a-b_', 'YQ=a'].map((t) => fails(() => atob(t)))]"""
    bad = "InvalidCharacterError"
    assert run(source) == [
        "",
        "YQ==",
        "YWI=",
        "YWJj",
        "/w==",
        "abc",
        "a",
        "a",
        bad,
        bad,
        bad,
        bad,
        bad,
        bad,
    ]


def test_randomness_is_the_hosts() -> None:
    source = """const ids = new Set(); for (let i = 0; i < 200; i++) ids.add(crypto.randomUUID());
    export default [[...ids], [...crypto.getRandomValues(new Uint8Array(64))], crypto.getRandomValues(new Uint32Array(9000)).length]"""
    ids, first, count = run(source)
    assert len(ids) == 200
    assert all(each[14] == "4" and each[19] in "89ab" and len(each) == 36 for each in ids)
    assert count == 9000
    assert first != run(source)[1]


@pytest.mark.parametrize(
    "given",
    [
        "new Float64Array(1)",
        "[1, 2]",
        "new Uint8Array(65537)",
        "undefined",
        "new DataView(new ArrayBuffer(2))",
    ],
)
def test_random_values_go_into_small_arrays_of_integers_only(given: str) -> None:
    assert run_code(f"crypto.getRandomValues({given})", lend=[web()]).wait().status == "error"
