"""Tools for models: a toolbox, one turn of calls, and tools that run code or plans."""

from __future__ import annotations

from .backends import (
    DenoBackend,
    NodeBackend,
    PythonBackend,
    QuickJSBackend,
    UnsupportedLanguageError,
)
from .code_execution import (
    CodeExecutionBackend,
    CodeExecutionRequest,
    code_execution_tool,
    format_code_execution_result,
)
from .code_tool import with_code_execution
from .executor import ExecutorError
from .gates import Gates, execute_code_tool
from .jsrun import JsrunError, jsrun
from .plan import plan_execution_tool
from .recursion import RecursionRefusedError, runs_code
from .requests import CodeFile, CodeRequest, CodeResult
from .results import ToolContext, ToolResult
from .runner import CodeRunner, LocalRunner
from .tool import ArgumentsError, Tool
from .toolbox import Toolbox, UnknownToolError
from .turns import answer_openai, run_tool_calls

__all__ = [
    "ArgumentsError",
    "CodeExecutionBackend",
    "CodeExecutionRequest",
    "CodeFile",
    "CodeRequest",
    "CodeResult",
    "CodeRunner",
    "DenoBackend",
    "ExecutorError",
    "Gates",
    "JsrunError",
    "LocalRunner",
    "NodeBackend",
    "PythonBackend",
    "QuickJSBackend",
    "RecursionRefusedError",
    "Tool",
    "ToolContext",
    "ToolResult",
    "Toolbox",
    "UnknownToolError",
    "UnsupportedLanguageError",
    "answer_openai",
    "code_execution_tool",
    "execute_code_tool",
    "format_code_execution_result",
    "jsrun",
    "plan_execution_tool",
    "run_tool_calls",
    "runs_code",
    "with_code_execution",
]
