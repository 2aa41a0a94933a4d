"""The public names: pinned, so that none appears or goes by accident."""

from __future__ import annotations

import subprocess
import sys

import sandbox_kernel


def test_the_public_names_are_these() -> None:
    assert sorted(sandbox_kernel.__all__) == [
        "ArrayBuffer", "BigInt", "CodeExecution", "CodeExecutionError", "CodeExecutionLog",
        "CodeExecutionOptions", "CodeExecutionResult", "Engine", "EngineBusyError", "EngineClosedError", "EngineError",
        "GuestError", "GuestFunction", "IsolationError", "JSMap", "JSSet", "ManyExecution", "Opaque", "OpenCode", "OptionError",
        "OutputFile", "ProgramExecution", "ProgramResult", "Programs",
        "RunEndedError", "RunFailed", "SandboxError", "SerializationError", "__version__", "columns", "evaluate",
        "extract_code", "modules_from", "one_way", "open_code", "run_code", "run_many", "run_program", "to_frame", "undefined",
    ]  # fmt: skip
    for name in sandbox_kernel.__all__:
        assert getattr(sandbox_kernel, name) is not None


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, sandbox_kernel; print([m for m in ('asyncio', 'traitlets', 'cffi') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_misspelt_name_gets_the_nearest_one() -> None:
    code = "import sandbox_kernel; sandbox_kernel.run_cod"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Did you mean: 'run_code'?" in done.stderr


def test_the_default_engine_and_the_default_programs_stand_side_by_side() -> None:
    code = "from sandbox_kernel import *; Engine.instance(); Programs.instance(); Engine.instance()"
    subprocess.run([sys.executable, "-c", code], check=True)
