"""Values that are shown keep the order of their Sets, and still equal Python's sets."""

from __future__ import annotations

from sandbox_kernel.values import JSSet
from sandbox_kernel.wire.values import decode
from tests.charges import anything


def test_a_set_to_be_shown_keeps_its_order() -> None:
    text = 'T[[0],["s","zebra",1,"apple",2]]'
    assert list(decode(text, [], None, anything, ordered=True)) == ["zebra", 1, "apple", 2]
    assert isinstance(decode(text, [], None, anything), set)


def test_a_jsset_equals_a_set_of_the_same_members() -> None:
    assert JSSet([2, 1]) == {1, 2}
    assert JSSet([1, True]) != {1}
    assert JSSet([1]) != [1]
