"""Small packages to install, from this machine: tests reach no index of others."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def wheel(folder: Path, name: str, source: str) -> Path:
    """A pure wheel with one module."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},{_digest(text)},{len(text)}\n" for path, text in files.items())
    target = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(path, text)
    return target


@contextmanager
def npm_registry(name: str, source: str, script: str = "") -> Iterator[str]:
    """The address of a registry on this machine that has one package.

    `script` is what npm would run in a shell when it is installed.
    """
    tarball = _npm_tarball(name, source, script)

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = tarball if self.path.endswith(".tgz") else self._document()
            self.send_response(200 if self.path.strip("/") in (name, f"{name}.tgz") else 404)
            self.end_headers()
            self.wfile.write(body)

        def _document(self) -> bytes:
            address = f"http://127.0.0.1:{server.server_port}/{name}.tgz"
            integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
            version = {
                "name": name,
                "version": "1.0.0",
                "scripts": {"preinstall": script, "postinstall": script} if script else {},
                "hasInstallScript": bool(script),
                "dist": {"tarball": address, "integrity": integrity},
            }
            document = {
                "name": name,
                "dist-tags": {"latest": "1.0.0"},
                "versions": {"1.0.0": version},
            }
            return json.dumps(document).encode()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def _npm_tarball(name: str, source: str, script: str) -> bytes:
    scripts = {"preinstall": script, "postinstall": script} if script else {}
    shape = {"name": name, "version": "1.0.0", "main": "index.js", "scripts": scripts}
    manifest = json.dumps(shape)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in (("package.json", manifest), ("index.js", source)):
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
