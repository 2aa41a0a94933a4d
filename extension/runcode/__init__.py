"""`%load_ext runcode`: the cell magics %%runcode and %%runmodule in ordinary Python notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_ATTRIBUTE = "_runcode_awaiting"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What `%load_ext runcode` calls, and `%load_ext sandbox_kernel`."""
    if hasattr(shell, _ATTRIBUTE):
        return  # loaded already, under the other name
    from sandbox_kernel.contract import CodeExecutionResult
    from sandbox_kernel.engine import Engine

    from .awaiting import Awaiting
    from .body import body_matcher
    from .colours import colour_cells
    from .complete import complete
    from .magic import RunCode
    from .output import bundle_of

    magics = RunCode(shell)
    shell.register_magics(magics)
    _bundles(shell).for_type(CodeExecutionResult, bundle_of)
    set_hook: Any = shell.set_hook
    set_hook("complete_command", complete, str_key="%%runcode")
    matcher = body_matcher(shell, magics.modules)
    shell.Completer.custom_matchers.append(matcher)
    awaiting = Awaiting(shell)
    awaiting.install()
    setattr(shell, _ATTRIBUTE, (awaiting, matcher))
    if getattr(shell, "kernel", None) is not None:
        colour_cells()
    Engine.instance().warm_up()  # its processes get ready while the first cell is being written


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """What `%unload_ext runcode` calls, and `%unload_ext sandbox_kernel`."""
    if not hasattr(shell, _ATTRIBUTE):
        return  # unloaded already, under the other name
    from sandbox_kernel.contract import CodeExecutionResult

    awaiting, matcher = getattr(shell, _ATTRIBUTE)
    awaiting.uninstall()
    shell.Completer.custom_matchers.remove(matcher)
    delattr(shell, _ATTRIBUTE)
    _bundles(shell).pop(CodeExecutionResult, None)
    for kind in ("line", "cell"):
        for name in ("runcode", "_runcode", "runmodule", "runs"):
            shell.magics_manager.magics[kind].pop(name, None)


def _bundles(shell: InteractiveShell) -> Any:
    assert shell.display_formatter is not None  # every shell has one; only its type says otherwise
    return shell.display_formatter.mimebundle_formatter
