"""The SDK is an extra: whoever needs it and has none is told how to get it."""

from __future__ import annotations

from importlib.util import find_spec

from ..errors import OptionError


def need_sdk() -> None:
    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        raise OptionError(
            "MCP needs the package mcp, version 2.3 or later: pip install 'sandbox-kernel[mcp]'"
        )
