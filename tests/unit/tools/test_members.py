"""What may be a member of a toolbox: real models of pydantic, methods, and functions of elsewhere."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_kernel.tools import ArgumentsError, Toolbox

pydantic = pytest.importorskip("pydantic")


class Item(pydantic.BaseModel):  # type: ignore[name-defined]  # loaded above, if it is there
    name: str
    count: int = 1


class Order(pydantic.BaseModel):  # type: ignore[name-defined]  # pydantic may be missing
    items: list[Item]
    note: str | None = None


def place(orders: list[Order], first: Item | None = None) -> str:
    """Places orders."""
    return f"{type(orders[0]).__name__} {type(orders[0].items[0]).__name__} {type(first).__name__}"


def dispatch(box: Toolbox, name: str, args: Any) -> Any:
    return asyncio.run(box.dispatch(name, args))


def test_nested_models_are_checked_made_and_declared() -> None:
    box = Toolbox([place])
    given = {"orders": [{"items": [{"name": "tea"}]}], "first": {"name": "cake", "count": 2}}
    assert dispatch(box, "place", given) == "Order Item Item"
    declared = box.declarations()
    assert "{ items: { name: string; count?: number }[]; note?: string | null }" in declared
    assert "first?: { name: string; count?: number } | null" in declared
    with pytest.raises(ArgumentsError, match=r"orders\[0\].items\[0\].name is missing"):
        dispatch(box, "place", {"orders": [{"items": [{}]}]})


def test_what_only_the_model_itself_can_check_is_told_with_the_signature() -> None:
    class Even(pydantic.BaseModel):  # type: ignore[name-defined]  # pydantic may be missing
        number: int

        @pydantic.field_validator("number")  # type: ignore[untyped-decorator]  # pydantic may be missing
        @classmethod
        def is_even(cls, value: int) -> int:
            if value % 2:
                raise ValueError("an even number is needed")
            return value

    def halve(even: Even) -> int:
        """Halves."""
        return int(even.number // 2)

    halve.__annotations__ = {"even": Even, "return": int}
    box = Toolbox([halve])
    assert dispatch(box, "halve", {"even": {"number": 4}}) == 2
    with pytest.raises(ArgumentsError, match="an even number is needed"):
        dispatch(box, "halve", {"even": {"number": 3}})


def test_methods_and_objects_that_are_called_are_tools() -> None:
    class Shop:
        def price(self, name: str) -> float:
            """A price."""
            return 2.5

        def __call__(self, name: str) -> str:
            """Sells."""
            return f"sold {name}"

    shop = Shop()
    box = Toolbox({"price": shop.price, "sell": shop})
    assert dispatch(box, "price", {"name": "tea"}) == 2.5
    assert dispatch(box, "sell", {"name": "tea"}) == "sold tea"
