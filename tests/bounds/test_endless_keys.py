"""An exception about a guest's value is as short as its repr, whoever raises it and whoever tells it."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel import JSMap, JSSet, run_code
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


def test_an_exception_of_the_hosts_own_with_a_guests_value_is_told_briefly() -> None:
    def find(key: Any) -> None:
        raise KeyError(key)

    source = f"{ENDLESS} try {{ find(x) }} catch (error) {{ report(error.message.length) }}"
    found = run_code(
        f"{source}; export default 1", globals={"find": find}, report=lambda length: None
    ).wait(60)
    assert found.status == "success", found.error
    assert found.reports[0] <= SHORT
