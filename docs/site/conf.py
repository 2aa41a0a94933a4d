"""The documents as a site: `make docs`. Its sources are the pages as they stand in the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

project = "sandbox-kernel"
author = "the sandbox-kernel authors"
_text = (ROOT / "sandbox_kernel" / "__init__.py").read_text("utf-8")
_version = re.search(r'__version__ = "(.+?)"', _text)
assert _version is not None
version = release = _version[1]

# The source folder is the repository, so that links between pages and notebooks hold as they are.
extensions = ["myst_nb"]
root_doc = "docs/README"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/tasks/*.md",
    "docs/reference/*.md",
    "docs/examples/*.md",
    "notebooks/*.ipynb",
]
exclude_patterns = [".venv", "tests"]

nb_execution_mode = "off"  # the notebooks show the outputs that their tests compare with
nb_output_stderr = "show"
nb_mime_priority_overrides = [("*", "application/vnd.jupyter.widget-view+json", None)]
myst_heading_anchors = 4
suppress_warnings = [
    "myst.header",  # pages of the repository may begin with any heading
    "misc.highlighting_failure",  # cells of magics are not quite TypeScript or Python
    "mystnb.unknown_mime_type",  # a live view has a still picture beside it
]

html_theme = "furo"
html_title = f"sandbox-kernel {version}"
html_extra_path = ["index.html"]
html_copy_source = False
html_search_scorer = str(Path(__file__).with_name("scorer.js"))


_SIDEBAR = {
    "The course": "notebooks/*.ipynb",
    "Tasks": "docs/tasks/*.md",
    "Guides": "docs/*.md",
    "Reference": "docs/reference/*.md",
    "Examples": "docs/examples/*.md",
    "The project": "*.md",
}


def _add_sidebar(app: Any, page: str, source: list[str]) -> None:
    """The index is plain Markdown, so that it reads well in the repository; here it gets a tree."""
    if page != root_doc:
        return
    for caption, pattern in _SIDEBAR.items():
        pages = sorted(ROOT.glob(pattern), key=_order)
        names = [str(each.relative_to(ROOT).with_suffix("")) for each in pages]
        listed = "\n".join(f"/{name}" for name in names if name != root_doc)
        if listed:
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n{listed}\n```\n"


def _order(page: Path) -> tuple[int, str]:
    """Notebooks by their number."""
    number = re.match(r"\d+", page.name)
    return (int(number[0]) if number else 0, page.name)


def setup(app: Any) -> None:
    app.connect("source-read", _add_sidebar)
