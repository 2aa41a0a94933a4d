"""A notebook executed without a page, by nbclient: the view's final state is in the file."""

from __future__ import annotations

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook


def test_the_final_state_and_its_text_are_in_the_notebook() -> None:
    body = "%%runcode\nreport({ kept: 'yes' }); report(2); export default 'over';"
    notebook = new_notebook(cells=[new_code_cell("%load_ext runcode"), new_code_cell(body)])
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    view, result = notebook.cells[1].outputs
    assert "[0] { kept: 'yes' }\n[1] 2" in view["data"]["text/plain"]
    assert result["data"]["text/plain"] == "'over'"
    model = view["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
    state = notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    assert state[model]["state"]["head"]["status"] == "success"
    assert state[model]["state"]["head"]["reports"] == 2
