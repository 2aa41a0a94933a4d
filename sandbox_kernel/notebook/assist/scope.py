"""What the code of one cell may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Scope:
    """Exports by specifier, module texts by path, and values (or what is known of them) by name."""

    imports: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    globals: Mapping[str, Any] = field(default_factory=dict)
