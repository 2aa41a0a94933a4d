"""The sandbox as an MCP server: four tools over any transport of the SDK."""
