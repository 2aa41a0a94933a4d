"""`%mcp` and `%types` in the kernel: a real server's tools as imports of later cells."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import psutil
import pytest

from tests.clients import Client
from tests.waiting import until

START = f"%mcp time {sys.executable} -m mcp_server_time --local-timezone UTC"
CODE = "import { get_current_time } from '@mcp/time'; (await get_current_time({timezone: 'UTC'})).timezone"


@pytest.fixture(autouse=True)
def forget(kernel: Client) -> Iterator[None]:
    kernel.run("%reset")
    yield
    kernel.run("%reset")


def servers() -> list[psutil.Process]:
    every = psutil.Process().children(recursive=True)
    return [each for each in every if "mcp_server_time" in _words(each)]


def _words(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def test_cells_import_the_tools_of_a_server_until_reset(kernel: Client) -> None:
    assert kernel.run("%mcp").check().stdout.startswith("no MCP servers; %mcp NAME COMMAND")
    listed = "@mcp/time: get_current_time, convert_time\n"
    assert kernel.run(START).check().stdout == listed
    assert kernel.run("%mcp").check().stdout == listed
    assert kernel.value(CODE) == "'UTC'"
    shown = kernel.run("%types time").check().stdout
    assert "export function get_current_time(args: { timezone: string })" in shown
    assert servers()
    kernel.run("%reset mcp").check()
    assert until(lambda: not servers())
    assert "@mcp/time" in kernel.run(CODE).traceback


def test_the_same_name_again_replaces_the_server(kernel: Client) -> None:
    kernel.run(START).check()
    kernel.run(START).check()
    assert until(lambda: len(servers()) == 1)
    assert kernel.value(CODE) == "'UTC'"


def test_the_tools_are_completed(kernel: Client) -> None:
    kernel.run(START).check()
    code = "import { get_ } from '@mcp/time'"
    assert "get_current_time" in kernel.complete(code, code.index("get_") + 4)["matches"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%mcp time", "%mcp needs a name and a command or a URL"),
        ("%mcp 'time", "cannot be read"),
        ("%mcp a/b command", "cannot be the name of a server"),
        ("%mcp x no-such-command", "the MCP server x failed: FileNotFoundError"),
        ("%mcp x http://127.0.0.1:1/mcp", "the MCP server x failed"),
        ("%mcp x http://127.0.0.1:1/mcp more", "takes one URL"),
        ("%types time", "there is no MCP server 'time'"),
    ],
)
def test_a_wrong_line_says_why(kernel: Client, line: str, told: str) -> None:
    done = kernel.run(line)
    assert done.status == "error"
    assert told in done.traceback
    assert kernel.value("1 + 1") == "2"


def test_a_server_with_ask_is_asked_about(kernel: Client) -> None:
    """Here nobody can answer; tests of permissions have people who do."""
    started = kernel.run(START.replace("%mcp", "%mcp --ask")).check()
    assert started.stdout.endswith("asks before each call\n")
    done = kernel.run(f"%%runcode --no-widget\n{CODE}", allow_stdin=False)
    assert "@mcp/time.get_current_time was not allowed" in done.traceback
    kernel.run(START).check()
    assert kernel.value(CODE) == "'UTC'"
