"""`%mcp` and `%types` in Python notebooks."""

from __future__ import annotations

import sys

from tests.clients import Client

START = f"%mcp time {sys.executable} -m mcp_server_time --local-timezone UTC"
CODE = "import { get_current_time } from '@mcp/time'; (await get_current_time({timezone: 'UTC'})).timezone"


def test_cells_import_the_tools_of_a_server(notebook: Client) -> None:
    assert notebook.run(START).check().stdout == "@mcp/time: get_current_time, convert_time\n"
    assert notebook.run(f"%%runcode\n{CODE}").check().text == "'UTC'"
    assert notebook.run("%mcp").check().stdout == "@mcp/time: get_current_time, convert_time\n"
    assert 'declare module "@mcp/time"' in notebook.run("%types").check().stdout


def test_a_wrong_line_says_why(notebook: Client) -> None:
    assert "needs a name and a command or a URL" in notebook.run("%mcp time").traceback
    assert "the MCP server x failed" in notebook.run("%mcp x no-such-command").traceback


def test_a_server_with_ask_is_asked_about(notebook: Client) -> None:
    """Here nobody can answer."""
    notebook.run(START.replace("%mcp", "%mcp --ask")).check()
    done = notebook.run(f"%%runcode --no-widget\n{CODE}", allow_stdin=False)
    assert "@mcp/time.get_current_time was not allowed" in done.traceback
    notebook.run(START).check()
    assert notebook.run(f"%%runcode\n{CODE}").check().text == "'UTC'"
