"""Tools for models: a toolbox, one turn of calls, and tools that run code or plans."""

from __future__ import annotations

from .backends import NodeBackend, PythonBackend, UnsupportedLanguageError
from .code_execution import (
    CodeExecutionBackend,
    CodeExecutionRequest,
    code_execution_tool,
    format_code_execution_result,
)
from .jsrun import JsrunError, jsrun
from .plan import plan_execution_tool
from .results import ToolContext, ToolResult
from .tool import ArgumentsError, Tool, runs_code
from .toolbox import RecursionRefusedError, Toolbox, UnknownToolError
from .turns import answer_openai, run_tool_calls

__all__ = [
    "ArgumentsError",
    "CodeExecutionBackend",
    "CodeExecutionRequest",
    "JsrunError",
    "NodeBackend",
    "PythonBackend",
    "RecursionRefusedError",
    "Tool",
    "ToolContext",
    "ToolResult",
    "Toolbox",
    "UnknownToolError",
    "UnsupportedLanguageError",
    "answer_openai",
    "code_execution_tool",
    "format_code_execution_result",
    "jsrun",
    "plan_execution_tool",
    "run_tool_calls",
    "runs_code",
]
