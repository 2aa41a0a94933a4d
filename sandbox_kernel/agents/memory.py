"""The messages of a conversation, so that the next prompt goes on with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Message = dict[str, Any]


class SessionMemoryStore:
    """Keeps messages by session, for as long as the store exists."""

    def __init__(self) -> None:
        self._sessions: dict[str, list[Message]] = {}

    def messages(self, session_id: str) -> list[Message]:
        return list(self._sessions.get(session_id, ()))

    def append(self, session_id: str, messages: Iterable[Message]) -> None:
        self._sessions.setdefault(session_id, []).extend(messages)

    def clear(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)
