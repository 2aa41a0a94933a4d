"""`python -m sandbox_kernel doctor`: versions, settings, isolation, and whether it holds."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

_USAGE = "usage: python -m sandbox_kernel doctor [--json]"


def main(arguments: list[str]) -> int:
    if arguments not in (["doctor"], ["doctor", "--json"]):
        print(_USAGE, file=sys.stderr)
        return 2
    from .engine import Engine
    from .selftest import report_lines, run_selftest

    with Engine() as engine:
        facts, checks = engine.doctor(), run_selftest(engine)
    if "--json" in arguments:
        print(json.dumps({**facts, "checks": [asdict(check) for check in checks]}))
    else:
        print("\n".join([*_lines(facts), *report_lines(checks)]))
    return 0 if all(check.holds for check in checks) else 1


def _lines(facts: dict[str, Any], prefix: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in facts.items():
        nested = isinstance(value, dict)
        lines += _lines(value, f"{prefix}{name}.") if nested else [f"{prefix}{name}: {value}"]
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
