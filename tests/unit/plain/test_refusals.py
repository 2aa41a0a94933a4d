"""What cannot cross is refused with the path to it and what to write instead; every walk ends."""

from __future__ import annotations

import collections
import dataclasses
import fractions
import functools
import io
import re
import types
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sandbox_kernel import Opaque, OptionError, SerializationError, run_code
from sandbox_kernel.plain import bounded


class Plain:
    """An object of one's own class."""


class Raising(Mapping[str, int]):
    """A mapping whose items cannot be read."""

    def __getitem__(self, key: str) -> int:
        raise RuntimeError("the database is gone")

    def __iter__(self) -> Iterator[str]:
        return iter(("a", "b"))

    def __len__(self) -> int:
        return 2


@dataclasses.dataclass
class HalfMade:
    name: str
    total: int = dataclasses.field(init=False)


class Model:
    def model_dump(self) -> dict[str, int]:
        return {}


class DataFrame:
    """Of another library: iterating it gives its columns."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[list[int]]:
        return iter([[1]])

    def to_dicts(self) -> list[dict[str, int]]:
        return []


def needs_keyword(a: int, *, b: int) -> int:
    return a + b


class Calling:
    def __call__(self, *, flag: bool) -> bool:
        return flag

    def method(self, a: int, *, b: int, c: int = 1) -> int:
        return a + b + c


BIG = 2**63
REFUSED: dict[str, tuple[Any, str, str]] = {  # the value, the path beneath it, what the reason has
    "naive": (datetime(2024, 1, 1), "", "add one, such as replace(tzinfo=UTC), or give run_code the option naive='utc'"),
    "class": (dict, "", "the class dict cannot cross into the sandbox; pass a function that uses it"),
    "metaclass": (collections.abc.Sized, "", "the class Sized cannot cross"),
    "own": ([{"x": Plain()}], "[0].x", "pass a dict, or make its class a dataclass"),
    "generator": ((n for n in "abc"), "", "pass list(…) of it"),
    "map": (map(str, []), "", "pass list(…) of it"),
    "module": (types, "", "pass a dict of its functions"),
    "complex": (1j, "", "pass its .real and .imag"),
    "fraction": (fractions.Fraction(1, 3), "", "pass float(…) or str(…) of it"),
    "pattern": (re.compile("a"), "", "pass its .pattern"),
    "file": (io.BytesIO(), "", "pass what its read() gives"),
    "opaque": (Opaque("X", "[X]"), "", "return plain data from the script"),
    "model": (Model(), "", "pass its model_dump()"),
    "other_frame": (DataFrame(), "", "pass its to_dicts()"),
    "in_set": ({frozenset({Plain})}, "<member 0><member 0>", "the class Plain cannot cross"),
    "in_map": ({1: Plain}, "<value 0>", "the class Plain cannot cross"),
    "raising": ({"a": Raising()}, ".a", "raised RuntimeError: the database is gone; pass a dict of what the sandbox needs"),
    "half_made": ([HalfMade("x")], "[0]", "raised AttributeError"),
    "complex_array": (np.array([1j]), "", "pass the arrays .real and .imag"),
    "frame_cell": (pd.DataFrame({"a": [1, 2], "at": ["x", Plain()]}), "[1].at", "pass a dict"),
    "frame_date": (pd.DataFrame({"at": pd.Series([datetime(2024, 1, 1)], dtype=object)}), "[0].at", "naive='utc'"),
    "frame_odd": (pd.DataFrame({"a b": [Plain()]}), "[0]['a b']", "pass a dict"),
    "levels": (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "", "flatten them first"),
    "twice": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "", "two of its columns are called 'a'; rename one"),
    "twice_arrow": (pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"]), "", "two of its columns are called 'a'"),
    "interval": (pd.interval_range(0, 1), "[0]", "pass its .left and .right"),
    "struct": (memoryview(b"12345678").cast("B").cast("P"), "", "pass a list"),
    "keyword": ({"f": needs_keyword}, ".f", "cannot pass b of needs_keyword by keyword; pass a function that takes everything by position, such as lambda a, b: needs_keyword(a, b=b)"),
    "keyword_partial": (functools.partial(needs_keyword, 1), "", "cannot pass b of"),
    "keyword_method": (Calling().method, "", "such as lambda a, b: method(a, b=b)"),
    "keyword_object": (Calling(), "", "cannot pass flag of"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refusal_names_the_path_and_ends_with_advice(kind: str) -> None:
    value, path, reason = REFUSED[kind]
    with pytest.raises(SerializationError) as caught:
        run_code("export default 1", globals={"lent": value})
    assert caught.value.path == "globals.lent" + path
    assert reason in caught.value.reason
    assert str(caught.value) == f"{caught.value.path}: {caught.value.reason}"


@pytest.mark.parametrize(
    "function",
    [
        functools.partial(needs_keyword, b=1),
        lambda a, *, b=2: a + b,
        lambda *args, **named: args[0] + 1,
        int.__add__,
        max,
    ],
)
def test_keyword_arguments_that_need_not_be_given_are_fine(function: Any) -> None:
    run_code("export default 1", globals={"f": function}).terminate()


def test_what_raised_is_the_cause() -> None:
    with pytest.raises(SerializationError) as caught:
        run_code("export default 1", globals={"lent": Raising()})
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_bridge_that_returns_what_cannot_cross_throws_with_the_path() -> None:
    source = "try { get() } catch (error) { report([error.name, error.message]) }  export default 1"
    result = run_code(
        source, globals={"get": lambda: [{"x": Plain()}]}, report=lambda value: None
    ).wait()
    [[name, message]] = result.reports
    assert name == "SerializationError"
    assert message.startswith("return value[0].x: a value of type ")
    assert message.endswith("pass a dict, or make its class a dataclass")


class Endless(Mapping[str, Any]):
    """A mapping whose iteration never ends, whatever it says of its length."""

    def __init__(self, says: int, value: Any = 1) -> None:
        self.says = says
        self.value = value

    def __getitem__(self, key: str) -> Any:
        return self.value

    def __iter__(self) -> Iterator[str]:
        count = 0
        while True:
            yield f"k{count}"
            count += 1

    def __len__(self) -> int:
        return self.says


class EndlessItems:
    def __init__(self, says: int) -> None:
        self.says = says

    def __len__(self) -> int:
        return self.says

    def __iter__(self) -> Iterator[int]:
        while True:
            yield 1


class Deeper(Mapping[str, Any]):
    """Each of its values is another one, made as it is read."""

    def __getitem__(self, key: str) -> Any:
        return Deeper()

    def __iter__(self) -> Iterator[str]:
        return iter(("next",))

    def __len__(self) -> int:
        return 1


class Wider(Deeper):
    def __iter__(self) -> Iterator[str]:
        return iter(("left", "right"))

    def __len__(self) -> int:
        return 2


class EndlessList(list[int]):
    def __iter__(self) -> Iterator[int]:
        while True:
            yield 1


class Lengthless(Endless):
    def __len__(self) -> int:
        raise ValueError("nobody knows")


ENDLESS: dict[str, tuple[Any, str]] = {
    "mapping": (Endless(3), "more items than its len() says, which is 3"),
    "mapping_huge": (Endless(10**12), "1,000,000,000,000 values are too many to cross"),
    "items": (EndlessItems(0), "more items than its len() says, which is 0"),
    "items_huge": (EndlessItems(10**9), "too many to cross"),
    "list": (EndlessList([1]), "more items than its len() says, which is 1"),
    "range": (range(10**15), "too many to cross"),
    "deeper": (Deeper(), "nested more than"),
    "wider": (Wider(), "too many to cross"),
    "lengthless": (Lengthless(1), "raised ValueError: nobody knows"),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_never_ends_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "wider":  # the real bound takes seconds to reach
        monkeypatch.setattr("sandbox_kernel.wire.tabulate.MOST_VALUES", 100_000)
    value, reason = ENDLESS[kind]
    with pytest.raises(SerializationError, match=re.escape(reason)) as caught:
        run_code("export default 1", globals={"lent": {"it": value}})
    assert caught.value.path.startswith("globals.lent.it")
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("option", ["globals", "imports", "modules", "execute"])
def test_an_option_that_never_ends_is_refused(option: str) -> None:
    with pytest.raises(OptionError, match=f"{option} has more keys than its len"):
        run_code("export default 1", {option: Endless(3)})
    with pytest.raises(OptionError, match="unknown option 'k0'"):
        run_code("export default 1", Endless(3))


def test_the_exports_of_a_module_that_never_end_are_refused() -> None:
    with pytest.raises(OptionError, match=r"imports\['m'\] has more keys than its len"):
        run_code("export default 1", imports={"m": Endless(3)})


def test_the_bound_of_count_is_one_for_the_whole_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_kernel.wire.tabulate.MOST_VALUES", 1_000)
    many = [{n, -n} for n in range(1, 1_000)]
    with pytest.raises(SerializationError, match="too many to cross"):
        run_code("export default 1", globals={"lent": many})


def test_a_list_of_a_depth_that_people_have_crosses() -> None:
    deep: Any = [{1}]
    for _ in range(20_000):
        deep = [deep]
    source = "let n = 0; for (let at = deep; Array.isArray(at); at = at[0]) n++; export default n"
    assert run_code(source, globals={"deep": deep}).wait(30).unwrap() == 20_001
    assert bounded.DEEPEST > 20_000


def test_a_cycle_through_dataclasses_and_mappings_crosses() -> None:
    loop: dict[str, Any] = {}
    loop["half"] = HalfMade("x")
    loop["half"].total = loop
    source = "export default lent.half.total === lent"
    assert run_code(source, globals={"lent": loop}).wait().unwrap() is True
