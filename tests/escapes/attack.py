"""How an attack is run: as a guest would come, through `run_code`, with the exact outcome given back."""

from __future__ import annotations

from typing import Any

from sandbox_kernel import run_code
from sandbox_kernel.contract import CodeExecutionResult


def attack(source: str, **options: Any) -> CodeExecutionResult:
    """The whole result; JavaScript, so that nothing is between the attack and the engine."""
    options.setdefault("language", "javascript")
    return run_code(source, **options).wait(60)


def outcome(source: str, **options: Any) -> Any:
    """The value of the attack's default export; it must have run to its end."""
    result = attack(source, **options)
    assert result.status == "success", result.error
    return result.result


def failure(source: str, **options: Any) -> tuple[str, str, str]:
    """Status, name and message of an attack that does not end well."""
    result = attack(source, **options)
    assert result.error is not None, result
    return result.status, result.error.name, result.error.message
