"""Which servers to use: checked data, from a mapping or from a file that somebody named.

No file is ever looked for: whoever wants one read names it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...errors import OptionError
from ...spelling import suggestion

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LARGEST = 1 << 20  # bytes of a file
_KEYS = ("command", "args", "env", "cwd", "url", "headers", "type")
_SERVERS = ("mcpServers", "servers")  # what the usual clients call the table in their files


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A command to start, or a URL."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def specifier(self) -> str:
        return f"@mcp/{self.name}"

    def __str__(self) -> str:
        return self.url or " ".join([str(self.command), *self.args])


def specs_of(servers: Mapping[str, Any]) -> list[ServerSpec]:
    if not isinstance(servers, Mapping):
        raise OptionError(
            f"servers are a mapping such as {{'time': {{'command': 'mcp-server-time'}}}}, not"
            f" {type(servers).__name__}"
        )
    return [spec_of(name, given) for name, given in servers.items()]


def spec_of(name: str, given: Any) -> ServerSpec:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise OptionError(
            f"{name!r:.80} cannot be the name of a server: letters, digits, '.', '_' and '-', at most"
            " 64, since code imports it as '@mcp/NAME'"
        )
    if not isinstance(given, Mapping):
        raise OptionError(f"the server {name} must be a mapping with a command or a url")
    for key in given:
        if key not in _KEYS:
            raise OptionError(
                f"the server {name} has an unknown key {key!r:.80}; {suggestion(str(key), _KEYS)}"
            )
    if ("command" in given) == ("url" in given):
        raise OptionError(f"the server {name} needs either a command or a url")
    url = given.get("url")
    return ServerSpec(
        name,
        command=_text(name, "command", given.get("command")),
        args=tuple(_text(name, "args", each) or "" for each in _list(name, given.get("args"))),
        env=_texts(name, "env", given.get("env")),
        cwd=_text(name, "cwd", given.get("cwd")),
        url=None if url is None else _checked_url(name, url),
        headers=_texts(name, "headers", given.get("headers")),
    )


def read_servers(path: str) -> dict[str, Any]:
    """The servers in a file of the usual form: `{"mcpServers": {NAME: {...}}}`."""
    found = read_object(path, "config")
    servers = next((found[key] for key in _SERVERS if key in found), found)
    if not isinstance(servers, dict):
        raise OptionError(f'{path} has no servers; write {{"mcpServers": {{…}}}}', "config")
    return servers


def read_object(path: str, option: str) -> dict[str, Any]:
    """The JSON object in a file that somebody named."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(_LARGEST + 1)
        found = json.loads(text) if len(text) <= _LARGEST else None
    except OSError as error:
        raise OptionError(f"--{option} {path} cannot be read: {error.strerror}", option) from None
    except (ValueError, RecursionError) as error:
        raise OptionError(f"--{option} {path} is not JSON: {error}", option) from None
    if not isinstance(found, dict):
        raise OptionError(f"--{option} {path} must hold a JSON object of at most 1 MiB", option)
    return found


def _checked_url(name: str, url: object) -> str:
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise OptionError(f"the url of {name} must begin with https:// or http://, not {url!r:.80}")
    return str(url)


def _text(name: str, key: str, value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or "\0" in value):
        raise OptionError(f"{key} of the server {name} must be text, not {value!r:.80}")
    return value


def _list(name: str, value: object) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise OptionError(f"args of the server {name} must be a list of text, not {value!r:.80}")
    return list(value)


def _texts(name: str, key: str, value: object) -> Mapping[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise OptionError(f"{key} of the server {name} must be a mapping of names to text")
    return {str(each): _text(name, f"{key}.{each}", text) or "" for each, text in value.items()}
