"""The path of a `%%module` cell: one that is not relative is answered with one that is."""

from __future__ import annotations

import pytest

from sandbox_kernel import OptionError
from sandbox_kernel.notebook.options.modules import check_module


@pytest.mark.parametrize("path", ["./lib.ts", "./lib/math.js", "./lib"])
def test_a_relative_path_is_accepted(path: str) -> None:
    check_module("%%module", path, "export {}")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", "%%module needs a path: %%module ./PATH"),
        ("lib", "%%module lib is not a relative path; write %%module ./lib.ts"),
        ("lib/math.js", "write %%module ./lib/math.js"),
        ("../up.ts", "write %%module ./up.ts"),
        ("/etc/passwd", "write %%module ./etc/passwd.ts"),
        ("..", "write %%module ./lib.ts"),
        ("./a/../b.ts", "modules key './a/../b.ts'"),
    ],
)
def test_any_other_path_is_refused_with_one_that_works(path: str, says: str) -> None:
    with pytest.raises(OptionError) as caught:
        check_module("%%module", path, "export {}")
    assert says in str(caught.value)
