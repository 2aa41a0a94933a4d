"""System-call filters: allow-lists as BPF programs for seccomp.

They are assembled here rather than by libseccomp, which would be another native library to load
before every sandbox. A program is a list of instructions that Linux runs at every system call,
with the number of the call, the architecture it was made for, and its arguments as input.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

ALLOW, NOTIFY, KILL_PROCESS = 0x7FFF0000, 0x7FC00000, 0x80000000
_ERRNO = 0x00050000
AUDIT_NUMBERS = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # from linux/audit.h
_X32_BIT = 0x40000000  # marks x86-64's second table of calls, none of which is allowed
_WHOLE = 0xFFFFFFFF

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_EQUAL, _JUMP_AT_LEAST = 0x15, 0x35
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in `struct seccomp_data`
_ARGUMENT_BYTES = 8

Instruction = tuple[
    int, int, int, int
]  # operation, instructions to skip if true, if false, operand


class Condition(NamedTuple):
    """Holds if an argument, masked, has one of the values.

    Only its lower 32 bits are compared; no `int` or flag tested here has more.
    """

    argument: int
    values: tuple[int, ...]
    mask: int = _WHOLE


class Rule(NamedTuple):
    """Allows a call if all conditions hold; if not, the verdict is `otherwise`."""

    conditions: tuple[Condition, ...]
    otherwise: int


def errno(code: int) -> int:
    """The verdict that makes the call fail with this error instead of executing it."""
    return _ERRNO | code


def without(argument: int, bits: int) -> Condition:
    """Holds if none of the bits is set."""
    return Condition(argument, (0,), bits)


def always(verdict: int) -> Rule:
    """The verdict, whatever the arguments are."""
    return Rule((Condition(0, ()),), verdict)


def assemble(
    machine: str,
    allowed: Mapping[str, int],
    rules: Mapping[str, Rule],
    otherwise: int = KILL_PROCESS,
) -> bytes:
    """The program for a machine. `allowed` maps names of calls to numbers; `rules` restricts some.

    Other calls get the verdict `otherwise`; a call of another architecture always kills the process.
    """
    unknown = sorted(rules.keys() - allowed.keys())
    if unknown:
        raise ValueError(f"there are rules for calls that are not allowed: {', '.join(unknown)}")
    code = _check_architecture(AUDIT_NUMBERS[machine])
    for name, number in sorted(allowed.items(), key=lambda item: item[1]):
        body = _body(rules[name]) if name in rules else [_verdict(ALLOW)]
        code += [(_JUMP_EQUAL, 0, len(body), number), *body]
    code.append(_verdict(otherwise))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)


def _check_architecture(audit_number: int) -> list[Instruction]:
    """Kills the process unless the architecture matches, then loads the number of the call."""
    return [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, audit_number),
        _verdict(KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_AT_LEAST, 0, 1, _X32_BIT),
        _verdict(KILL_PROCESS),
    ]


def _body(rule: Rule) -> list[Instruction]:
    """Always ends in a verdict, so it may overwrite the number of the call."""
    checks = [step for condition in rule.conditions for step in _check(condition, rule.otherwise)]
    return [*checks, _verdict(ALLOW)]


def _check(condition: Condition, otherwise: int) -> list[Instruction]:
    """Returns `otherwise`, unless the condition holds; then continues after its last instruction."""
    code: list[Instruction] = [(_LOAD, 0, 0, _ARGUMENTS + _ARGUMENT_BYTES * condition.argument)]
    if condition.mask != _WHOLE:
        code.append((_AND, 0, 0, condition.mask))
    for left, value in zip(range(len(condition.values), 0, -1), condition.values, strict=True):
        code.append((_JUMP_EQUAL, left, 0, value))
    return [*code, _verdict(otherwise)]


def _verdict(value: int) -> Instruction:
    return (_RETURN, 0, 0, value)
