"""The kernel's side of a filter: runs a BPF program over one system call, in Python."""

from __future__ import annotations

import struct
from collections.abc import Callable

LOAD, AND, RETURN = 0x20, 0x54, 0x06
JUMP_EQUAL, JUMP_GREATER, JUMP_AT_LEAST, JUMP_IF_ANY_BIT = 0x15, 0x25, 0x35, 0x45
MOST_INSTRUCTIONS = 4096
JUMPS: dict[int, Callable[[int, int], bool]] = {
    JUMP_EQUAL: lambda a, k: a == k,
    JUMP_GREATER: lambda a, k: a > k,
    JUMP_AT_LEAST: lambda a, k: a >= k,
    JUMP_IF_ANY_BIT: lambda a, k: bool(a & k),
}


def verdict(program: bytes, architecture: int, number: int, *args: int) -> int:
    """What the program returns; a program that the kernel would refuse to load fails here."""
    words = [value % 2**64 for value in (*args, *[0] * (6 - len(args)))]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *words)
    code = list(struct.iter_unpack("<HBBI", program))
    assert 0 < len(code) <= MOST_INSTRUCTIONS
    accumulator = at = 0
    while True:
        operation, if_true, if_false, operand = code[at]
        at += 1
        if operation == RETURN:
            return int(operand)
        if operation == LOAD:
            assert operand % 4 == 0
            (accumulator,) = struct.unpack_from("<I", data, operand)
        elif operation == AND:
            accumulator &= operand
        else:
            at += if_true if JUMPS[operation](accumulator, operand) else if_false
