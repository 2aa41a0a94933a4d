"""A program with mistakes; each line that a type checker has to report ends with `# wrong`."""

from __future__ import annotations

from sandbox_kernel import evaluate, run_code

run_code("export default 1", memory_limit_byte=1024)  # wrong
run_code("export default 1", memory_limit_bytes="64MiB")  # wrong
run_code("export default 1", language="python")  # wrong
run_code("export default 1", globals=["rows"])  # wrong
run_code("export default 1", modules={"./lib.ts": 1})  # wrong
run_code("export default 1", report="print")  # wrong
run_code("export default 1", naive="local")  # wrong
evaluate("1", memory_limit_bytes="64MiB")  # wrong
evaluate("1", report="print")  # wrong
evaluate("1", global_={})  # wrong
