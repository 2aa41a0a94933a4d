"""`python tests/packaging/release.py TAG`: may this tree be published under this tag?

The release workflow asks before it builds; nothing is installed by then.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACEHOLDER = "example.org"


def problems(tag: str) -> Iterator[str]:
    """What still has to be done, a line each."""
    version = _version()
    if tag != f"v{version}":
        yield f"the tag is {tag}, but sandbox_kernel.__version__ is {version}"
    titles = re.findall(r"^## (.+)$", _text("CHANGELOG.md"), re.M)
    if version not in titles[:2]:
        yield f"CHANGELOG.md has no section {version} on top"
    urls = tomllib.loads(_text("pyproject.toml"))["project"]["urls"]
    for name, url in urls.items():
        if PLACEHOLDER in url:
            yield f"{name} in [project.urls] is still the placeholder {url}"


def _version() -> str:
    found = re.search(r'^__version__ = "(.+)"$', _text("sandbox_kernel/__init__.py"), re.M)
    assert found is not None
    return found[1]


def _text(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


if __name__ == "__main__":
    sys.exit("\n".join(problems(sys.argv[1])) or 0)
