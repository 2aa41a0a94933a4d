"""The faster way to spell many strings gives what JSON's own encoder gives."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel.wire.dump import dump, dump_table, dump_texts

LETTERS = st.sampled_from(['"', "\\", "~", "^", "`", "\0", ",", '","', "null", "é", "\ud800", "😀", "a", "\n"])  # fmt: skip
TEXTS = st.text() | st.lists(LETTERS, max_size=4).map("".join)


@given(st.lists(st.none() | TEXTS, min_size=1, max_size=20))
def test_texts_are_spelled_as_json_spells_them(texts: list[str | None]) -> None:
    found = dump_texts(texts)
    assert found is None or found == dump(texts)


def test_plain_texts_take_the_fast_way() -> None:
    assert dump_texts(["a", None, 'say "é"', ""]) == '["a",null,"say \\"\\u00e9\\"",""]'


@pytest.mark.parametrize("odd", ["~^", "a`b", "`"])
def test_what_would_be_ambiguous_does_not(odd: str) -> None:
    assert dump_texts(["a", odd, None]) is None


@given(st.lists(st.integers() | st.lists(TEXTS, max_size=2), min_size=1), st.data())
def test_a_table_is_the_same_whatever_part_was_spelled_before(
    table: list[object], data: st.DataObject
) -> None:
    some = data.draw(st.sets(st.integers(0, len(table) - 1)))
    assert dump_table(table, {at: dump(table[at]) for at in some}) == dump(table)
    assert json.loads(dump(table)) == table
