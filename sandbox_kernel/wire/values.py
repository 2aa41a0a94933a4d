"""Python values to and from their wire form; `worker/bootstrap` has the JavaScript half.

A value is a text and the attachments that it refers to. The first letter of the text is its form:

`P` and JSON: plain data that JSON represents exactly, without shared references.
`C` and columns (`columns.py`): trees of data with Dates, Sets, Maps, undefined; only to the host.
`T` and a table (`table.py`): everything else.
"""

from __future__ import annotations

from .decode import (
    LARGE,
    decode,
    decode_in_steps,
    decode_lines,
    decode_lines_in_steps,
)
from .encode import encode, encode_error
from .failures import error_identity
from .table import Borrower
from .tabulate import Lender
from .weight import lines_swell, swells, weight, weight_of_lines

__all__ = [
    "LARGE",
    "Borrower",
    "Lender",
    "decode",
    "decode_in_steps",
    "decode_lines",
    "decode_lines_in_steps",
    "encode",
    "encode_error",
    "error_identity",
    "lines_swell",
    "swells",
    "weight",
    "weight_of_lines",
]
