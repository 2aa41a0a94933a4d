"""In an empty environment the wheel is enough: the API, the kernel, the magic, the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.contract.serving import KEY, serving_as, started
from tests.packaging.installed import Installed

NOTEBOOK = Path(__file__).with_name("notebook.py")

RUN = """
import sandbox_kernel
print(sandbox_kernel.__file__)
print(sandbox_kernel.run_code("export default [1, 2].map((n: number) => n * 2)").wait(60).result)
"""


def shown(installed: Installed, kernel: str, *cells: str) -> list[str]:
    """What the last of the cells shows; each of them must succeed."""
    answers: list[dict[str, Any]] = json.loads(installed.run(NOTEBOOK, kernel, *cells))
    assert [answer["status"] for answer in answers] == ["ok"] * len(cells), answers
    texts: list[str] = answers[-1]["shown"]
    return texts


def test_run_code_runs_from_the_installed_files(installed: Installed) -> None:
    home, result = installed.run("-c", RUN).splitlines()
    assert Path(home).is_relative_to(installed.prefix)
    assert result == "[2, 4]"


def test_the_kernelspec_is_found(installed: Installed) -> None:
    listing = installed.run("-m", "jupyter", "kernelspec", "list", "--json")
    found = json.loads(listing)["kernelspecs"]["sandbox"]
    assert Path(found["resource_dir"]).is_relative_to(installed.prefix)


def test_a_cell_of_the_kernel_runs(installed: Installed) -> None:
    assert shown(installed, "sandbox", "const n: number = 20; n + 1") == ["21"]


def test_the_magic_loads_and_runs_a_cell(installed: Installed) -> None:
    cell = "%%runcode\nexport default 6 * 7"
    assert shown(installed, "python3", "%load_ext runcode", cell) == ["42"]


def test_the_command_is_installed(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "sum.ts").write_text("args.map(Number).reduce((a: number, b: number) => a + b)")
    command = installed.prefix / "bin" / "sandbox-kernel"
    assert installed.run(command, "run", tmp_path / "sum.ts", "1", "2") == "3\n"


def test_the_doctor_finds_nothing_broken(installed: Installed) -> None:
    printed = installed.run("-m", "sandbox_kernel", "doctor")
    assert printed.endswith("0 succeeded\n")


def test_the_service_starts_as_the_container_starts_it(installed: Installed) -> None:
    """docs/deploying.md: `ENTRYPOINT ["sandbox-kernel", "serve"]`."""
    command = [str(installed.prefix / "bin" / "sandbox-kernel"), "serve"]
    environment = {**installed.environment(), "SANDBOX_EXECUTOR_SERVICE_API_KEY": KEY}
    process = started([*command, "--listen", "127.0.0.1:0"], environment)
    with serving_as(process) as service:
        assert service.execute("print(6 * 7)")["stdout"] == "42\n"
