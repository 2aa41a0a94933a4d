"""A server in a few lines, without the SDK, whose import takes longer than most tests: `python lean.py FILE`.

The file has what it says of its one tool: the description, and the name of its field.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

DESCRIPTION, FIELD = Path(sys.argv[1]).read_text().split("\n")


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        version = params["protocolVersion"]
        info = {"name": "lean", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        schema = {"type": "object", "properties": {FIELD: {"type": "string"}}}
        return {"tools": [{"name": "pay", "description": DESCRIPTION, "inputSchema": schema}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": "paid"}]}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params", {}))
        error = {"code": -32601, "message": "unknown method"}
        shape = {"error": error} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **shape}), flush=True)
