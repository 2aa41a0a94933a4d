"""Prints the oldest accepted version of each dependency as constraints for pip.

`python tests/packaging/lower_bounds.py > lower-bounds.txt` runs before anything is installed.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def lower_bounds() -> list[str]:
    """`name==version` for each dependency, and for Dask; all of them have a lower bound."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    dependencies = [*project["dependencies"], *project["optional-dependencies"]["dask"]]
    return [f"{name}=={version}" for name, version in map(_parts, dependencies)]


def _parts(dependency: str) -> tuple[str, str]:
    found = re.match(r"([\w-]+)>=([\d.]+)", dependency)
    if found is None:
        raise ValueError(f"{dependency} has no lower bound; write it like name>=1.2")
    return found[1], found[2]


if __name__ == "__main__":
    print("\n".join(lower_bounds()))
