"""TypeScript to JavaScript by erasure: types become white space, and the rest stays in place.

The worker only calls `prepare`. The zygote calls `warm`, because everything must be loaded before
it forks.
"""

from __future__ import annotations

from .blank import Prepared
from .pipeline import prepare, warm
from .refuse import UnsupportedSyntax

__all__ = ["Prepared", "UnsupportedSyntax", "prepare", "warm"]
