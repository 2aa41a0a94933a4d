"""What the examples of the documents take as given: files in the working folder, an API to ask."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

from tests.contract.serving import KEY, serving
from tests.model_services import model_services
from tests.node.packages import NODE, install

_CSV = {"cities.csv": "name\nOslo\nRome\n", "people.csv": "name\nAda\nBob\nCyd\n"}


def has_npm() -> bool:
    return shutil.which("npm") is not None and shutil.which("node") is not None


@contextmanager
def scenery(page: str, folder: Path) -> Iterator[dict[str, Any]]:
    """The names that the examples of a page begin with; the working folder is theirs meanwhile."""
    with ExitStack() as stack:
        stack.enter_context(chdir(folder))
        given: dict[str, Any] = {"__name__": "__main__"}
        if page in ("recipes.md", "folder.md"):
            (folder / "data").mkdir()
            for name, text in _CSV.items():
                (folder / "data" / name).write_text(text)
        if page == "recipes.md" and has_npm():
            install()
            (folder / "node_modules").symlink_to(NODE / "node_modules")
        if page in ("recipes.md", "web-api.md"):
            given["API"] = stack.enter_context(_weather())
            given["API_HOST"] = given["API"].removeprefix("http://")
        if page == "service.md":
            given["url"] = stack.enter_context(serving()).url
            given["key"] = KEY
        if page == "agents.md":
            found = stack.enter_context(model_services())
            stack.enter_context(patch.dict(os.environ, found))
        yield given


class _Weather(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        city = parse_qs(urlsplit(self.path).query)["city"][0]
        body = json.dumps({"city": city, "degrees": ord(city[0])}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def _weather() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Weather) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
