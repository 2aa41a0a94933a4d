"""MCP both ways: the sandbox as a server, and any server's tools as functions to lend.

The SDK (`pip install 'sandbox-kernel[mcp]'`) speaks the protocol, and is loaded when it is used.
"""

from __future__ import annotations

from .client import McpModules

__all__ = ["McpModules"]
