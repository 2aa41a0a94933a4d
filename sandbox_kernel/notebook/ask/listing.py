"""`%permissions`: what is kept about calls, when it was last used, and how to take it back."""

from __future__ import annotations

import time

from ...clean import clean_name
from ...errors import OptionError
from ...permissions import FilePermissionStore
from ...permissions.store import Entry
from ...spelling import suggestion

_HOW = "%permissions revoke NAME takes one back"


def check_permissions(line: str) -> None:
    words = line.split(maxsplit=1)
    if words and (words[0] != "revoke" or len(words) != 2):
        raise OptionError(f"%permissions {line} is not known; {_HOW}", "permissions")


def answer_permissions(line: str) -> str:
    """Raises OptionError for what is not kept."""
    check_permissions(line)
    store = FilePermissionStore()
    if not line:
        entries = store.entries()
        if not entries:
            return "nothing is kept: no call is allowed or denied for good"
        width = max(map(len, entries))
        lines = [_row(name, entry, width) for name, entry in sorted(entries.items())]
        return "\n".join([*lines, _HOW])
    name = line.split(maxsplit=1)[1].strip()
    if not store.revoke(name):
        kept = store.entries()
        hint = f"; {suggestion(name, kept)}" if kept else ""
        raise OptionError(f"nothing is kept about {name!r:.80}{hint}", "permissions")
    return f"{clean_name(name)} is asked about again"


def _row(name: str, entry: Entry, width: int) -> str:
    used = "never used" if entry.used is None else f"last used {_day(entry.used)}"
    until = "until revoked" if entry.until is None else f"until {_day(entry.until)}"
    return f"{clean_name(name):{width}}  {entry.effect.value:5}  {used}, {until}"


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))
