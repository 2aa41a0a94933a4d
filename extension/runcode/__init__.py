"""`%load_ext runcode`: the cell magics %%runcode, %%runmodule, %%runprogram and %%agent in Python notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_ATTRIBUTE = "_runcode_awaiting"
_MAGICS = (
    "runcode",
    "_runcode",
    "runmodule",
    "runprogram",
    "_runprogram",
    "agent",
    "_agent",
    "runs",
    "mcp",
    "types",
)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What `%load_ext runcode` calls, and `%load_ext sandbox_kernel`."""
    if hasattr(shell, _ATTRIBUTE):
        return  # loaded already, under the other name
    from sandbox_kernel.contract import CodeExecutionResult
    from sandbox_kernel.engine import Engine
    from sandbox_kernel.notebook.colours import colour_cells

    from .agent_magic import Agent
    from .awaiting import Awaiting
    from .body import body_matcher
    from .complete import complete, complete_agent, complete_program
    from .magic import RunCode
    from .output import bundle_of
    from .program_magic import RunProgram

    magics = RunCode(shell)
    shell.register_magics(magics)
    shell.register_magics(RunProgram(shell))
    shell.register_magics(Agent(shell))
    _bundles(shell).for_type(CodeExecutionResult, bundle_of)
    set_hook: Any = shell.set_hook
    set_hook("complete_command", complete, str_key="%%runcode")
    set_hook("complete_command", complete_program, str_key="%%runprogram")
    set_hook("complete_command", complete_agent, str_key="%%agent")
    matcher = body_matcher(shell, magics.modules)
    shell.Completer.custom_matchers.append(matcher)
    awaiting = Awaiting(shell)
    awaiting.install()
    setattr(shell, _ATTRIBUTE, (awaiting, matcher, magics.servers))
    if getattr(shell, "kernel", None) is not None:
        colour_cells()
    Engine.instance().warm_up()  # its processes get ready while the first cell is being written


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """What `%unload_ext runcode` calls, and `%unload_ext sandbox_kernel`."""
    if not hasattr(shell, _ATTRIBUTE):
        return  # unloaded already, under the other name
    from sandbox_kernel.contract import CodeExecutionResult

    awaiting, matcher, servers = getattr(shell, _ATTRIBUTE)
    awaiting.uninstall()
    servers.close()
    shell.Completer.custom_matchers.remove(matcher)
    delattr(shell, _ATTRIBUTE)
    _bundles(shell).pop(CodeExecutionResult, None)
    for kind in ("line", "cell"):
        for name in _MAGICS:
            shell.magics_manager.magics[kind].pop(name, None)


def _bundles(shell: InteractiveShell) -> Any:
    assert shell.display_formatter is not None  # every shell has one; only its type says otherwise
    return shell.display_formatter.mimebundle_formatter
