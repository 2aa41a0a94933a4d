"""Any MCP server's tools as functions to lend."""

from __future__ import annotations

from .modules import McpModules

__all__ = ["McpModules"]
