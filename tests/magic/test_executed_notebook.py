"""A notebook executed without a page, by nbclient: what is in the file, and in its exports."""

from __future__ import annotations

import json
from functools import cache
from html import unescape
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter, MarkdownExporter
from nbformat.v4 import new_code_cell, new_notebook

from tests.clients import VIEW
from tests.markup import check_inert

STATE = "application/vnd.jupyter.widget-state+json"
BODY = "%%runcode\nreport({ kept: 'yes' }); report(2); report(5); export default 'over';"


@cache
def executed() -> nbformat.NotebookNode:
    """Two runs with a view."""
    cells = [new_code_cell(text) for text in ("%load_ext runcode", BODY, BODY)]
    notebook = new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    nbformat.validate(notebook)
    return notebook


def states() -> dict[str, Any]:
    return dict(executed().metadata["widgets"][STATE]["state"])


def test_the_final_state_is_in_the_notebook_live_and_still() -> None:
    view, still, result = executed().cells[1].outputs
    assert "[0] { kept: 'yes' }\n[1] 2" in still["data"]["text/plain"]
    assert result["data"]["text/plain"] == "'over'"
    head = states()[view["data"][VIEW]["model_id"]]["state"]["head"]
    assert (head["status"], head["reports"]) == ("success", 3)


def test_the_code_of_the_view_is_in_the_notebook_once() -> None:
    sizes = sorted(len(json.dumps(state)) for state in states().values())
    assert sum("class ReportTree" in json.dumps(state) for state in states().values()) == 1
    assert sizes[-2] < 4_000  # the views themselves, and their layouts


@pytest.mark.parametrize("exporter", [HTMLExporter, MarkdownExporter])
def test_an_export_has_the_run_as_text(exporter: Any) -> None:
    for has_state in (True, False):
        notebook = nbformat.from_dict(executed())
        if not has_state:
            notebook.metadata = {}
        text, _ = exporter().from_notebook_node(notebook)
        assert text.count("Finished</span> after ") == 2
        assert "kept: 'yes'" in unescape(text)
        assert "still running" not in text


def test_what_is_exported_is_inert() -> None:
    still = executed().cells[1].outputs[1]["data"]["text/html"]
    assert "svg" in check_inert(still).tags
