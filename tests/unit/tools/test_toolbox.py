"""A toolbox: schemas, declarations, checked arguments, and calls from code."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import math
import sys
import types
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest

from sandbox_kernel import OptionError, run_code
from sandbox_kernel.capabilities import timers
from sandbox_kernel.tools import (
    ArgumentsError,
    RecursionRefusedError,
    Toolbox,
    UnknownToolError,
    plan_execution_tool,
    runs_code,
)


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Row(TypedDict):
    id: int
    note: NotRequired[str]


class Pair(NamedTuple):
    left: str
    right: str = ""


def draw(
    points: list[Point],
    color: Color = Color.RED,
    mode: Literal["fast", "slow"] = "fast",
    label: Annotated[str | None, "Shown above the picture."] = None,
    rows: list[Row] = [],  # noqa: B006  # what people write
    pair: Pair | None = None,
    size: tuple[int, int] = (1, 1),
    extra: dict[str, int] = {},  # noqa: B006  # what people write
    when: date | None = None,
) -> list[str]:
    """Draws points.

    And more."""
    return [repr(points), repr(color), mode, repr(pair), repr(size), repr(when)]


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


async def later(text: str) -> str:
    """Says it later."""
    await asyncio.sleep(0)
    return text


BOX = Toolbox([draw, add, later])


def dispatch(name: str, args: Any = None, box: Toolbox = BOX) -> Any:
    return asyncio.run(box.dispatch(name, args))


def test_annotations_docstrings_and_defaults_become_a_schema() -> None:
    schema = {each["name"]: each for each in BOX.schemas()}["draw"]
    assert schema["description"].startswith("Draws points.")
    properties = schema["parameters"]["properties"]
    assert properties["color"] == {"enum": ["red", "blue"], "default": "red"}
    assert properties["mode"] == {"enum": ["fast", "slow"], "default": "fast"}
    assert properties["label"]["description"] == "Shown above the picture."
    assert properties["rows"]["items"]["required"] == ["id"]
    assert properties["points"]["items"]["properties"]["y"] == {"type": "number"}
    assert schema["parameters"]["required"] == ["points"]
    json.dumps(schema)


def test_the_formats_of_openai_and_anthropic() -> None:
    box = Toolbox([add])
    (openai,), (anthropic,) = box.openai(), box.anthropic()
    assert (openai["type"], openai["function"]["name"]) == ("function", "add")
    assert anthropic["input_schema"] == openai["function"]["parameters"]


def test_declarations_are_typescript() -> None:
    box = Toolbox([add, later])
    assert box.declarations() == (
        "/** Adds two numbers. */\n"
        "declare function add(args: { a: number; b: number }): Promise<number>;\n"
        "/** Says it later. */\n"
        "declare function later(args: { text: string }): Promise<string>;"
    )
    assert 'declare module "tools" {\n  /** Adds two numbers. */\n  export function add(' in (
        box.declarations("tools")
    )


def test_a_name_that_typescript_cannot_declare_is_declared_as_what_code_calls() -> None:
    box = Toolbox({"delete": add, "add-up": add})
    line = "args: { a: number; b: number }): Promise<number>;"
    assert box.declarations().splitlines()[1::2] == [
        f'// callTool("delete", {line}',
        f'// callTool("add-up", {line}',
    ]


def test_a_whole_number_arrives_as_one_however_json_spells_it() -> None:
    def kind(n: int, several: list[int]) -> str:
        return f"{n!r} {several!r}"

    given = {"n": 3.0, "several": [4.0, 10**400]}
    assert dispatch("kind", given, Toolbox([kind])) == f"3 [4, {10**400}]"


def test_values_arrive_as_they_were_annotated() -> None:
    given = {
        "points": [{"x": 1}, {"x": 2, "y": 3}],
        "color": "blue",
        "pair": {"left": "a"},
        "size": [3, 4],
        "when": "2026-11-18",
    }
    assert dispatch("draw", given) == [
        "[Point(x=1, y=0.0), Point(x=2, y=3)]",
        "<Color.BLUE: 'blue'>",
        "fast",
        "Pair(left='a', right='')",
        "(3, 4)",
        "datetime.date(2026, 11, 18)",
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "a is missing"),
        ({"a": 1, "b": "2"}, r"b is a string \('2'\), not an integer"),
        ({"a": 1, "b": True}, r"b is a boolean \(True\), not an integer"),
        ({"a": 1, "b": 2.5}, "b is a number"),
        ({"a": 1, "b": 2, "c": 3}, "c is not known; known: a, b"),
        ([1, 2], "not an object"),
        ("a", "not an object"),
    ],
)
def test_arguments_that_do_not_fit_are_told_with_the_signature(args: Any, message: str) -> None:
    with pytest.raises(ArgumentsError, match=message) as caught:
        dispatch("add", args)
    assert "add(args: { a: number; b: number })" in str(caught.value)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"points": [{"y": 1}]}, r"points\[0\].x is missing"),
        ({"points": [], "color": "green"}, "color is 'green', not one of 'red', 'blue'"),
        ({"points": [], "size": [1]}, "size is below the minItems of 2"),
        ({"points": [], "extra": {"k": "v"}}, "extra.k is a string"),
        ({"points": [], "when": "soon"}, "a value it cannot use"),
    ],
)
def test_a_nested_problem_is_told_with_its_path(args: Any, message: str) -> None:
    with pytest.raises(ArgumentsError, match=message):
        dispatch("draw", args)


def test_an_unknown_name_names_the_nearest() -> None:
    with pytest.raises(UnknownToolError, match=r"no tool 'drow'; did you mean draw\?"):
        dispatch("drow")


class Itself:
    def positional(self, value: int, /) -> None: ...
    def many(self, *values: int) -> None: ...
    def impossible(self, value: types.ModuleType) -> None: ...
    def keyed(self, value: dict[int, str]) -> None: ...
    def yielding(self) -> Iterator[int]:
        yield 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Toolbox([add, add]), "two tools are called 'add'"),
        (lambda: Toolbox({"not a name": add}), "cannot be the name of a tool"),
        (lambda: Toolbox({"9": add}), "cannot be the name of a tool"),
        (lambda: Toolbox({"": add}), "cannot be the name of a tool"),
        (lambda: Toolbox(add), r"write Toolbox\(\[add\]\)"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: plan_execution_tool([add]), "takes a Toolbox"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: Toolbox([3]), "a tool is a function, not 3"),
        (lambda: Toolbox([Point]), "a tool is a function"),
        (lambda: Toolbox([timers()]), "a capability is lent to code, with lend="),
        (lambda: Toolbox([lambda: 1]), "cannot be the name of a tool"),
        (lambda: Toolbox([Itself().positional]), "has no name to be given by"),
        (lambda: Toolbox([Itself().many]), "has no name to be given by"),
        (lambda: Toolbox([Itself().impossible]), "which JSON has nothing for"),
        (lambda: Toolbox([Itself().keyed]), "the keys of JSON are strings"),
        (lambda: Toolbox([Itself().yielding]), "yields; return a list"),
    ],
)
def test_what_cannot_be_a_tool_is_refused(make: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()


def test_a_default_that_json_has_nothing_for_is_left_out_of_the_schema() -> None:
    def wait(seconds: float = math.inf, step: float = math.nan, times: int = 3) -> None: ...

    (schema,) = Toolbox([wait]).schemas()
    json.dumps(schema, allow_nan=False)
    properties = schema["parameters"]["properties"]
    assert ["default" in properties[name] for name in properties] == [False, False, True]
    assert schema["parameters"]["required"] == []


def test_a_function_without_annotations_takes_any_json_and_that_is_told() -> None:
    def anything(value):  # type: ignore[no-untyped-def]  # that is the point
        return value

    with pytest.warns(UserWarning, match="takes any JSON as value") as told:
        box = Toolbox([anything])
    assert told[0].filename == __file__
    assert dispatch("anything", {"value": [1, {"a": None}]}, box) == [1, {"a": None}]


def test_models_of_pydantic_have_their_own_schema_and_validation() -> None:
    """Recognised when loaded, by what makes them models; pydantic itself is not needed here."""

    class BaseModel:
        def __init__(self, value: Any) -> None:
            self.value = value

        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:
            inner = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
            return {"$ref": "#/$defs/Inner", "$defs": {"Inner": inner}}

        @classmethod
        def model_validate(cls, value: Any) -> BaseModel:
            return cls(value)

    class Order(BaseModel):
        pass

    def place(order: Order) -> Any:
        """Places it."""
        return type(order).__name__, order.value

    place.__annotations__ = {"order": Order}
    module = types.ModuleType("pydantic")
    module.BaseModel = BaseModel  # type: ignore[attr-defined]  # a module made here
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pydantic", module)
        box = Toolbox([place])
    assert dispatch("place", {"order": {"n": 1}}, box) == ("Order", {"n": 1})
    with pytest.raises(ArgumentsError, match=r"order\.n is missing"):
        dispatch("place", {"order": {}}, box)
    assert "order: { n: number }" in box.declarations()


# -- from code


def test_a_run_calls_tools_by_name_in_parallel_and_as_imports() -> None:
    source = """
    import { add, callTool, callToolsParallel } from 'tools';
    const two = await add({ a: 1, b: 1 });
    const three = await callTool('add', { a: two, b: 1 });
    const many = await callToolsParallel([['add', { a: 1, b: 2 }], ['later', { text: 'x' }]]);
    export default [two, three, many];
    """
    result = run_code(source, imports={"tools": BOX.exports()}).wait()
    assert result.result == [2, 3, [3, "x"]]


def test_a_misspelt_import_is_a_link_error_before_anything_ran() -> None:
    result = run_code("import { ad } from 'tools'", imports={"tools": BOX.exports()}).wait()
    assert result.status == "link_error"


def test_code_cannot_call_what_runs_code_by_any_name() -> None:
    @runs_code
    def calculator(code: str) -> str:
        """Runs code."""
        raise AssertionError("it ran")

    def execute_code(code: str) -> str:
        """Runs code."""
        raise AssertionError("it ran")

    box = Toolbox({"calculator": calculator, "harmless": execute_code, "run": run_code_like})
    for name in ("calculator", "harmless"):
        with pytest.raises(RecursionRefusedError, match="runs code"):
            asyncio.run(box.dispatch_from_code(name, {"code": "1"}))
        with pytest.raises(RecursionRefusedError):
            asyncio.run(box.dispatch_parallel([[name, {"code": "1"}]]))
        assert name not in box.exports()
        assert name not in box.declarations()


def run_code_like(source: str) -> str:
    """Not marked, and not ours."""
    return source


def test_our_own_functions_run_code_whatever_they_are_called() -> None:
    def simple(source: str) -> Any:
        """Calls."""

    simple.__module__ = "sandbox_kernel.run"
    with pytest.raises(RecursionRefusedError):
        asyncio.run(Toolbox({"calc": simple}).dispatch_from_code("calc", {"source": "1"}))


@pytest.mark.parametrize("calls", [None, "add", 7, [3], [["add"] * 3], [["add", {}]] * 1001])
def test_what_is_not_a_list_of_calls_is_refused(calls: Any) -> None:
    with pytest.raises(TypeError):
        asyncio.run(BOX.dispatch_parallel(calls))
