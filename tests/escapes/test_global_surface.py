"""Everything a guest can reach, walked: the language, what was lent, and nothing besides."""

from __future__ import annotations

from tests.escapes.attack import attack, outcome

WALK = """
const seen = new Set(), functions = [], paths = [];
const later = [[console, 'console'], [report, 'report'], [bridge, 'bridge'],
  [import.meta, 'import.meta'], [await import('lent'), 'lent'], [bridge(), 'answer']];
const queue = [[globalThis, 'globalThis']];
while (queue.length || later.length) {
  if (!queue.length) queue.push(...later.splice(0));
  const [object, path] = queue.shift();
  if ((typeof object !== 'object' && typeof object !== 'function') || object === null || seen.has(object)) continue;
  seen.add(object);
  if (typeof object === 'function') functions.push(path);
  queue.push([Object.getPrototypeOf(object), path + '.__proto__']);
  for (const key of Reflect.ownKeys(object)) {
    const d = Reflect.getOwnPropertyDescriptor(object, key);
    queue.push([d.value, path + '.' + String(key)], [d.get, path + '.get ' + String(key)], [d.set, path + '.set ' + String(key)]);
  }
}
export default functions.filter((path) => !path.startsWith('globalThis.'));
"""

CONSOLE = {
    "assert", "clear", "count", "countReset", "debug", "dir", "error", "group", "groupCollapsed",
    "groupEnd", "info", "log", "table", "time", "timeEnd", "timeLog", "trace", "warn",
}  # fmt: skip


def test_beside_the_language_only_what_was_lent_can_be_called() -> None:
    reached = outcome(
        WALK,
        globals={"bridge": lambda: {"f": len}},
        imports={"lent": {"g": lambda: 1}},
        report=lambda value: None,
    )
    assert set(reached) - {f"console.{name}" for name in CONSOLE} == {
        "report", "bridge", "answer.f", "lent.g",
    }  # fmt: skip


ABSENT = [
    "process", "global", "window", "self", "document", "require", "module", "exports", "Deno", "Bun",
    "fetch", "Request", "Response", "URL", "URLSearchParams", "WebSocket", "WebAssembly", "crypto",
    "setTimeout", "setInterval", "setImmediate", "clearTimeout", "performance", "atob", "btoa",
    "TextEncoder", "TextDecoder", "SharedArrayBuffer", "Atomics", "eval", "InternalError", "std", "os",
    "bjson", "scriptArgs", "print", "load", "loadScript", "gc", "Worker", "navigator", "DOMException",
    "escape", "unescape", "native", "said", "attachments", "encode", "decode", "invoke", "console", "report",
]  # fmt: skip


def test_no_global_property_of_any_host() -> None:
    assert outcome(f"export default {ABSENT!r}.filter((name) => name in globalThis)") == []


def test_no_name_of_the_bootstrap_is_visible() -> None:
    names = ["native", "said", "attachments", "encode", "decode", "invoke", "pending", "lent", "settle",
             "ObjectPrototype", "stringify", "newMap", "put", "entry", "__dirname"]  # fmt: skip
    source = "export default [" + ",".join(f"typeof {name}" for name in names) + "]"
    assert outcome(source) == ["undefined"] * len(names)


def test_nothing_of_one_run_is_left_for_the_next() -> None:
    first = attack(
        "globalThis.left = 1; Object.prototype.left = 2; Array.prototype.map = null;"
        " bridge.left = 3; (await import('lent')).o.left = 4; console.left = 5; export default 1",
        globals={"bridge": lambda: 1},
        imports={"lent": {"o": {}}},
    )
    assert first.status == "success"
    assert outcome(
        "export default [typeof left, typeof {}.left, typeof [].map, typeof bridge.left,"
        " typeof (await import('lent')).o.left, typeof console.left]",
        globals={"bridge": lambda: 1},
        imports={"lent": {"o": {}}},
    ) == ["undefined", "undefined", "function", "undefined", "undefined", "undefined"]


def test_random_numbers_differ_between_runs() -> None:
    """Workers are copies of one realm; a seed copied with it would make every run alike."""
    drawn = [outcome("export default [Math.random(), Math.random()]") for _ in range(20)]
    assert len({number for pair in drawn for number in pair}) == 40


def test_numbers_have_no_text_that_the_guest_chose() -> None:
    """JSON.rawJSON would put any digits into what crosses, beyond what a number can be."""
    assert outcome("export default Object.getOwnPropertyNames(JSON).sort()") == [
        "parse",
        "stringify",
    ]
