"""Random programs do the same erased as compiled.

The seeds are fixed; `TYPESCRIPT_PROGRAMS=1000` tries that many, `TYPESCRIPT_SEED` starts elsewhere.
"""

from __future__ import annotations

import os
import random
import re
from typing import Any

from sandbox_kernel.worker.typescript import prepare

from .generator import Programs

COUNT = int(os.environ.get("TYPESCRIPT_PROGRAMS", "60"))
FIRST = int(os.environ.get("TYPESCRIPT_SEED", "0"))
OPERANDS = [
    "a",
    "(b)",
    "-a",
    "!b",
    "typeof c",
    "f(x)",
    "a!",
    "<any>b",
    "await q",
    "o?.q![0]",
    "f!(1)!",
]
SIGNS = "+ - * / % ** < > <= >= == !== && || ?? ^ << >> >>> in instanceof".split()
TYPES = ["", "", "as T", "satisfies T", "as T as U", "as T[]", "as any"]


def test_random_programs_behave_as_compiled(oracle: Any) -> None:
    sources = [Programs(seed).program() for seed in range(FIRST, FIRST + COUNT)]
    programs = [{"source": source, "erased": prepare(source).text} for source in sources]
    compared = 0
    for seed, outcome in enumerate(oracle.behaviour(programs), FIRST):
        if outcome["errors"]:
            continue
        compared += 1
        outcome["expected"].pop("stack", None)
        outcome["actual"].pop("stack", None)
        assert outcome["actual"] == outcome["expected"], f"seed {seed}"
    assert compared > COUNT * 0.8


def test_random_chains_of_operators_group_as_compiled(oracle: Any) -> None:
    chance = random.Random(FIRST)
    sources = [chain(chance) for _ in range(COUNT * 10)]
    pairs = [{"source": source, "erased": prepare(source).text} for source in sources]
    for source, difference in zip(sources, oracle.differences(pairs), strict=True):
        # `-a ** b` is an error to the compiler too; what it writes then is no measure.
        if difference and "compiler's own output" not in difference and is_readable(source):
            raise AssertionError(f"{source}\n{difference}")


def chain(chance: random.Random) -> str:
    parts = []
    for _ in range(chance.randint(2, 5)):
        parts += [chance.choice(OPERANDS), chance.choice(TYPES), chance.choice(SIGNS)]
    return "x = " + " ".join(filter(None, parts[:-1]))


def is_readable(source: str) -> bool:
    """Behind a type, `<` opens its arguments; and mixing `??` with others is an error."""
    mixed = "??" in source and re.search(r"&&|\|\|", source)
    return not mixed and not re.search(
        r"(T|U|any|\]) <|(-a|!b|typeof c|await q|<any>b) \*\*", source
    )
