"""Executing the course and putting its outputs into a form that can be compared and kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"), key=lambda path: int(path.name.split("-")[0]))

WIDGET = "application/vnd.jupyter.widget-view+json"
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def execute(path: Path) -> NotebookNode:
    """A copy of the notebook with the outputs that it has here and now."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata.pop("widgets", None)
    client = NotebookClient(
        notebook,
        timeout=60,
        kernel_name=notebook.metadata.kernelspec.name,
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
    )
    client.execute()
    return notebook


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def joined_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Chunks of one stream that follow each other, as one."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else NotebookNode(output_type=None)
        same = last.output_type == output.output_type == "stream"
        if same and last.name == output.name:
            last.text += output.text
        else:
            joined.append(NotebookNode(output))
    return joined


def is_view(output: NotebookNode) -> bool:
    """The live view, or the text that stands for it where there are no widgets."""
    data = output.get("data", {})
    return WIDGET in data or (
        output.output_type == "display_data" and data.get("text/plain", "").startswith("Run: ")
    )


def essence(cell: NotebookNode) -> list[Any]:
    """What a cell showed, without what differs from run to run.

    The live view is left out: whether a quiet run gets one depends on how busy the machine is.
    A picture is a picture, since libraries compress alike images differently.
    Of a cell tagged `varies` only the result and the kind of error are left.
    """
    shown = []
    loose = "varies" in tags(cell)
    outputs = [each for each in cell.outputs if not is_view(each)]
    if loose:
        outputs = [each for each in outputs if each.output_type != "stream"]
    for output in joined_streams(outputs):
        if output.output_type == "error":
            trace = [] if loose else [_ESCAPE.sub("", line) for line in output.traceback]
            shown.append(["error", output.ename, output.evalue, _certain(output.ename, trace)])
        elif output.output_type == "stream":
            shown.append([output.name, output.text])
        else:
            picture = {"image/png": "a picture"} if "image/png" in output.data else {}
            shown.append([output.output_type, {**output.data, **picture}])
    return shown


def _certain(name: str, trace: list[str]) -> list[str]:
    """A run that is ended from outside knows its line only if it computed for long enough."""
    return trace[:1] if name in ("terminated", "MemoryLimitExceeded") else trace
