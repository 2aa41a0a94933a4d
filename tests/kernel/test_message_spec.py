"""jupyter_kernel_test's own suite, with everything turned on that a sandbox kernel can answer.

What is left out: the pager (help is ordinary output here) and clearing output.
"""

from __future__ import annotations

from typing import Any

import jupyter_kernel_test


class TestMessageSpec(jupyter_kernel_test.KernelTests):
    kernel_name = "sandbox"
    language_name = "typescript"
    file_extension = ".ts"

    code_hello_world = "console.log('hello, world')"
    code_stderr = "console.error('oops')"
    code_generate_error = "throw new Error('no')"
    code_inspect_sample = "Math.max"

    code_execute_result = [  # noqa: RUF012  # as jupyter_kernel_test has it
        {"code": "6 * 7", "result": "42"},
        {"code": "export default { a: 1 }", "result": "{ a: 1 }"},
        {"code": "export default [1]", "mime": "application/json"},
    ]
    code_display_data: list[dict[str, Any]] = [  # noqa: RUF012  # as jupyter_kernel_test has it
        {
            "code": "%%bridge d\nfrom IPython.display import HTML\ndisplay(HTML('x'))",
            "mime": "text/html",
        }
    ]

    completion_samples = [  # noqa: RUF012  # as jupyter_kernel_test has it
        {"text": "Math.flo", "matches": {"floor"}},
        {"text": "%doc", "matches": {"%doctor"}},
    ]
    complete_code_samples = ["1", "const a = 1", "function f() { return 1 }", "%help"]  # noqa: RUF012  # as jupyter_kernel_test has it
    incomplete_code_samples = ["const a =", "f(", "`open", "if (x) {"]  # noqa: RUF012  # as jupyter_kernel_test has it
    invalid_code_samples = ["f(]", "'open", "%nothing"]  # noqa: RUF012  # as jupyter_kernel_test has it

    code_history_pattern = "6 ?*"
    supported_history_operations = ("tail", "range", "search")


del jupyter_kernel_test.KernelTests  # or pytest would collect the base class through the module
