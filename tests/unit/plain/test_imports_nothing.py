"""pandas, NumPy and Arrow are recognised when somebody has loaded them, and never imported by us."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
before = set(sys.modules)  # where coverage is measured, that has loaded some of them
from dataclasses import dataclass
from sandbox_kernel import SerializationError, run_code

@dataclass
class Point:
    x: int

class Strange:
    ndim = 0

assert run_code("export default p.x", globals={"p": Point(1)}).wait().result == 1
assert run_code("export default get().x", globals={"get": lambda: Point(2)}).wait().result == 2
try:
    run_code("export default 1", globals={"s": Strange()})
except SerializationError:
    pass
libraries = {"numpy", "pandas", "pyarrow", "decimal", "uuid"} & (set(sys.modules) - before)
assert not libraries, libraries
"""


def test_lending_imports_no_library() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
