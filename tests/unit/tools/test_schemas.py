"""Schemas that come from elsewhere: they are checked and spelled, and cannot be made to take long."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel.schemas import problem_with
from sandbox_kernel.tools.typescript import comment, declaration, type_of


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": ["string", "null"]}, [None, "x"], [1, True]),
        ({"const": 1}, [1], [True, "1"]),
        ({"enum": [True, "a"]}, [True, "a"], [1, "b"]),
        ({"minimum": 1, "maximum": 3}, [1, 2.5, 3, "text"], [0, 4]),
        ({"minLength": 2, "maxLength": 3}, ["ab", 1], ["a", "abcd"]),
        ({"items": {"type": "integer"}}, [[1, 2], [1.0]], [["a"], [1.5]]),
        ({"prefixItems": [{"type": "string"}], "items": False}, [["a"]], [[1], ["a", 1]]),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, ["a", 1], [None]),
        ({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{"a": 1, "b": 1}], [{"a": 1}]),
        ({"additionalProperties": {"type": "string"}}, [{"k": "v"}], [{"k": 1}]),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "null"}}}, [None], [0]),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "null"}}}, [None], [0]),
        ({}, [None, object(), float("nan")], []),
        ({"type": "number"}, [1, 1e308], [float("nan")]),
        ({"type": "integer"}, [1, 2.0, 10**400], [float("inf"), 1.5]),
        ({"type": "string"}, ["x"], [10**400]),
    ],
    ids=lambda given: str(given) if isinstance(given, dict) else "",
)
def test_what_fits_and_what_does_not(schema: Any, good: list[Any], bad: list[Any]) -> None:
    assert [problem_with(value, schema) for value in good] == [None] * len(good)
    assert all(problem_with(value, schema) for value in bad)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}] * 2},
        {"allOf": [{"$ref": "#"}] * 2},
        {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}, "type": "object"},
        {"anyOf": [{"anyOf": [{"$ref": "#"}] * 200}] * 200},
        {"$ref": "https://elsewhere.example/schema"},
        {"$ref": 3, "type": 3, "properties": 3, "required": 3, "enum": 3, "anyOf": 3, "items": 3},
        {"type": "object", "properties": {"a": "text"}, "required": [{}]},
        {"type": [["string"], {}]},
        {"pattern": "(a+)+$"},
    ],
    ids=lambda schema: str(schema)[:60],
)
def test_a_hostile_schema_ends_and_says_something(schema: Any) -> None:
    value: Any = {"a": {"a": {"a": {}}}}
    problem_with(value, schema)
    problem_with("a" * 40 + "b", schema)
    assert len(type_of(schema)) < 100_000


def test_no_text_of_a_schema_leaves_its_quotes() -> None:
    hostile = '"; evil(); //'
    schema = {"type": "object", "properties": {hostile: {"enum": [hostile, "`${x}`", "\n"]}}}
    assert type_of(schema) == ('{ "\\"; evil(); //"?: "\\"; evil(); //" | "`${x}`" | "\\n" }')
    made = declaration("f", schema, "unknown", "*/ evil() /*\n more")
    assert made.note == "/** *\\/ evil() /* */\n"


def test_a_description_is_one_short_clean_line() -> None:
    assert comment("\n\n  first\u202e line  \nsecond") == "first  line"
    assert len(comment("x" * 1000)) == 200
