"""Who may call what: rules, stores of answers, people who are asked, and the gate that uses them."""

from __future__ import annotations

from ..calls import Call, Decision
from .asking import CannotAsk, Prompter
from .effects import ApprovalChoice, ApprovalRequest, PermissionPolicy, ToolCall
from .gate import Gate, Policy, permission_gate
from .store import FilePermissionStore, InMemoryPermissionStore, PermissionStore

__all__ = [
    "ApprovalChoice",
    "ApprovalRequest",
    "Call",
    "CannotAsk",
    "Decision",
    "FilePermissionStore",
    "Gate",
    "InMemoryPermissionStore",
    "PermissionPolicy",
    "PermissionStore",
    "Policy",
    "Prompter",
    "ToolCall",
    "permission_gate",
]
