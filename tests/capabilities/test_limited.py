"""`limited` and `checked`: budgets and types of bridges, for each run anew."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from typing import Any, Literal, NamedTuple, TypedDict

import pytest

from sandbox_kernel import OptionError, SerializationError, run_code
from sandbox_kernel.capabilities import checked, limited, timers
from sandbox_kernel.errors import LimitError
from sandbox_kernel.permissions import Policy
from sandbox_kernel.tools import Toolbox

CAUGHT = "const caught = (f) => { try { return f(); } catch (e) { return `${e.name}: ${e.message}`; } };\n"


def twice(x: int) -> int:
    return x * 2


class Named(NamedTuple):
    function: Any


def test_over_the_number_of_calls_the_guest_gets_an_error_it_can_catch() -> None:
    source = (
        CAUGHT
        + "import { twice } from 'm'; export default [1, 2, 3].map((x) => caught(() => twice(x)))"
    )
    result = run_code(source, imports={"m": limited({"twice": twice}, calls=2)}).wait()
    assert result.result == [2, 4, "LimitError: the 2 calls that this run was lent are used up"]


def test_all_functions_share_the_budget() -> None:
    source = CAUGHT + "import { a, b } from 'm'; export default [caught(a), caught(b), caught(a)]"
    box = limited({"a": lambda: 1, "b": lambda: 2}, calls=2)
    result = run_code(source, lend={"m": box}).wait().result
    assert result[:2] == [1, 2]
    assert "used up" in result[2]


def test_a_gate_does_not_change_what_is_counted() -> None:
    tools = limited(Toolbox([twice]).exports(), calls=2)
    source = """import { callTool, twice } from 'tools'; const said = [];
    for (const call of [() => callTool('twice', { x: 1 }), () => twice({ x: 2 }), () => callTool('twice', { x: 3 })]) {
      said.push(await call().catch((error) => error.name));
    }
    export default said"""
    policy = Policy({"twice": "allow"})
    result = run_code(source, imports={"tools": tools}, policy=policy).wait()
    assert result.unwrap() == [2, 4, "LimitError"]


@pytest.mark.parametrize("how", ["imports", "lend"])
def test_each_run_has_a_budget_of_its_own(how: str) -> None:
    box = limited({"twice": twice}, calls=1)
    source = "import { twice } from 'm'; export default twice(2)"
    for _ in range(3):
        given: dict[str, Any] = {how: {"m": box}}
        assert run_code(source, **given).wait().unwrap() == 4


@pytest.mark.parametrize("how", ["globals", "imports"])
def test_a_global_or_an_export_is_limited_for_each_run_anew(how: str) -> None:
    source = CAUGHT + "export default [caught(() => m.twice(1)), caught(() => m.twice(2))]"
    box = limited({"twice": twice}, calls=1)
    options: dict[str, Any] = {"globals": {"m": box}}
    if how == "imports":
        source, options = "import { m } from 'shop';" + source, {"imports": {"shop": {"m": box}}}
    for _ in range(2):
        first, second = run_code(source, options).wait().unwrap()
        assert first == 2
        assert "used up" in second


@pytest.mark.parametrize("how", ["imports", "lend"])
def test_functions_that_lie_deeper_are_limited_too(how: str) -> None:
    source = (
        CAUGHT
        + "import { db, list, N } from 'm'; export default [db.twice(N), caught(() => list[0](1))]"
    )
    box = limited({"db": {"twice": twice}, "list": [twice], "N": 4}, calls=1)
    options: dict[str, Any] = {how: {"m": box}}
    first, second = run_code(source, options).wait().unwrap()
    assert first == 8
    assert "used up" in second


@pytest.mark.parametrize(
    "given", [Named(twice), deque([twice]), {1: twice}.values()], ids=["tuple", "deque", "values"]
)
def test_functions_that_could_not_be_counted_are_refused(given: Any) -> None:
    with pytest.raises(OptionError, match="limited cannot count functions in a"):
        run_code("export default 1", imports={"m": limited({"x": given}, calls=1)})


def test_data_and_what_cannot_cross_is_left_to_the_run() -> None:
    source = "import { day, list } from 'm'; export default [day.getTime(), list]"
    box = limited({"day": datetime(1970, 1, 1, tzinfo=UTC), "list": deque([1])}, calls=1)
    assert run_code(source, imports={"m": box}).wait().unwrap() == [0, [1]]
    with pytest.raises(SerializationError, match=r"imports\['m'\]\.x"):
        run_code(source, imports={"m": limited({"x": object()}, calls=1)})


def test_read_as_a_mapping_it_counts_for_as_long_as_it_lives() -> None:
    """Nowhere are functions to be had that do not count."""
    source = "export default (boxes) => boxes[0].twice(1)"
    box = limited({"twice": twice}, calls=2)
    results = [run_code(source, execute={"args": [[box]]}).wait() for _ in range(3)]
    assert [result.status for result in results] == ["success", "success", "error"]
    with pytest.raises(LimitError):
        box["twice"](1)


async def test_tools_can_be_limited() -> None:
    tools = Toolbox(limited({"twice": twice}, calls=1))
    assert await tools.dispatch("twice", {"x": 4}) == 8
    with pytest.raises(LimitError, match="used up"):
        await tools.dispatch("twice", {"x": 4})


@pytest.mark.parametrize("how", ["imports", "globals"])
def test_a_limited_capability_is_no_mapping_of_functions(how: str) -> None:
    with pytest.raises(OptionError, match="lent with lend="):
        run_code("export default 1", {how: {"t": limited(timers(), calls=1)}})


def test_more_than_so_many_calls_in_a_second_are_refused() -> None:
    source = CAUGHT + "import { f } from 'm'; export default [1, 2, 3].map(() => caught(f))"
    result = run_code(source, lend={"m": limited({"f": lambda: 1}, per_second=2)}).wait().result
    assert result == [1, 1, "LimitError: more than 2 calls within a second"]


async def test_more_calls_at_once_wait_for_a_place() -> None:
    most = running = 0

    async def work() -> int:
        nonlocal most, running
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return 1

    source = (
        "import { work } from 'm'; export default await Promise.all([1,2,3,4,5].map(() => work()))"
    )
    result = await run_code(source, lend={"m": limited({"work": work}, at_once=2)})
    assert result.unwrap() == [1] * 5
    assert most == 2


def test_a_capability_can_be_limited() -> None:
    source = "for (let i = 0; i < 10; i++) await sleep(0); export default 1"
    assert run_code(source, lend=[timers()]).wait().unwrap() == 1
    result = run_code(source, lend=[limited(timers(), calls=5)]).wait()
    assert result.status == "error"
    assert result.error is not None


def test_calls_that_wait_for_a_place_end_with_their_run(recwarn: pytest.WarningsRecorder) -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    source = "import { forever } from 'm'; for (let i = 0; i < 4; i++) forever(); export default 1"
    assert (
        run_code(source, lend={"m": limited({"forever": forever}, at_once=1)}).wait().unwrap() == 1
    )
    assert not recwarn.list


@pytest.mark.parametrize(
    "given", [{}, {"calls": 0}, {"calls": 1.5}, {"per_second": -1}, {"at_once": True}]
)
def test_limits_that_are_none_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        limited({"f": twice}, **given)


def test_a_function_alone_is_refused_with_what_to_write() -> None:
    with pytest.raises(OptionError, match=r"write \{'twice': twice\}"):
        limited(twice, calls=1)


def test_limited_functions_have_no_name_of_their_own() -> None:
    with pytest.raises(OptionError, match="has no name here"):
        run_code("", lend=[limited({"f": twice}, calls=1)])


# -- checked


class Unit(Enum):
    METRE = "m"
    FOOT = "ft"


@dataclass
class Point:
    x: float
    y: float = 0.0


class Person(TypedDict):
    name: str


def run(function: Any, call: str) -> Any:
    source = CAUGHT + f"import {{ f }} from 'm'; export default caught(() => f({call}))"
    return run_code(source, imports={"m": {"f": checked(function)}}).wait().unwrap()


def add(a: int, b: int = 1) -> int:
    return a + b


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("1, 2", 3),
        ("1", 2),
        ("1, undefined", 2),
        ("undefined, 1", "a is"),
        ("'1'", "a is a string"),
        ("true", "a is a boolean"),
        ("1.5", "a is a number"),
        ("1, 2, 3", "takes at most 2 arguments, not 3"),
        ("", "was called without a"),
        ("null", "a is null"),
    ],
)
def test_arguments_are_what_the_annotations_say(call: str, expected: Any) -> None:
    found = run(add, call)
    if isinstance(expected, str):
        assert found.startswith("TypeError: add(a: ")
        assert expected in found
    else:
        assert found == expected


def test_plain_data_becomes_what_is_annotated() -> None:
    def use(point: Point, unit: Unit, day: date, mode: Literal["r", "w"]) -> list[str]:
        return [type(point).__name__, unit.name, day.isoformat(), mode]

    assert run(use, "{x: 1}, 'ft', '2026-11-18', 'w'") == ["Point", "FOOT", "2026-11-18", "w"]
    assert "point.z is not known" in run(use, "{x: 1, z: 2}, 'ft', '2026-11-18', 'w'")
    assert "not one of 'r', 'w'" in run(use, "{x: 1}, 'ft', '2026-11-18', 'x'")
    assert "cannot be used" in run(use, "{x: 1}, 'ft', '2026-02-30', 'r'")


def test_what_json_has_nothing_for_is_checked_by_its_class() -> None:
    def size(data: bytes, when: datetime) -> list[Any]:
        return [len(data), when.year]

    assert run(size, "new Uint8Array(3), new Date(0)") == [3, 1970]
    assert "data is str, not bytes" in run(size, "'abc', new Date(0)")


def test_what_is_not_annotated_or_is_anything_takes_anything() -> None:
    def show(bare, anything: Any, thing: object) -> list[str]:  # type: ignore[no-untyped-def]  # the case
        return [repr(bare), repr(anything), repr(thing)]

    assert run(show, "1, 'a', null") == ["1", "'a'", "None"]


def test_an_object_with_the_fields_of_a_typed_dict_is_one() -> None:
    def name(person: Person) -> str:
        return person["name"]

    assert run(name, "{name: 'Ada'}") == "Ada"
    assert "person.name is an integer (1), not a string" in run(name, "{name: 1}")


def test_a_set_is_checked_like_an_array() -> None:
    def total(numbers: set[int]) -> int:
        return sum(numbers)

    assert run(total, "new Set([1, 2, 2])") == run(total, "[1, 2, 2]") == 3
    assert "numbers[0] is a string ('a'), not an integer" in run(total, "new Set(['a'])")


def test_each_alternative_that_does_not_fit_is_told() -> None:
    def use(value: int | str) -> None: ...

    wrong = "value is a boolean (True), not an integer and value is a boolean (True), not a string"
    assert wrong in run(use, "true")


async def test_an_async_function_stays_one() -> None:
    @checked
    async def later(x: int) -> int:
        return x

    source = "import { later } from 'm'; export default await later(1).then((x) => x + 1)"
    assert (await run_code(source, imports={"m": {"later": later}})).unwrap() == 2


def test_a_function_that_guests_cannot_call_is_refused() -> None:
    def named(*, key: str) -> None: ...

    with pytest.raises(OptionError, match="by name"):
        checked(named)
    with pytest.raises(OptionError):
        checked(Point)
