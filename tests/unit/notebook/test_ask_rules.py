"""What `--ask` covers: all that a lent module or global has and gives, however its keys are spelled."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.notebook.ask.rules import all_of
from sandbox_kernel.permissions import Policy

LENT: dict[str, Any] = {
    "plain": {"go": lambda: 1},
    "mail.send": {"go": lambda: 1},
    "m\u0430il": [lambda: 1],
    "maker": {"go": lambda: {"again": lambda: 1}},
}


@pytest.mark.parametrize("path", ["plain.go", "['mail.send'].go", "['m\u0430il'][0]", "maker.go"])
def test_ask_covers_functions_under_any_key(path: str) -> None:
    reached = path if path.startswith("[") else f".{path}"
    policy = Policy(dict.fromkeys(all_of("lent"), "deny"))
    result = run_code(
        f"export default lent{reached}()", globals={"lent": LENT}, policy=policy
    ).wait(60)
    assert result.error is not None
    assert "a rule denies it" in result.error.message


def test_ask_covers_a_list_of_functions() -> None:
    policy = Policy(dict.fromkeys(all_of("lent"), "deny"))
    result = run_code("export default lent[0]()", globals={"lent": [print]}, policy=policy).wait(60)
    assert result.error is not None
    assert "a rule denies it" in result.error.message
