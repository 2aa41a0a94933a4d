"""`python -m tests.notebooks.refresh [NAME ...]`: execute the course and keep its outputs."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from .execution import NOTEBOOKS, WIDGET, code_cells, execute, is_view, joined_streams

# Lines kept of the text that stands for a live view.
_HEAD, _TAIL = 1, 6
_ID = re.compile(" sandbox-run-still-[0-9a-f]+")


def refresh(path: Path) -> None:
    notebook = execute(path)
    for cell in code_cells(notebook):
        cell.outputs = joined_streams([_still(each) for each in cell.outputs if _kept(each)])
    notebook.metadata.pop("widgets", None)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def _kept(output: NotebookNode) -> bool:
    """Whether a run without reports got a view is a matter of how busy the machine was.

    The live view itself needs a kernel to be alive.
    """
    if WIDGET in output.get("data", {}):
        return False
    return not is_view(output) or ", 0 reports" not in output.data["text/plain"]


def _still(output: NotebookNode) -> NotebookNode:
    if is_view(output):
        page = output.data.get("text/html", "")
        output.data["text/html"] = _ID.sub("", page)  # of a live view that is not kept
        lines = output.data["text/plain"].split("\n")
        if len(lines) > _HEAD + _TAIL + 1:
            lines[_HEAD:-_TAIL] = ["…"]
        output.data["text/plain"] = "\n".join(lines)
    return output


def main() -> None:
    for path in NOTEBOOKS:
        if not sys.argv[1:] or any(path.name.startswith(name) for name in sys.argv[1:]):
            began = time.perf_counter()
            refresh(path)
            print(f"{path.name}: {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
