"""An exception about a guest's value is as short as its repr, whoever raises it and whoever tells it."""

from __future__ import annotations

import traceback
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from sandbox_kernel import JSMap, JSSet, run_code
from sandbox_kernel.notebook.show.bridge_traceback import bridge_traceback
from sandbox_kernel.wire.failures import format_error
from tests.bounds.hostile_values import doubled

SHORT = 11_000
ENDLESS = "let x = [1]; for (let i = 0; i < 18; i++) x = [x, x];"


def looked_up(key: Any) -> object:
    return JSMap()[key]


def deleted(key: Any) -> None:
    del JSMap()[key]


def removed(key: Any) -> None:
    JSSet().remove(key)


@pytest.mark.parametrize("miss", [looked_up, deleted, removed])
def test_a_missing_key_is_spelled_briefly(miss: Any) -> None:
    with pytest.raises(KeyError) as caught:
        miss(doubled(18))
    assert len(str(caught.value)) <= SHORT
    with pytest.raises(KeyError) as caught:
        miss("name")
    assert caught.value.args == ("name",)


def test_a_bridge_that_misses_a_guests_key_answers_briefly() -> None:
    source = (
        f"{ENDLESS} try {{ find(new Map(), x) }} catch (error) {{ report(error.message.length) }}"
    )
    found = run_code(
        f"{source}; export default 1",
        globals={"find": lambda mapping, key: mapping[key]},
        report=lambda length: None,
    ).wait(60)
    assert found.status == "success", found.error
    assert found.reports[0] <= SHORT


RAISED: dict[str, Callable[[Any], BaseException]] = {
    "key": KeyError,
    "value": ValueError,
    "text and value": lambda value: RuntimeError("no", value),
    "map": lambda value: LookupError(JSMap([(1, value)])),
}


@pytest.mark.parametrize("kind", RAISED)
def test_an_exception_of_the_hosts_own_with_a_guests_value_is_told_briefly(kind: str) -> None:
    def find(key: Any) -> None:
        raise RAISED[kind](key)

    source = f"{ENDLESS} try {{ find(x) }} catch (error) {{ report(error.message.length) }}"
    found = run_code(
        f"{source}; export default 1", globals={"find": find}, report=lambda length: None
    ).wait(60)
    assert found.status == "success", found.error
    assert found.reports[0] <= SHORT


@pytest.mark.parametrize("kind", RAISED)
@pytest.mark.parametrize("led_to", [False, True])
def test_the_log_spells_no_value_of_a_guest_in_full(kind: str, led_to: bool) -> None:
    """Python spells the exceptions that led to one another, too."""
    error = RAISED[kind](doubled(18))
    try:
        if led_to:
            raise TypeError("another") from error
        raise error
    except Exception as caught:
        text = format_error(caught, caught.__traceback__)
    assert len(text) <= 2 * SHORT
    assert "test_endless_keys.py" in text
    assert text.splitlines()[-1].startswith("TypeError" if led_to else type(error).__name__)


def test_a_notebook_spells_no_value_of_a_guest_in_full() -> None:
    def find(key: Any) -> None:
        raise ValueError(key)

    found = run_code(f"{ENDLESS} find(x); export default 1", globals={"find": find}).wait(60)
    tracemalloc.start()
    try:
        lines = bridge_traceback(found)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert any("raise ValueError(key)" in line for line in lines)
    assert len("\n".join(lines)) <= SHORT


def test_other_exceptions_are_told_as_python_does() -> None:
    error = ValueError("second", 2)
    error.__cause__ = KeyError("first")
    told = "".join(traceback.format_exception(error)).rstrip()
    assert format_error(error, error.__traceback__) == told
