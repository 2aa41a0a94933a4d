"""`python notebook.py KERNEL CELL...`: runs the cells in one notebook, prints what each one shows.

Runs in an environment that has the package and nothing of the tests.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from jupyter_client.manager import KernelManager


def run(kernel: str, cells: list[str]) -> list[dict[str, Any]]:
    """For each cell: the status of the reply and the texts of its outputs."""
    manager = KernelManager(kernel_name=kernel)
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        return [execute(client, cell) for cell in cells]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def execute(client: Any, cell: str) -> dict[str, Any]:
    shown: list[str] = []

    def keep(message: dict[str, Any]) -> None:
        data = message["content"].get("data", {})
        if "text/plain" in data:
            shown.append(data["text/plain"])

    reply = client.execute_interactive(cell, timeout=60, output_hook=keep)["content"]
    return {"status": reply["status"], "shown": shown, "error": reply.get("traceback", [])}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2:])))
