"""Takes the headers that a host injects out of everything that comes back to the guest."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from html import escape
from urllib.parse import quote, quote_plus

_BLANK = "***"
_SHORTEST = 4  # characters; what is shorter is no secret, and stands in many texts
_NO_SECRETS = frozenset(
    ("accept", "accept-language", "accept-charset", "user-agent", "content-type", "cache-control")
)


class Blanking:
    """Knows each value, its part after a scheme such as `Bearer`, and usual spellings of both."""

    def __init__(self, headers: Iterable[Mapping[str, str]]) -> None:
        found: set[str] = set()
        for each in headers:
            for name, value in each.items():
                if name.lower() not in _NO_SECRETS:
                    found |= _spellings(value)
        secrets = {each for each in found if len(each) >= _SHORTEST}
        self._texts = sorted(secrets, key=len, reverse=True)
        self._bytes = [each.encode() for each in self._texts]

    def text(self, text: str) -> str:
        for secret in self._texts:
            text = text.replace(secret, _BLANK)
        return text

    def bytes(self, data: bytes) -> bytes:
        for secret in self._bytes:
            data = data.replace(secret, _BLANK.encode())
        return data


def _spellings(value: str) -> set[str]:
    parts = {value, value.partition(" ")[2].strip()}
    if value.lower().startswith("basic "):
        try:
            decoded = base64.b64decode(value[6:], validate=True).decode()
            parts |= {decoded, decoded.partition(":")[2]}
        except (binascii.Error, UnicodeDecodeError):
            pass  # not what it says
    encoded = {base64.b64encode(part.encode()).decode() for part in parts if part}
    return parts | encoded | {spell(part) for part in parts for spell in _SPELLINGS}


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _in_json_of_others(text: str) -> str:
    """Some escape slashes."""
    return _in_json(text).replace("/", "\\/")


_SPELLINGS = (quote, quote_plus, escape, _in_json, _in_json_of_others)
