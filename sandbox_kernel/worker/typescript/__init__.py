"""TypeScript to JavaScript by erasure: types become white space, and nothing that remains moves.

`prepare` is all that the worker calls; `warm` is for the zygote, which must have loaded
everything before it forks.
"""

from __future__ import annotations

from .blank import Prepared
from .pipeline import prepare, warm
from .refuse import UnsupportedSyntax

__all__ = ["Prepared", "UnsupportedSyntax", "prepare", "warm"]
