"""Filters as the kernel would run them, over calls, arguments and architectures."""

from __future__ import annotations

import errno

import pytest

from sandbox_kernel.isolation import bpf
from sandbox_kernel.isolation.bpf import ALLOW, AUDIT_NUMBERS, KILL_PROCESS, Condition, Rule
from tests.unit.isolation.interpreter import verdict

X86, ARM = AUDIT_NUMBERS["x86_64"], AUDIT_NUMBERS["aarch64"]
I386 = 0x40000003
NOT_THERE, NOT_PERMITTED = bpf.errno(errno.ENOSYS), bpf.errno(errno.EPERM)
CALLS = {"read": 0, "ioctl": 16, "socketpair": 53, "clone": 56, "last": 449}
RULES = {
    "ioctl": Rule((Condition(1, (0x5401, 0x5413, 0x541B)),), bpf.errno(errno.ENOTTY)),
    "socketpair": Rule((Condition(0, (1,)), Condition(1, (1,), 0xF)), NOT_PERMITTED),
    "clone": Rule((bpf.without(0, 0x7E020000), Condition(0, (0x10000,), 0x10000)), KILL_PROCESS),
}
PROGRAM = bpf.assemble("x86_64", CALLS, RULES, otherwise=NOT_THERE)


@pytest.mark.parametrize(
    ("number", "args", "expected"),
    [
        (0, (), ALLOW),
        (449, (2**64 - 1,) * 6, ALLOW),
        (1, (), NOT_THERE),
        (450, (), NOT_THERE),
        (16, (0, 0x5401), ALLOW),
        (16, (0, 0x5413), ALLOW),
        (16, (0, 0x541B), ALLOW),
        (16, (0, 0x5402), bpf.errno(errno.ENOTTY)),
        (16, (0x5401, 0), bpf.errno(errno.ENOTTY)),
        (53, (1, 1), ALLOW),
        (53, (1, 1 | 0o2000000), ALLOW),
        (53, (1, 2), NOT_PERMITTED),
        (53, (2, 1), NOT_PERMITTED),
        (56, (0x10000,), ALLOW),
        (56, (0x3D0F00,), ALLOW),
        (56, (0,), KILL_PROCESS),
        (56, (0x10000 | 0x10000000,), KILL_PROCESS),
        (0x40000000, (), KILL_PROCESS),
        (0xFFFFFFFF, (), KILL_PROCESS),
    ],
)
def test_a_filter_decides_by_number_and_arguments(
    number: int, args: tuple[int, ...], expected: int
) -> None:
    assert verdict(PROGRAM, X86, number, *args) == expected


@pytest.mark.parametrize("architecture", [ARM, I386, 0, X86 ^ 0x80000000])
@pytest.mark.parametrize("number", [0, 1, 16, 449])
def test_a_call_of_another_architecture_kills_whatever_happens_otherwise(
    architecture: int, number: int
) -> None:
    assert verdict(PROGRAM, architecture, number) == KILL_PROCESS


def test_a_rule_for_a_call_that_is_not_allowed_is_refused() -> None:
    with pytest.raises(ValueError, match="not allowed: open"):
        bpf.assemble("x86_64", {"read": 0}, {"open": Rule((), KILL_PROCESS)})


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(KeyError):
        bpf.assemble("riscv64", CALLS, {})
