"""What an owner lends: mappings, modules, objects and cells of Python, by one rule."""

from __future__ import annotations

import functools
import math
import random
import types
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sandbox_kernel import SerializationError, run_code
from sandbox_kernel.errors import OptionError
from sandbox_kernel.exports import (
    LOOKED_AT,
    Exports,
    check_crossing,
    exports_of,
    exports_of_cell,
    is_public,
    names_of,
)

MODULE = """
import os
import math as calculator
from math import sqrt
from collections import OrderedDict
from functools import lru_cache

class Helper: pass
_private = 1
LIMIT = 10
ROWS = OrderedDict(a=[1, 2])
handle = object()
deep = {"a": [{"b": object()}]}
match_ = 5

def read(path): return path
async def later(): return 1
@lru_cache
def cached(): return 2
"""


class Store:
    """Lent as an object: its public methods and values."""

    size = 3
    _secret = "no"

    class Nested: ...

    def __init__(self) -> None:
        self.items = ["a"]
        self.lock = object()

    def first(self) -> str:
        return self.items[0]

    @property
    def broken(self) -> int:
        raise RuntimeError("not today")


class Keys(Mapping[str, int]):
    """A mapping that tells when it is read."""

    def __init__(self) -> None:
        self.read = 0

    def __getitem__(self, key: str) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        self.read += 1
        return iter(["a"])

    def __len__(self) -> int:
        return 1


def module(source: str, name: str = "made_here") -> types.ModuleType:
    made = types.ModuleType(name)
    exec(source, made.__dict__)
    return made


ALL = module("__all__ = ['_kept', 'f', 'C', 'lock', 'gone']\n_kept = 1\nx = 2\nlock = object()\n"
             "class C: pass\ndef f(): pass")  # fmt: skip


@pytest.mark.parametrize(
    ("owner", "lent", "skipped"),
    [
        ({"a": 1, "_b": 2, "any name": len}, {"a", "_b", "any name"}, set()),
        ({"lock": object()}, {"lock"}, set()),  # explicit: the run says that it cannot cross
        (
            module(MODULE),
            {"LIMIT", "ROWS", "match_", "read", "later", "cached"},
            {"handle", "deep"},
        ),
        (ALL, {"_kept", "f"}, {"lock", "gone"}),
        (Store(), {"size", "items", "first"}, {"lock", "broken"}),
        (types.SimpleNamespace(f=len, _g=len, m=math), {"f"}, set()),
        (None, set(), set()),
    ],
    ids=["dict", "explicit", "module", "__all__", "object", "namespace", "nothing"],
)
def test_what_is_lent_and_what_is_skipped(owner: Any, lent: set[str], skipped: set[str]) -> None:
    exports = exports_of(owner)
    assert set(exports.values) == lent
    assert set(exports.skipped) == skipped


def test_a_mapping_is_lent_as_it_is() -> None:
    owner = Keys()
    assert exports_of(owner) == Exports(owner)
    assert owner.read == 0


def test_what_is_skipped_says_why() -> None:
    skipped = exports_of(Store()).skipped
    assert skipped["broken"] == "not today"
    assert skipped["lock"] == (
        "a value of type object cannot cross into the sandbox; pass plain data such as a dict"
    )
    assert "['b']" not in exports_of(module(MODULE)).skipped["deep"]


@pytest.mark.parametrize(
    ("owner", "some"),
    [
        (np, {"sum", "pi", "linspace"}),
        (pd, {"isna", "to_datetime"}),
        (pd.DataFrame({"a": [1, 2], "b": ["x", None]}), {"shape", "sum", "to_dict"}),
        (math, {"sqrt", "pi"}),
        (random, {"choice", "gauss"}),
    ],
    ids=["numpy", "pandas", "frame", "math", "random"],
)
def test_everything_that_a_library_lends_crosses(owner: Any, some: set[str]) -> None:
    exports = exports_of(owner).values
    assert some <= set(exports)
    source = "import * as it from 'it'; export default Object.keys(it).length"
    result = run_code(source, imports={"it": exports}).wait(60)
    assert (result.status, result.result) == ("success", len(exports))


def test_a_large_frame_lends_its_functions_and_not_a_copy_of_each_view() -> None:
    frame = pd.DataFrame({"a": range(20_000)})
    exports = exports_of(frame)
    assert {"sum", "shape", "columns"} <= set(exports.values)
    assert {"T", "a", "values", "index"} <= set(exports.skipped)
    assert exports.skipped["T"] == "it has 20,000 cells; lend the data by itself, as a global"
    assert "table" in exports_of(types.SimpleNamespace(table=frame)).values


def test_data_too_large_to_look_through_is_lent_unseen() -> None:
    rows: list[Any] = [object(), *range(LOOKED_AT)]
    assert "rows" in exports_of(types.SimpleNamespace(rows=rows)).values
    assert "rows" in exports_of(types.SimpleNamespace(rows=rows[:100])).skipped


def test_data_that_holds_itself_is_looked_through_once() -> None:
    ring: list[Any] = [1]
    ring.append(ring)
    assert "ring" in exports_of(types.SimpleNamespace(ring=ring)).values


@pytest.mark.parametrize(
    ("source", "imported", "lent"),
    [
        (MODULE, {"os", "calculator", "sqrt", "OrderedDict", "lru_cache"},
         {"LIMIT", "ROWS", "handle", "deep", "match_", "read", "later", "cached"}),
        ("import math\nroot = math.sqrt\n_x = 1", {"math"}, {"root"}),
        ("from math import pi\n__all__ = ['pi', '_x']\n_x = 1\ny = 2", {"pi"}, {"pi", "_x"}),
        ("__all__ = ('C',)\nclass C: pass", set(), {"C"}),
        ("", set(), set()),
    ],
)  # fmt: skip
def test_a_cell_lends_what_it_made(source: str, imported: set[str], lent: set[str]) -> None:
    assert set(exports_of_cell(vars(module(source)), imported)) == lent


def test_a_cell_that_lists_what_it_lacks_is_refused_by_name() -> None:
    with pytest.raises(OptionError, match="__all__ lists 'gone'"):
        exports_of_cell({"__all__": ["gone"]}, ())


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"f": len, "n": 1}, None),
        ({"lock": object()}, "imports['b'].lock"),
        ({"rows": [{"when": object()}]}, "imports['b'].rows[0].when"),
        ({"Point": Store}, "imports['b'].Point"),
    ],
)
def test_what_cannot_cross_is_named_by_its_path(value: Any, path: str | None) -> None:
    if path is None:
        check_crossing(value, "imports['b']")
        return
    with pytest.raises(SerializationError) as caught:
        check_crossing(value, "imports['b']")
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        ({"a": 1, 2: 3}, {"a"}),
        (OrderedDict(b=1), {"b"}),
        (Keys(), set()),
        (ALL, {"_kept", "f", "lock", "gone"}),
        (Store(), {"size", "items", "lock", "first", "broken"}),
        (functools.partial(len), {"func", "args", "keywords"}),
        (None, set()),
    ],
)
def test_names_of_lists_what_would_be_lent(owner: Any, names: set[str]) -> None:
    assert set(names_of(owner)) == names


def test_names_of_runs_nothing_of_the_owner() -> None:
    class Touchy:
        field = property(lambda self: pytest.fail("a property was read"))

        def __getattribute__(self, name: str) -> Any:
            pytest.fail(f"{name} was asked for")

        def __dir__(self) -> list[str]:
            pytest.fail("__dir__ was called")

    assert names_of(Touchy()) == ["field"]
    held = module("f = 1")
    held.touchy = Touchy()  # type: ignore[attr-defined]  # it is made here
    assert names_of(held) == ["f", "touchy"]


@pytest.mark.parametrize(
    ("name", "public"),
    [("read", True), ("_x", False), ("__all__", False), ("class", False), ("a-b", False)],
)
def test_public_names(name: str, public: bool) -> None:
    assert is_public(name) is public
