"""With each extra, in an empty environment, what it is for works; and so does the sdist."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebooks.execution import NOTEBOOKS
from tests.packaging.installed import ROOT, Distributions, Installed, installation
from tests.test_documents import declared

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

SITE = ("-m", "sphinx", "-q", "-W", "-c", ROOT / "docs" / "site", "-b", "html", ROOT)

PROGRAM = """
import sandbox_kernel
result = sandbox_kernel.run_program("console.log(6 * 7)", "LANGUAGE").wait(60)
print(result.stdout.strip(), result.stderr)
"""

MCP = """
import asyncio, sys
from sandbox_kernel import run_code
from sandbox_kernel.mcp import McpModules

SERVER = '''
from mcp.server.mcpserver import MCPServer
server = MCPServer("sums")
@server.tool()
def times(a: int, b: int) -> int:
    "a times b"
    return a * b
server.run()
'''

async def main():
    async with McpModules({"sums": {"command": sys.executable, "args": ["-c", SERVER]}}) as mcp:
        code = "import { times } from '@mcp/sums'; export default await times({ a: 6, b: 7 })"
        print((await run_code(code, imports=mcp.imports)).unwrap())

asyncio.run(main())
"""

DASK = """
from distributed import Client, LocalCluster
from sandbox_kernel import run_many
from sandbox_kernel.cluster import DaskEngine

options = dict(n_workers=1, processes=False, protocol="tcp://", dashboard_address=":0")
with LocalCluster(**options) as cluster, Client(cluster) as client, DaskEngine(client) as engine:
    print(sum(each.unwrap() for each in run_many("export default (n) => n * 2", [10, 11], engine=engine)))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An environment may take a gigabyte, and pytest keeps what tests leave."""
    yield tmp_path
    shutil.rmtree(tmp_path / "environment", ignore_errors=True)


def with_extra(name: str, distributions: Distributions, folder: Path) -> Installed:
    return installation(f"{distributions.wheel}[{name}]", folder)


def run(installed: Installed, program: str) -> str:
    file = installed.home / "program.py"
    file.write_text(program)
    return installed.run(file).strip()


def test_every_extra_is_tried_here() -> None:
    tried = {"lab", "course", "node", "deno", "mcp", "dask", "docs"}
    assert set(declared()) - {"", "test"} == tried


def test_the_sdist_installs_and_runs(distributions: Distributions, folder: Path) -> None:
    installed = installation(str(distributions.sdist), folder)
    said = run(installed, "import sandbox_kernel as s; print(s.evaluate('6 * 7').wait(60).result)")
    assert said == "42"


@pytest.mark.parametrize("language", ["node", "deno"])
def test_a_runtime_comes_with_its_extra(
    distributions: Distributions, folder: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    installed = with_extra(language, distributions, folder)
    monkeypatch.setenv("PATH", str(folder))  # and so nothing of this machine's is found
    assert run(installed, PROGRAM.replace("LANGUAGE", language)) == "42"


@pytest.mark.parametrize(("extra", "program"), [("mcp", MCP), ("dask", DASK)])
def test_a_program_that_needs_the_extra_runs(
    distributions: Distributions, folder: Path, extra: str, program: str
) -> None:
    assert run(with_extra(extra, distributions, folder), program) == "42"


def test_the_site_is_built_with_its_extra(distributions: Distributions, folder: Path) -> None:
    installed = with_extra("docs", distributions, folder)
    installed.run(*SITE, "-d", folder / "trees", folder / "site")
    assert (folder / "site" / "searchindex.js").is_file()


def test_jupyterlab_has_the_kernel(distributions: Distributions, folder: Path) -> None:
    installed = with_extra("lab", distributions, folder)
    assert installed.run("-m", "jupyterlab", "--version").startswith("4.")
    first = shutil.copy(NOTEBOOKS[0], installed.home)
    installed.run("-m", "jupyter", "execute", "--inplace", first)


def test_the_whole_course_runs_with_its_extra(distributions: Distributions, folder: Path) -> None:
    """What `make lab` installs is enough for every notebook."""
    installed = with_extra("course", distributions, folder)
    course = installed.home / "notebooks"
    shutil.copytree(ROOT / "notebooks", course)
    for path in NOTEBOOKS:
        installed.run("-m", "jupyter", "execute", "--timeout=120", course / path.name)
