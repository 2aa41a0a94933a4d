"""Functions lent in answers: capped, and let go of when the guest can no longer reach them."""

from __future__ import annotations

import gc
import weakref
from typing import Any, ClassVar

from sandbox_kernel import run_code
from sandbox_kernel.bridges import MOST_FUNCTIONS


class File:
    """What `open` of many an API gives."""

    living: ClassVar[weakref.WeakSet[File]] = weakref.WeakSet()

    def __init__(self) -> None:
        self.living.add(self)

    def read(self) -> str:
        return "text"


def opened() -> dict[str, Any]:
    return {"read": File().read}


def test_functions_that_the_guest_drops_are_let_go_of() -> None:
    source = """
    for (let i = 0; i < 2000; i++) {
      if (open().read() !== 'text') throw 1;
      if (i % 50 === 0) await null; // finalizers are jobs
    }
    count();
    """
    counts: list[int] = []

    def count() -> None:
        gc.collect()
        counts.append(len(File.living))

    result = run_code(source + "; export default 1", globals={"open": opened, "count": count}).wait(
        60
    )
    assert (result.status, result.error) == ("success", None)
    assert counts[0] < 200


def test_functions_that_the_guest_keeps_stay_callable() -> None:
    source = """
    const kept = [];
    for (let i = 0; i < 300; i++) kept.push(open()), open();
    export default kept.map((file) => file.read()).every((text) => text === 'text')
    """
    assert run_code(source, globals={"open": opened}).wait(60).result is True


def test_a_function_lent_twice_stays_while_one_place_is_left() -> None:
    def same() -> str:
        return "same"

    source = """
    const first = give();
    for (let i = 0; i < 300; i++) give();
    export default first()
    """
    assert run_code(source, globals={"give": lambda: same}).wait(60).result == "same"


def test_more_functions_than_the_cap_are_refused_to_the_guest() -> None:
    source = """
    const kept = [];
    try { for (;;) kept.push(open()) } catch (error) { kept.push(error.message) }
    export default [kept.length, kept.at(-1)]
    """
    options = {"globals": {"open": lambda: [lambda n=n: n for n in range(999)]}}
    result = run_code(source, options, memory_limit_bytes=256 * 2**20).wait(60)
    assert result.status == "success", result.error
    count, message = result.result
    assert count <= MOST_FUNCTIONS // 999 + 2
    assert message.endswith(f"a run can be lent at most {MOST_FUNCTIONS:,} functions")
