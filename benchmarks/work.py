"""The programs to run, in the forms that peers understand, and the results they must give.

`module` is an ES module whose default export is the result; `script` is an expression; `python`
is the same work for the one peer that runs Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Program:
    """One program. `expect` is the summary of its result that every driver must report."""

    body: str
    result: str
    expect: Any = None
    python: str | None = None
    gives: str = "value"  # or objects, rich, bytes: some peers return those in another way
    language: str = "javascript"

    def forms(self) -> dict[str, Any]:
        wrapped = (
            f"(() => {{ {self.body}\nreturn {self.result}; }})()" if self.body else self.result
        )
        return {
            "module": f"{self.body}\nexport default {self.result};",
            "script": wrapped,
            "later": f"(async () => {{ {self.body}\nreturn {self.result}; }})()",
            "python": self.python,
            "gives": self.gives,
            "language": self.language,
        }


TRIVIAL = Program("", "1 + 1", 2, "1 + 1")

TYPED = Program(
    "",
    "((n: number): number => n + 1)(1 as number)",
    2,
    language="typescript",
)

COMPUTE = Program(
    """
    function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    const sieve = new Uint8Array(200000);
    let primes = 0;
    for (let i = 2; i < sieve.length; i++) {
      if (sieve[i]) continue;
      primes++;
      for (let j = i * 2; j < sieve.length; j += i) sieve[j] = 1;
    }
    const words = {};
    for (let i = 0; i < 50000; i++) { const k = 'w' + (i % 977); words[k] = (words[k] || 0) + 1; }
    """,
    "fib(23) + primes + Object.keys(words).length",
    28657 + 17984 + 977,
    """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
sieve = [0] * 200000
primes = 0
for i in range(2, 200000):
    if not sieve[i]:
        primes += 1
        for j in range(i * 2, 200000, i):
            sieve[j] = 1
words = {}
for i in range(50000):
    k = 'w' + str(i % 977)
    words[k] = words.get(k, 0) + 1
fib(23) + primes + len(words)
""",
)


def sync_calls(count: int) -> Program:
    return Program(
        f"let n = 0; for (let i = 0; i < {count}; i++) n = add(n);",
        "n",
        count,
        f"n = 0\nfor i in range({count}):\n    n = add(n)\nn",
    )


def async_calls(count: int) -> Program:
    return Program(
        f"const all = await Promise.all(Array.from({{ length: {count} }}, (_, i) => add(i)));",
        "all.reduce((a, b) => a + b, 0)",
        count * (count + 1) // 2,
        f"import asyncio\nall = await asyncio.gather(*[add(i) for i in range({count})])\nsum(all)",
    )


def objects(count: int) -> Program:
    """Returns plain objects, as JSON has them."""
    last = {"id": count - 1, "name": f"item {count - 1}", "ok": count % 2 == 1}
    return Program(
        "",
        f"Array.from({{ length: {count} }}, (_, i) => "
        "({ id: i, name: `item ${i}`, ok: i % 2 === 0 }))",
        [count, last],
        f"[{{'id': i, 'name': 'item ' + str(i), 'ok': i % 2 == 0}} for i in range({count})]",
        gives="objects",
    )


def rich_objects(count: int) -> Program:
    """Returns objects with values that JSON cannot represent."""
    return Program(
        "",
        f"Array.from({{ length: {count} }}, (_, i) => "
        "({ id: i, when: new Date(i * 1000), tags: new Set(['a', i]), none: undefined }))",
        [count, {"id": count - 1, "when": "date", "tags": "set", "none": None}],
        gives="rich",
    )


_MANY_FLOATS = "const data = new Float64Array(1_000_000).fill(1.5);"
FLOATS = Program(_MANY_FLOATS, "data", ["bytes", 8_000_000], gives="bytes")
FLOATS_KEPT = Program(_MANY_FLOATS, "data.length", 1_000_000)


def reports(count: int) -> Program:
    return Program(
        f"for (let i = 0; i < {count}; i++) report({{ i, square: i * i }});",
        "null",
        [count, {"i": count - 1, "square": (count - 1) ** 2}],
        f"for i in range({count}):\n    report({{'i': i, 'square': i * i}})",
    )


LOOP = Program("", "(() => { for (;;); })()", python="while True:\n    pass")
REGEX = Program("", "/^(a+)+$/.test('a'.repeat(60) + 'b')")
BUILTIN = Program("", "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)")


def source_of(kilobytes: int) -> Program:
    """Ordinary code of this size."""
    lines = [  # of about 102 characters each
        f"function part{at:06}(left, right) {{ const sum = left + right * 1{at:05}; "
        "return { sum, text: `${sum}` }; }"
        for at in range(kilobytes * 10)
    ]
    return Program("\n".join(lines), "1 + 1", 2)


_TYPED_PAGE = """
/**
 * One thing that is kept in a store, under an id of its own.
 */
interface Item#<T = unknown> extends Record<string, unknown> {
  readonly id: string;
  value: T | undefined;
  tags?: ReadonlyArray<string>;
}

/** Keeps items by id, and finds them by any of their properties. */
class Store#<T extends Item#> {
  private readonly items = new Map<string, T>();
  constructor(private readonly name: string, protected limit: number = 100) {}

  /**
   * Adds an item.
   *
   * @param item what to keep
   * @param options whether an item of the same id may be replaced
   */
  add(item: T, options: { replace?: boolean } = {}): this {
    if (this.items.has(item.id) && !options.replace) {
      throw new Error(`${this.name}: ${item.id} is there already`);
    }
    this.items.set(item.id, item as T);
    return this;
  }

  // Linear, which is fine for the sizes we have.
  find<K extends keyof T>(key: K, value: T[K]): T[] {
    return [...this.items.values()].filter((item: T): boolean => item[key] === value);
  }
}

// What the rest of the program uses.
const store# = new Store#<Item#<number>>("store").add({ id: "a", value: # });
const total#: number = store#.find("id", "a").reduce((sum, item) => sum + (item.value as number), 0)!;
"""
_PLAIN_PAGE = """
/** Keeps items by id, and finds them by any of their properties. */
class Store# {
  items = new Map();
  constructor(name, limit = 100) {
    this.name = name;
    this.limit = limit;
  }

  /**
   * Adds an item.
   *
   * @param item what to keep
   * @param options whether an item of the same id may be replaced
   */
  add(item, options = {}) {
    if (this.items.has(item.id) && !options.replace) {
      throw new Error(`${this.name}: ${item.id} is there already`);
    }
    this.items.set(item.id, item);
    return this;
  }

  // Linear, which is fine for the sizes we have.
  find(key, value) {
    return [...this.items.values()].filter((item) => item[key] === value);
  }
}

// What the rest of the program uses.
const store# = new Store#("store").add({ id: "a", value: # });
const total# = store#.find("id", "a").reduce((sum, item) => sum + item.value, 0);
"""


def _pages(page: str, lines: int) -> str:
    """Copies of a page, with different names, as many as make so many lines of TypeScript."""
    count = round(lines / _TYPED_PAGE.count("\n"))
    return "".join(page.replace("#", str(at)) for at in range(count))


def typed_lines(lines: int) -> Program:
    """TypeScript as people write it, with comments and with code without types."""
    return Program(_pages(_TYPED_PAGE, lines), "1 + 1", 2, language="typescript")


def plain_lines(lines: int) -> Program:
    """The same program as JavaScript."""
    return Program(_pages(_PLAIN_PAGE, lines), "1 + 1", 2)
