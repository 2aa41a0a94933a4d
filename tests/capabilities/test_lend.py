"""`lend=`: how capabilities reach a run, and what a guest can do to them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import OptionError, evaluate, open_code, run_code, run_many
from sandbox_kernel.capabilities import display, files, limited, timers, web
from sandbox_kernel.lending import lend
from sandbox_kernel.loans import Capability, Loan
from sandbox_kernel.options import CodeExecutionOptions
from sandbox_kernel.run import run_cell

WEB = "export default new URL('a', 'https://example.org/').href"


class Doubling:
    """A capability of a test's own."""

    name = "doubling"

    def loan(self, name: str) -> Loan:
        script = """(function (host) {
          const { double } = host;
          return { __proto__: null, '': { twice: (x) => double(x), host: undefined }, '/more': { four: 4 } };
        })"""
        exports = {"": ("twice",), "/more": ("four",)}
        return Loan(script, {"double": lambda x: x * 2}, exports, free=("twice",))

    def describe(self, name: str | None = None) -> str:
        return f"declare module '{name or self.name}' {{}}"


def test_a_capability_is_a_module_and_its_names_are_free() -> None:
    source = "import { twice as f } from 'doubling'; import { four } from 'doubling/more';"
    assert run_code(
        f"{source} export default [f(2), twice(3), four]", lend=[Doubling()]
    ).wait().unwrap() == [4, 6, 4]


@pytest.mark.parametrize("specifier", ["doubling", "node:doubling"])
def test_node_specifiers_reach_it(specifier: str) -> None:
    source = f"import {{ twice }} from '{specifier}'; export default twice(1)"
    assert run_code(source, lend=[Doubling()]).wait().unwrap() == 2


def test_a_mapping_gives_it_another_name() -> None:
    source = (
        "import { twice } from 'mine'; import { four } from 'mine/more'; export default twice(four)"
    )
    assert run_code(source, lend={"mine": Doubling()}).wait().unwrap() == 8


def test_one_capability_alone_needs_no_list() -> None:
    assert run_code(WEB, {"lend": web()}).wait().unwrap() == "https://example.org/a"


async def test_every_way_to_run_code_takes_it() -> None:
    href = "https://example.org/a"
    assert (await run_code(WEB, lend=[web()])).unwrap() == href
    assert (
        await evaluate("new URL('a', 'https://example.org/').href", lend=[web()])
    ).unwrap() == href
    assert (
        await run_cell("new URL('a', 'https://example.org/').href", {"lend": [web()]})
    ).unwrap() == href
    async with open_code(
        "export const href = () => new URL('https://a.org').href", lend=[web()]
    ) as module:
        assert await module.href() == "https://a.org/"


def test_many_runs_have_a_loan_each(tmp_path: Path) -> None:
    """Neither the overlay of another input nor what it has spent is there; `displays` are its own."""
    (tmp_path / "a.txt").write_text("a")
    source = """import fs from 'fs';
    export default async (n) => {
      await sleep(1); table([{ n }]); fs.appendFileSync('a.txt', n);
      return fs.readFileSync('a.txt', 'utf8');
    }"""
    lent = [files(tmp_path, "overlay"), limited(timers(), calls=1), display()]
    results = list(run_many(source, ["1", "2", "3"], lend=lent))
    assert [result.unwrap() for result in results] == ["a1", "a2", "a3"]
    assert [shown["text/plain"] for each in results for shown in each.displays] == [
        f"n\n{n}" for n in (1, 2, 3)
    ]


def test_the_inputs_of_a_batch_share_a_loan(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    source = """import fs from 'fs';
    export default (n) => { fs.appendFileSync('a.txt', n); return fs.readFileSync('a.txt', 'utf8') }"""
    lent = [limited(files(tmp_path, "overlay"), calls=4)]
    first, second, third = run_many(source, ["1", "2", "3"], lend=lent, isolate="batch", batch=3)
    assert (first.unwrap(), second.unwrap()) == ("a1", "a12")
    assert third.error is not None
    assert third.error.name == "LimitError"
    assert (tmp_path / "a.txt").read_text() == "a"


def test_a_global_of_the_callers_wins() -> None:
    source = "export default [URL, btoa('a')]"
    assert run_code(source, lend=[web()], globals={"URL": "mine"}).wait().unwrap() == [
        "mine",
        "YQ==",
    ]


def test_of_two_that_give_one_name_the_first_keeps_it() -> None:
    class Tripling(Doubling):
        def loan(self, name: str) -> Loan:
            return Loan(
                Doubling().loan(name).script,
                {"double": lambda x: x * 3},
                {"": ("twice",)},
                ("twice",),
            )

    source = "import * as b from 'b'; export default [twice(1), b.twice(1)]"
    assert run_code(source, lend={"a": Doubling(), "b": Tripling()}).wait().unwrap() == [2, 3]


def test_the_guest_declares_the_same_names_as_it_likes() -> None:
    assert run_code("const URL = 1; export default URL", lend=[web()]).wait().unwrap() == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([timers], "call it: timers"),
        ("fs", "must be a list of capabilities"),
        ([1], "not int"),
        ({"a": len}, "with imports="),
        ({"./a": web()}, "not a bare specifier"),
        ([web(), web()], "'web' twice"),
        ({1: web()}, "keys of lend must be strings"),
    ],
)
def test_what_cannot_be_lent_is_refused_with_what_to_write(given: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        run_code("", lend=given)


def test_a_module_that_is_lent_twice_is_refused() -> None:
    with pytest.raises(OptionError, match="'web' is lent twice"):
        run_code("", lend=[web()], imports={"web": {"f": len}})


def test_an_order_with_capabilities_is_plain_data() -> None:
    order, _ = lend(WEB, CodeExecutionOptions.of(lend=[web(), timers()]))
    assert pickle.loads(pickle.dumps(order)) == order
    assert type(order).unpack(order.pack()) == order._replace(attachments=())


def test_without_a_capability_none_of_its_names_exist() -> None:
    source = """export default ['URL', 'setTimeout', 'fetch', 'fs', 'crypto', 'atob', 'display']
      .filter((name) => name in globalThis)"""
    assert run_code(source).wait().unwrap() == []
    lent = run_code(source, lend=[web(), timers()]).wait()
    assert lent.unwrap() == []  # free identifiers are no properties of the global object


POISON = """
const targets = [];
for (const holder of [String, Array, RegExp, Number, Uint8Array, Map, Promise, Object, Function]) {
  for (const key of Reflect.ownKeys(holder.prototype)) if (key !== 'constructor') targets.push([holder.prototype, key]);
}
for (const holder of [Reflect, JSON, Math, String]) {
  for (const key of Object.getOwnPropertyNames(holder)) if (key !== 'prototype') targets.push([holder, key]);
}
const { defineProperty } = Object;
for (let i = 0; i < targets.length; i++) {
  try { defineProperty(targets[i][0], targets[i][1], { value: () => undefined, configurable: true }); } catch {}
}
"""


def test_a_guest_that_poisons_the_language_changes_nothing_for_urls() -> None:
    source = (
        POISON
        + """
    const url = new URL('https://user:pw@EXAMPLE.org:8080/a/../b?q=1 2#h');
    const text = new TextDecoder().decode(new TextEncoder().encode('é'));
    export default { href: url.href, q: url.searchParams.get('q'), text, b: atob(btoa('x')), id: crypto.randomUUID().length }
    """
    )
    found = run_code(source, lend=[web()]).wait().unwrap()
    assert found == {
        "href": "https://user:pw@example.org:8080/b?q=1%202#h",
        "q": "1 2",
        "text": "é",
        "b": "x",
        "id": 36,
    }


def test_timers_work_in_a_poisoned_realm() -> None:
    source = """
    Array.prototype.push = Map.prototype.get = Promise.prototype.then = Reflect.apply = () => { throw 1; };
    Object.defineProperty(Object.prototype, 'due', { set() { throw 2; }, get() { return 0; } });
    Object.defineProperty(Array.prototype, '0', { set() { throw 3; }, get() { return 4; } });
    let fired = 0;
    setTimeout(() => fired++, 1);
    setTimeout(() => fired++, 2);
    await sleep(20);
    export default fired"""
    assert run_code(source, lend=[timers()]).wait().unwrap() == 2


def test_what_the_shims_call_is_not_reachable() -> None:
    source = """
    import * as t from 'timers'; import * as w from 'web';
    const seen = new Set(); const found = [];
    const walk = (value, path) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
      seen.add(value);
      for (const key of Reflect.ownKeys(value)) {
        let next; try { next = value[key]; } catch { continue; }
        if (['wait', 'limit', 'utf8Decode', 'utf8Encode', 'viewOfBytes', 'uncurry', 'host', 'kit'].includes(key)) found.push(path + String(key));
        walk(next, path + String(key) + '.');
      }
      walk(Object.getPrototypeOf(value), path + '__proto__.');
    };
    walk(t, ''); walk(w, ''); walk(new URL('https://a.org').searchParams, ''); walk(globalThis, '');
    export default [seen.size > 300, found]"""
    assert run_code(source, lend=[timers(), web()]).wait().unwrap() == [True, []]


def test_stacks_show_only_the_guests_frames() -> None:
    source = "try { new URL('x') } catch (error) { globalThis.stack = error.stack } export default globalThis.stack"
    stack = run_code(source, lend=[web()]).wait().unwrap()
    assert "null" not in stack
    assert "<runCode>" in stack


def test_a_small_heap_ends_as_memory_not_as_a_crash() -> None:
    result = run_code("export default 1", lend=[web(), timers()], memory_limit_bytes=200_000).wait()
    assert result.status in ("memory", "success")


def test_limits_of_limited_count_host_calls() -> None:
    source = "export default [crypto.randomUUID().length, crypto.getRandomValues(new Uint8Array(2000)).length]"
    assert run_code(source, lend=[limited(web(), calls=2)]).wait().unwrap() == [36, 2000]
    assert run_code(source, lend=[limited(web(), calls=1)]).wait().status == "error"


def test_what_gives_nothing_gives_undefined(tmp_path: Path) -> None:
    """As in Node and browsers: a notebook shows a null, and shows no undefined."""
    source = """import fs from 'fs'; import later from 'fs/promises';
    const given = [
      fs.writeFileSync('a', 'b'), fs.appendFileSync('a', 'c'), fs.mkdirSync('d'), fs.copyFileSync('a', 'b'),
      fs.renameSync('a', 'c'), fs.accessSync('c'), fs.unlinkSync('c'), fs.rmSync('b'), await later.writeFile('a', 'b'),
      clearTimeout(setTimeout(() => {}, 1)), await sleep(1), table([{ a: 1 }]), chart({ mark: 'line', data: [1, 2] }),
      image({ width: 1, height: 1, data: new Uint8Array(4) }),
    ];
    export default [given.filter((each) => each !== undefined), fs.existsSync('a'), fs.existsSync('z')]"""
    lent: list[Capability] = [files(tmp_path, "overlay"), timers(), display()]
    assert run_code(source, lend=lent).wait().unwrap() == [[], True, False]


def test_describing_names_the_module_it_is_lent_as() -> None:
    assert "declare module 'timers'" in timers().describe()
    assert "declare module 'clock/promises'" in timers().describe("clock")
    assert "class URL" in web().describe()
