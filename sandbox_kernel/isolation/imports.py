"""What a fresh interpreter beyond the wall imports from."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable

from ..errors import EngineError


def folders_of(packages: Iterable[str]) -> list[str]:
    """The folders that these are imported from, and no others: not the user's path."""
    folders: list[str] = []
    for name in packages:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise EngineError(f"the package {name} is not installed")
        folder = os.path.dirname(os.path.abspath(spec.origin))
        if spec.submodule_search_locations is not None:
            folder = os.path.dirname(folder)
        if folder not in folders:
            folders.append(folder)
    return folders
