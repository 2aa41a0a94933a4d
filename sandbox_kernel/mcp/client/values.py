"""What a tool answered, as a plain value."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from ...budget import capped
from ...clean import clean

if TYPE_CHECKING:
    import mcp_types as types

_LONGEST = 2_000  # characters of an error


class ToolFailed(RuntimeError):
    """The tool says that it failed; the message is its own."""


def value_of(result: types.CallToolResult) -> Any:
    """Structured as it is, `{result: x}` alone as x, a text as text, an image as its bytes; several
    contents as a list. Raises ToolFailed."""
    if result.is_error:
        raise ToolFailed(_message(result))
    structured = result.structured_content
    if structured is not None:
        alone = isinstance(structured, dict) and list(structured) == ["result"]
        return structured["result"] if alone else structured
    values = [_content(each) for each in result.content]
    return values[0] if len(values) == 1 else values or None


def _message(result: types.CallToolResult) -> str:
    texts = [getattr(each, "text", "") for each in result.content]
    joined = "\n".join(text for text in texts if text)
    return capped(clean(joined), _LONGEST) or "the tool failed, and said nothing"


def _content(block: types.ContentBlock) -> Any:
    if block.type == "text":
        return block.text
    if block.type == "image" or block.type == "audio":
        return _bytes(block.data)
    if block.type == "resource":
        text = getattr(block.resource, "text", None)
        return text if text is not None else _bytes(getattr(block.resource, "blob", ""))
    return {"uri": str(block.uri), "name": block.name}


def _bytes(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ToolFailed("the tool answered with data that is not base64") from None
