"""OpenAI's and Anthropic's services as their clients meet them, on this machine: one call, one answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME, ARGS, ANSWER = "price", {"name": "tea"}, "It is 2.50."


class _Services(BaseHTTPRequestHandler):
    """Asks for a tool first, and answers once the last message has its result."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        shape = _openai(body) if self.path.endswith("/chat/completions") else _anthropic(body)
        text = json.dumps(shape).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


def _openai(body: dict[str, Any]) -> dict[str, Any]:
    assert NAME in [tool["function"]["name"] for tool in body["tools"]]
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    if body["messages"][-1]["role"] != "tool":
        function = {"name": NAME, "arguments": json.dumps(ARGS)}
        call = {"id": "c1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "any",
        "choices": [choice],
    }


def _anthropic(body: dict[str, Any]) -> dict[str, Any]:
    assert NAME in [tool["name"] for tool in body["tools"]]
    last = body["messages"][-1]["content"]
    block: dict[str, Any] = {"type": "text", "text": ANSWER}
    if isinstance(last, str):
        block = {"type": "tool_use", "id": "t1", "name": NAME, "input": ARGS}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {
        "id": "1", "type": "message", "role": "assistant", "model": "any", "content": [block],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": usage,
    }  # fmt: skip


@contextmanager
def model_services() -> Iterator[dict[str, str]]:
    """The environment by which both clients find them."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Services) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield {
                "OPENAI_BASE_URL": f"{address}/v1",
                "OPENAI_API_KEY": "for tests",
                "ANTHROPIC_BASE_URL": address,
                "ANTHROPIC_API_KEY": "for tests",
            }
        finally:
            server.shutdown()
            thread.join()
