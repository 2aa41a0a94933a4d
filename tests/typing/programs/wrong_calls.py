"""Mistakes beyond the options; each line that a type checker has to report ends with `# wrong`."""

from __future__ import annotations

from sandbox_kernel import CodeExecutionResult, run_code

run_code(b"export default 1")  # wrong
run_code("export default 1", engine="mine")  # wrong
run_code("export default 1").terminate(5)  # wrong
run_code("export default 1").wait("soon")  # wrong
print(run_code("export default 1").wait().durations_ms)  # wrong
result: CodeExecutionResult = run_code("export default 1")  # wrong
