"""CPython's own tests in the sandbox: what differs is policy, and each difference is explained.

CI takes a few modules; `make soak` sets SANDBOX_SOAK_SECONDS and takes all of them.
"""

from __future__ import annotations

import importlib.util
import os
import re

import pytest

from .conftest import Run
from .cpython import EXPLAINED, MODULES, NAMED, PROGRAM, SOME, WITHOUT_LANDLOCK

pytestmark = pytest.mark.scaled
WHICH = MODULES if "SANDBOX_SOAK_SECONDS" in os.environ else SOME
if importlib.util.find_spec("test.support") is None:
    pytest.skip("this Python has no tests of its own", allow_module_level=True)


def unexplained(failed: list[list[str]]) -> list[str]:
    """Failures that no policy of the sandbox explains."""
    return [
        f"{name}\n{text}"
        for name, text in failed
        if not name.startswith(tuple(NAMED))
        and not any(re.search(pattern, text) for pattern in EXPLAINED)
    ]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("module", WHICH)
def test_what_fails_of_cpythons_tests_is_refused_on_purpose(
    run: Run, level: str, module: str
) -> None:
    if level == "landlock" and module in WITHOUT_LANDLOCK:
        pytest.skip(WITHOUT_LANDLOCK[module])
    result = run(
        PROGRAM,
        args=[f"test.{module}"],
        timeout_ms=600_000,
        memory_limit_bytes=2**30,
        settle_seconds=620,
    )
    assert isinstance(result.result, dict), (result.reason, result.stderr[-2000:])
    assert result.result["run"] > 0
    assert unexplained(result.result["failed"]) == []
