"""`install=True`: the host installs archives for a program, by name only, and runs nothing of them."""

from __future__ import annotations

import shutil
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.errors import OptionError
from sandbox_kernel.programs import Programs, installs
from sandbox_kernel.programs.installers import checked_name, install
from sandbox_kernel.run import run_program
from sandbox_kernel.sessions import Workspaces
from tests.waiting import until

from .conftest import Run


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, which is all that pip finds."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    return tmp_path


def put(wheels: Path, name: str, files: dict[str, str], version: str = "1.0") -> None:
    info = f"{name}-{version}.dist-info"
    everything = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{each},,\n" for each in [*everything, f"{info}/RECORD"])
    with zipfile.ZipFile(wheels / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in {**everything, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)


def test_a_package_is_installed_and_gone_with_the_program(run: Run, wheels: Path) -> None:
    put(wheels, "tiny", {"tiny/__init__.py": "answer = 42\n"})
    code = "install_package('tiny==1.0')\nimport tiny\nprint(tiny.answer)"
    result = run(code, install=True)
    assert result.stdout == "42\n", result.stderr
    assert result.output_files == []
    assert "ModuleNotFoundError" in run("import tiny", install=True).stderr
    assert result.calls[0]["name"] == "install_package"


def test_what_is_not_lent_is_not_there(run: Run) -> None:
    assert "NameError" in run("install_package('x')").stderr
    assert "NameError" in run("call_tool('install_package', {'name': 'x'})", install=True).stderr


def test_a_session_keeps_what_it_installed_until_it_is_deleted(run: Run, wheels: Path) -> None:
    put(wheels, "tiny", {"tiny/__init__.py": "answer = 42\n"})
    workspaces = Workspaces()
    session = {"session": "a", "workspaces": workspaces, "install": True}
    assert run("install_package('tiny')", **session).exit_code == 0
    code = "import tiny, os\nprint(tiny.answer, os.listdir())"
    assert run(code, **session).stdout == "42 []\n"
    assert "ModuleNotFoundError" in run(code, **{**session, "session": "b"}).stderr
    assert "ModuleNotFoundError" in run(code, **{**session, "install": False}).stderr
    workspaces.delete("a")
    assert "ModuleNotFoundError" in run(code, **session).stderr


def test_a_session_that_was_deleted_and_comes_again_has_nothing_of_the_first(
    run: Run, wheels: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also where its folder gets the same place on the disk, as most file systems do at once."""
    put(wheels, "tiny", {"tiny/__init__.py": "answer = 42\n"})
    workspaces = Workspaces(tmp_path_factory.mktemp("root"))
    session = {"session": "a", "workspaces": workspaces, "install": True}
    for _ in range(4):
        assert "ModuleNotFoundError" in run("import tiny", **session).stderr
        assert run("install_package('tiny')", **session).exit_code == 0
        workspaces.delete("a")
        workspaces.shelf.sweep()
        workspaces.open("a")


def test_what_a_session_installed_goes_after_it(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(wheels, "tiny", {"tiny/__init__.py": "answer = 42\n"})
    monkeypatch.setattr(installs, "_SECONDS_BETWEEN_SWEEPS", 0.0)
    workspaces = Workspaces()
    with Programs(spares=0) as programs:
        given: dict[str, Any] = {"workspaces": workspaces, "install": True, "engine": programs}
        root = Path(programs._pool._installs.root)
        for each in ("one", "two"):
            assert (
                run_program("install_package('tiny')", session=each, **given).wait(60).exit_code
                == 0
            )
        assert len(list(root.glob("*/tiny"))) == 2
        workspaces.delete("one")
        run_program("", session="two", **given).wait(60)
        assert until(lambda: len(list(root.glob("*/tiny"))) == 1)
        assert run_program("import tiny", session="two", **given).wait(60).exit_code == 0


def test_two_packages_share_a_folder_of_names(run: Run, wheels: Path) -> None:
    put(wheels, "one", {"shared/one.py": "n = 1\n"})
    put(wheels, "two", {"shared/two.py": "n = 2\n"})
    code = (
        "install_package('one')\ninstall_package('two')\n"
        "import shared.one, shared.two\nprint(shared.one.n + shared.two.n)"
    )
    assert run(code, install=True).stdout == "3\n"


def test_tools_and_lent_packages_work_beside_it(run: Run, wheels: Path) -> None:
    put(wheels, "tiny", {"tiny/__init__.py": "answer = 42\n"})

    def double(n: int) -> int:
        return 2 * n

    code = (
        "install_package('tiny')\nimport tiny, numpy\n"
        "print(call_tool('double', {'n': int(numpy.int64(tiny.answer))}))"
    )
    result = run(code, install=True, tools=[double], packages=["numpy"])
    assert result.stdout == "84\n", result.stderr


# ---------------------------------------------------------------------------- attacks

BAD = [
    "", " ", "-e .", "--index-url=http://evil", "-r/etc/passwd", "./tiny", "../tiny", "/etc/passwd",
    "tiny @ https://evil/tiny.whl", "https://evil/tiny.whl", "git+https://evil/tiny", "file:///etc/passwd",
    "tiny\n", "tiny\n--index-url=http://evil", "tiny other", "tiny==1.0 --pre", "tiny;x", "tiny>=1",
    "tiny==", "tiny[", "tiny\0", "a" * 300, "$(id)", "`id`", "tiny.whl/..", "~tiny", "@scope/x",
]  # fmt: skip
BAD_FOR_NODE = [
    "", "-g", "--registry=http://evil", "../x", "/etc", "file:../x", "git+ssh://evil/x", "user/repo",
    "https://evil/x.tgz", "x@npm:evil", "x@file:..", "x@latest || evil", "x y", "x\n", "@/x", "@a/b/c",
    "X" * 300, "x@git+https://evil",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD, ids=repr)
def test_a_name_for_pip_is_never_an_option_a_path_or_an_address(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a package"):
        checked_name("python", name)


@pytest.mark.parametrize("name", BAD_FOR_NODE, ids=repr)
def test_a_name_for_npm_is_never_an_option_a_path_or_an_address(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a package"):
        checked_name("node", name)


@pytest.mark.parametrize("name", [None, 7, ["tiny"], {"name": "tiny"}])
def test_a_name_is_text(name: object) -> None:
    with pytest.raises(ValueError, match="is not the name of a package"):
        checked_name("python", name)


def test_a_program_that_asks_for_an_option_gets_an_error(run: Run, wheels: Path) -> None:
    code = (
        "for name in ('--version', '/etc/passwd', 'https://evil/x.whl', 7, None):\n"
        "    try: install_package(name)\n"
        "    except RuntimeError as error: print('not the name' in str(error))"
    )
    assert run(code, install=True).stdout == "True\n" * 5


def test_what_does_not_exist_is_an_error_that_tells_nothing_of_the_host(
    run: Run, wheels: Path
) -> None:
    code = "try: install_package('missing')\nexcept RuntimeError as error: print(error)"
    said = run(code, install=True).stdout
    assert "no package missing was found" in said
    assert str(wheels) not in said


def test_a_wheel_that_leads_out_of_its_folder_is_refused(run: Run, wheels: Path) -> None:
    put(wheels, "climber", {"../../../../../../../../../tmp/sandbox-climbed.txt": "out"})
    code = "try: install_package('climber')\nexcept RuntimeError as error: print('refused')"
    assert run(code, install=True).stdout == "refused\n"
    assert not Path("/tmp/sandbox-climbed.txt").exists()


def test_a_source_archive_is_never_built(run: Run, wheels: Path) -> None:
    import tarfile

    marker = wheels / "built"
    (wheels / "s" / "sourced-1.0").mkdir(parents=True)
    (wheels / "s" / "sourced-1.0" / "setup.py").write_text(f"open({str(marker)!r}, 'w')")
    with tarfile.open(wheels / "sourced-1.0.tar.gz", "w:gz") as archive:
        archive.add(wheels / "s" / "sourced-1.0", "sourced-1.0")
    code = "try: install_package('sourced')\nexcept RuntimeError: print('refused')"
    assert run(code, install=True).stdout == "refused\n"
    assert not marker.exists()


def test_nothing_of_it_runs_outside_and_nothing_inside_can_change_it(
    run: Run, wheels: Path
) -> None:
    marker = wheels / "imported"
    text = f"try: open({str(marker)!r}, 'w')\nexcept OSError: pass\n"
    put(wheels, "tiny", {"tiny/__init__.py": text, "tiny.pth": f"import os; {text!r}"})
    code = """
install_package('tiny')
import os, tiny
folder = os.path.dirname(tiny.__file__)
for attack in (
    lambda: open(tiny.__file__, 'w'),
    lambda: open(folder + '/new.py', 'w'),
    lambda: os.unlink(tiny.__file__),
    lambda: os.rename(folder, folder + '2'),
    lambda: os.listdir(os.path.dirname(os.path.dirname(folder)) + '/../work'),
):
    try:
        attack()
        print('BROKEN')
    except OSError:
        print('held')
"""
    assert run(code, install=True).stdout == "held\n" * 5
    assert not marker.exists()


def test_folders_of_others_cannot_be_reached(run: Run, wheels: Path, level: str) -> None:
    if level == "namespaces":
        code = (
            "import os\nprint(os.listdir('/installed'))\n"
            "try: print(os.listdir('/run/installs'))\nexcept PermissionError: print([])"
        )
        assert run(code, install=True).stdout == "['node_modules']\n[]\n"
        return
    code = (
        "import os, sys\nown = sys.path[-1]\nprint(os.path.basename(own))\n"
        "try: print(os.listdir(os.path.dirname(own)))\nexcept PermissionError: print('held')"
    )
    assert run(code, install=True).stdout.endswith("held\n")


def test_languages_without_an_installer_are_refused() -> None:
    with pytest.raises(OptionError, match="install is for Python and Node"):
        run_program("1", "javascript", install=True)
    with pytest.raises(OptionError, match="install must be True or False"):
        run_program("1", install="tiny")  # type: ignore[arg-type]  # that is the point


def test_a_program_that_ends_takes_its_installer_with_it(
    run: Run, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(wheels, "tiny", {"tiny/__init__.py": ""})
    code = (
        "import threading, os\nthreading.Thread(target=install_package, args=('tiny',)).start()\n"
        "import time; time.sleep(0.1); os._exit(3)"
    )
    assert run(code, install=True).exit_code == 3


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
def test_node_programs_install_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.contract.wheels import npm_registry

    with npm_registry("tinypackage", "module.exports = 42;") as address:
        monkeypatch.setenv("npm_config_registry", address)
        code = "await installPackage('tinypackage'); console.log(require('tinypackage'));"
        result = run(code, language="node", install=True)
        assert result.stdout == "42\n", result.stderr
        code = "try { await installPackage('../x') } catch (e) { console.log(e.message) }"
        assert "is not the name of a package" in run(code, language="node", install=True).stdout


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
def test_modules_of_node_import_what_was_installed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.contract.wheels import npm_registry

    session = {
        "session": "modules",
        "workspaces": Workspaces(),
        "install": True,
        "language": "node",
    }
    with npm_registry("tinypackage", "module.exports = 42;") as address:
        monkeypatch.setenv("npm_config_registry", address)
        code = "await installPackage('tinypackage'); console.log((await import('tinypackage')).default);"
        result = run(code, **session)
        assert result.stdout == "42\n", result.stderr
    code = "import tiny from 'tinypackage'; import fs from 'fs'; console.log(tiny, typeof fs.readFileSync);"
    result = run(code, **session)
    assert (result.stdout, result.stderr) == ("42 function\n", "")
    for name in ("tinypackage", "./tinypackage", "missing"):
        options = {**session, "install": name != "tinypackage"}
        result = run(f"import '{name}';", **options)
        assert "ERR_MODULE_NOT_FOUND" in result.stderr
        assert result.exit_code == 1


def test_installers_are_not_told_the_key_of_a_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm, folder = tmp_path / "bin/npm", tmp_path / "installs/one"
    for each in (npm.parent, folder):
        each.mkdir(parents=True)
    npm.write_text("#!/bin/sh\nenv > ../new/said\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent), prepend=":")
    monkeypatch.setenv("SANDBOX_EXECUTOR_SERVICE_API_KEY", "hush")
    monkeypatch.setenv("npm_config_registry", "elsewhere")
    install("node", "tiny", str(folder), threading.Event())
    said = (folder / "said").read_text()
    assert "npm_config_registry=elsewhere" in said
    assert "hush" not in said
