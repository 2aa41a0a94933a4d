"""`python -m sandbox_kernel doctor`: what runs here, how it is isolated, and whether that holds."""

from __future__ import annotations

import sys
from typing import Any


def main(arguments: list[str]) -> int:
    if arguments != ["doctor"]:
        print("usage: python -m sandbox_kernel doctor", file=sys.stderr)
        return 2
    from .engine import Engine
    from .selftest import run_selftest

    with Engine() as engine:
        _show(engine.doctor())
        checks = run_selftest(engine)
    for check in checks:
        print(f"{'holds' if check.holds else 'FAILS'}  {check.name}: {check.detail}")
    broken = sum(not check.holds for check in checks)
    print(f"{len(checks)} attempts to break out, {broken} succeeded")
    return 1 if broken else 0


def _show(facts: dict[str, Any], prefix: str = "") -> None:
    for name, value in facts.items():
        if isinstance(value, dict):
            _show(value, f"{prefix}{name}.")
        else:
            print(f"{prefix}{name}: {value}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
