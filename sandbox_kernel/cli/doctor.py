"""`sandbox-kernel doctor`: versions, settings, isolation, and whether it holds."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..engine import Engine
from ..errors import EngineError, OptionError
from ..programs import Programs
from ..selftest import report_lines, run_selftest, run_selftest_of_programs
from . import exits, terminal


def doctor(words: list[str]) -> int:
    if words not in ([], ["--json"]):
        given = " ".join(words)
        raise OptionError(f"doctor does not take {given}; write: sandbox-kernel doctor [--json]")
    with Engine() as engine:
        facts, checks = engine.doctor(), run_selftest(engine)
    with Programs(spares=0) as programs:
        try:
            facts["programs"] = programs.doctor()
        except EngineError as error:
            facts["programs"] = {"isolation": f"none, so that they are refused: {error}"}
        else:
            checks += run_selftest_of_programs(programs)
    if words:
        terminal.say(json.dumps({**facts, "checks": [asdict(check) for check in checks]}))
    else:
        terminal.say("\n".join([*_lines(facts), *report_lines(checks)]))
    return exits.SUCCESS if all(check.holds for check in checks) else exits.FAILED


def _lines(facts: dict[str, Any], prefix: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in facts.items():
        nested = isinstance(value, dict)
        lines += _lines(value, f"{prefix}{name}.") if nested else [f"{prefix}{name}: {value}"]
    return lines
