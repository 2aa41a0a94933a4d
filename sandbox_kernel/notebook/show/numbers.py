"""Numbers as JavaScript spells them, which is not quite how Python does."""

from __future__ import annotations

import math

from ...budget import digits
from ...values import MAX_SAFE_INTEGER, BigInt

MOST_DIGITS = 10_000


def spell_number(value: int | float, most: int = MOST_DIGITS) -> str:
    """`1e-7`, `-0`, `NaN`, `100000000000000000000`, and an `n` behind what is a bigint.

    At most about `most` digits; those of a longer bigint are counted.
    """
    if isinstance(value, int):
        return _spell_int(value, most)
    spelled = repr(value)
    if "e" not in spelled and "n" not in spelled:
        return spelled.removesuffix(".0")  # where Python and JavaScript agree: nearly always
    if not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    mantissa, _, exponent = spelled.partition("e")
    power = int(exponent)
    if power < -6 or power > 20:
        return f"{mantissa}e{power:+}"
    return _spell_float(value)


def _spell_int(value: int, most: int) -> str:
    if isinstance(value, BigInt) or not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return f"{digits(value, most)}n"
    return str(int(value))


def _spell_float(value: float) -> str:
    """The shortest digits, as Python finds them, laid out by ECMAScript's rule."""
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0)  # where the decimal point stands, from the left
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0") or "0"
    return sign + _lay_out(digits, point)


def _lay_out(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = f"{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"{digits[0]}{'.' + digits[1:] if count > 1 else ''}e{exponent}"
