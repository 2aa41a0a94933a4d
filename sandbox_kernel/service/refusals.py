"""Why the service does not do what it was asked: a status, a stable code, and a message."""

from __future__ import annotations

from typing import Any, NoReturn

STATUS_OF = {
    "bad_request": 400,
    "unauthorized": 401,
    "not_found": 404,
    "method_not_allowed": 405,
    "conflict": 409,
    "too_large": 413,
    "unsupported_media_type": 415,
    "busy": 503,
    "draining": 503,
}
RETRY_AFTER = 1  # seconds, for whoever comes while every place is taken


class Refusal(Exception):
    """Nothing was run. The message is for the requester, and tells nothing of the host."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status = STATUS_OF[code]

    def to_json(self) -> dict[str, Any]:
        return {"error": {"code": self.code, "message": str(self)}}


def refuse(code: str, message: str) -> NoReturn:
    raise Refusal(code, message)
