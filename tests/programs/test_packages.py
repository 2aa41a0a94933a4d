"""Packages of the caller's environment: lent with what they require, and nothing beside them."""

from __future__ import annotations

import json
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import sandbox_kernel
from sandbox_kernel.errors import EngineClosedError, OptionError
from sandbox_kernel.programs import Programs
from sandbox_kernel.run import run_program
from tests.waiting import until

from .conftest import Run

SITE = sysconfig.get_path("purelib")
PANDAS = ["pandas", "matplotlib"]
Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """`install("name", {"name/__init__.py": text}, requires=[…])` into a folder on the path."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)

    def put(
        name: str,
        files: dict[str, str],
        requires: tuple[str, ...] = (),
        extras: tuple[str, ...] = (),
        version: str = "1.0",
        **others: str,
    ) -> Path:
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {each}" for each in requires]
        lines += [f"Provides-Extra: {each}" for each in extras]
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        everything = {**files, f"{info}/METADATA": "\n".join(lines) + "\n", **others}
        everything.setdefault(f"{info}/RECORD", "".join(f"{each},,\n" for each in everything))
        for path, text in everything.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder / info

    return put


# ---------------------------------------------------------------------------- what is lent


def test_pandas_and_matplotlib_work_and_are_loaded_already(run: Run) -> None:
    code = """
import sys
loaded = {'pandas', 'numpy', 'matplotlib.pyplot'} <= set(sys.modules)
import pandas, matplotlib.pyplot as plt
frame = pandas.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 3]})
sums = frame.groupby('city').n.sum()
sums.plot.bar()
plt.savefig('sums.png')
print(loaded, dict(sums), pandas.read_csv('a.csv').n.tolist())
"""
    result = run(code, packages=PANDAS, files={"a.csv": "n\n1\n2\n"})
    assert result.stdout.startswith("True {'Oslo': "), result.stderr
    assert [file.name for file in result.output_files] == ["sums.png"]
    assert (result.output_files[0].data or b"").startswith(b"\x89PNG")


def test_what_they_require_comes_along_and_their_metadata(run: Run) -> None:
    code = "import dateutil, kiwisolver, importlib.metadata as m\nprint(m.version('numpy'), m.files('kiwisolver')[:0])"
    result = run(code, packages=PANDAS)
    assert result.stdout.endswith("[]\n"), result.stderr


def test_programs_draw_different_random_numbers(run: Run) -> None:
    code = "import numpy, random\nprint(numpy.random.rand(), numpy.random.default_rng().random())"
    first, second = (run(code, packages=PANDAS).stdout for _ in range(2))
    assert set(first.split()).isdisjoint(second.split())


def test_memory_counts_on_top_of_what_the_packages_take(run: Run) -> None:
    code = "import pandas\nprint(len(pandas.DataFrame({'a': range(1000)})))"
    options = {"packages": PANDAS, "memory_limit_bytes": 32 * 2**20}
    assert run(code, **options).stdout == "1000\n"
    result = run("import numpy\nnumpy.ones(50_000_000)", **options)
    assert (result.oom, result.exit_code) == (True, 1)


def test_a_session_may_have_packages(run: Run) -> None:
    code = "import pandas\npandas.DataFrame({'a': [1]}).to_csv('a.csv', index=False)"
    assert run(code, packages=PANDAS, session="lent").exit_code == 0
    assert run("print(open('a.csv').read())", session="lent").stdout == "a\n1\n\n"


def test_a_file_of_the_program_goes_before_a_package(run: Run) -> None:
    files = {"cycler.py": "mine = True"}
    result = run("import cycler\nprint(cycler.mine)", packages=PANDAS, files=files)
    assert result.stdout == "True\n", result.stderr


# ---------------------------------------------------------------------------- attacks

ATTACKS = {
    "import another package": "import pytest",
    "import the sandbox itself": "import sandbox_kernel.programs",
    "import pip": "import pip",
    "list the folder of all packages": "print(os.listdir(SITE))",
    "read another package": "print(open(SITE + '/pytest/__init__.py').read())",
    "read another package beside a lent one": (
        "print(open(os.path.dirname(os.path.dirname(pandas.__file__)) + '/pytest/__init__.py').read())"
    ),
    "go up from a lent folder": (
        "print(open(os.path.dirname(pandas.__file__) + '/../pytest/__init__.py').read())"
    ),
    "go up through the real path": (
        "real = os.path.realpath(pandas.__file__)\n"
        "print(os.listdir(os.path.dirname(os.path.dirname(real)) + '/pytest'))"
    ),
    "put the folder of all packages on the path": "sys.path.append(SITE)\nimport pytest",
    "read a .pth file": "print(open(PTH).read())",
    "read sources of an editable install": "print(open(OWN).read())",
    "read the cache of pip": "print(os.listdir(CACHE))",
    "change a lent file": "open(pandas.__file__, 'a').write('#')",
    "add a file to a lent folder": "open(os.path.dirname(pandas.__file__) + '/new.py', 'w')",
    "remove a lent file": "os.unlink(pandas.__file__)",
    "rename a lent folder": (
        "folder = os.path.dirname(pandas.__file__)\nos.rename(folder, folder + '2')"
    ),
    "replace a lent folder": (
        "folder = os.path.dirname(pandas.__file__)\nos.unlink(folder)\nos.symlink('/', folder)"
    ),
    "replace compiled code": (
        "import glob\n"
        "open(glob.glob(os.path.dirname(pandas.__file__) + '/__pycache__/*.pyc')[0], 'r+b').write(b'0')"
    ),
    "empty a lent file": "os.truncate(pandas.__file__, 0)",
    "link to another package": (
        "os.symlink(SITE + '/pytest', 'pytest')\nsys.path.insert(0, os.getcwd())\nimport pytest"
    ),
    "speak to the network": "import socket\nsocket.create_connection(('127.0.0.1', 9))",
    "start a program": "import subprocess\nsubprocess.run(['/bin/true'])",
}


TRY_ALL = """
import json, os, sys, pandas
names, attacks = json.load(sys.stdin)
globals().update(names)
outcomes = {}
for name, code in attacks.items():
    try:
        exec(code)
        outcomes[name] = 'BROKEN'
    except (OSError, ImportError):
        outcomes[name] = 'held'
set_result(outcomes)
"""


@pytest.fixture(scope="module")
def attempted(run: Run) -> dict[str, str]:
    """What came of each attack, all tried by one program."""
    names = {
        "SITE": SITE,
        "PTH": next(map(str, Path(SITE).glob("*.pth")), f"{SITE}/distutils-precedence.pth"),
        "OWN": sandbox_kernel.__file__,
        "CACHE": str(Path.home() / ".cache"),
    }
    result = run(TRY_ALL, stdin=json.dumps([names, ATTACKS]), packages=PANDAS)
    assert result.exit_code == 0, result.logs
    outcomes: dict[str, str] = result.result
    return outcomes


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_beyond_what_is_lent_can_be_reached_or_changed(
    attempted: dict[str, str], attack: str
) -> None:
    assert attempted[attack] == "held"


def test_nothing_of_the_zygote_is_left_open_or_in_the_environment(run: Run) -> None:
    code = """
import os, json
opened = []
for number in range(256):
    try: os.fstat(number); opened.append(number)
    except OSError: pass
print(json.dumps([opened, sorted(os.environ), os.listdir(), os.umask(0o22)]))
"""
    opened, environment, listed, mask = json.loads(run(code, packages=PANDAS).stdout)
    assert opened == [0, 1, 2, 3]
    assert {"HOME", "PATH", "MPLBACKEND"} <= set(environment)
    assert not {"VIRTUAL_ENV", "PYTHONPATH", "SHELL"} & set(environment)
    assert (listed, mask) == ([], 0o22)


# ---------------------------------------------------------------------------- what imports do

NOSY = """
import atexit, os, socket, sys, threading
print('printed while it was preloaded')
os.umask(0o777)
sys.setrecursionlimit(77_777)
sys.excepthook = None
atexit.register(print, 'at exit')
try:
    socket.socket()
    reached = True
except OSError:
    reached = False
home = os.environ.get('HOME')
"""


def test_side_effects_of_an_import_do_not_reach_programs(run: Run, install: Install) -> None:
    install("nosy", {"nosy.py": NOSY})
    code = (
        "import sys, os\nloaded = 'nosy' in sys.modules\nimport nosy\n"
        "print(loaded, nosy.reached, sys.getrecursionlimit(), oct(os.umask(0o22)), nosy.home == os.environ['HOME'])\n"
        "1 / 0"
    )
    result = run(code, packages=["nosy"])
    assert result.stdout == "True False 1000 0o22 False\n"
    assert result.stderr.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize(
    "text",
    [
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
        "import os\nos._exit(3)",
        "import ctypes\nctypes.string_at(0)",
    ],
    ids=["starts a thread", "exits", "crashes"],
)
def test_what_cannot_be_preloaded_is_lent_all_the_same(
    run: Run, install: Install, text: str
) -> None:
    install("uneasy", {"uneasy.py": text + "\n"})
    code = "import sys, importlib.util\nprint('uneasy' in sys.modules, importlib.util.find_spec('uneasy') is not None)"
    assert run(code, packages=["uneasy"]).stdout == "False True\n"
    assert run("print(1)").stdout == "1\n"


def test_an_import_that_fails_is_told_to_the_program_that_imports_it(
    run: Run, install: Install
) -> None:
    install("broken", {"broken.py": "raise RuntimeError('not today')"})
    assert run("print(1)", packages=["broken"]).stdout == "1\n"
    assert "RuntimeError: not today" in run("import broken", packages=["broken"]).stderr


def test_a_package_that_was_installed_again_is_lent_anew(run: Run, install: Install) -> None:
    info = install("tiny", {"tiny.py": "answer = 1\n"})
    code = "import tiny\nprint(tiny.answer)"
    assert run(code, packages=["tiny"]).stdout == "1\n"
    for path in info.iterdir():
        path.unlink()
    info.rmdir()
    (info.parent / "tiny.py").unlink()
    install("tiny", {"tiny.py": "answer = 22\n"}, version="2.0")
    assert run(code, packages=["tiny"]).stdout == "22\n"


def test_parts_of_a_shared_folder_are_lent_without_the_others(run: Run, install: Install) -> None:
    install("one", {"shared/one/__init__.py": "name = 1\n"})
    install("two", {"shared/two/__init__.py": "name = 2\n", "two.pth": "import os\n"})
    code = (
        "import shared.one\nprint(shared.one.name)\n"
        "try: import shared.two\nexcept ImportError: print('absent')"
    )
    assert run(code, packages=["one"]).stdout == "1\nabsent\n"


def test_two_sets_are_kept_and_the_one_used_least_recently_goes(install: Install) -> None:
    for name in ("first", "second", "third"):
        install(name, {f"{name}.py": "\n"})
    with Programs(spares=0) as programs:

        def run(name: str) -> None:
            done = run_program(f"import {name}", engine=programs, packages=[name]).wait(60)
            assert done.exit_code == 0, done.stderr

        run("first")
        run("second")
        kept = programs.processes().zygotes
        run("first")
        assert set(programs.processes().zygotes) == set(kept)
        run("third")
        run("first")
        assert kept[0] in programs.processes().zygotes


def test_packages_that_take_long_to_load_delay_nobody_else(install: Install, level: str) -> None:
    waits = "import os, time\nwhile not os.path.exists(__path__[0] + '/go'): time.sleep(0.01)\n"
    folder = install("slow", {"slow/__init__.py": waits}).parent
    with Programs(isolation=level, spares=0) as programs:
        assert run_program("print(1)", engine=programs).wait(60).stdout == "1\n"
        slow = run_program("import slow\nprint(2)", engine=programs, packages=["slow"])
        assert run_program("print(3)", engine=programs).wait(60).stdout == "3\n"
        assert slow.running
        (folder / "slow" / "go").touch()
        assert slow.wait(60).stdout == "2\n"


def test_closing_while_packages_are_loaded_leaves_nothing(install: Install) -> None:
    waits = "import os, time\nwhile not os.path.exists(__path__[0] + '/go'): time.sleep(0.01)\n"
    folder = install("slow", {"slow/__init__.py": waits}).parent
    with Programs(spares=0) as programs:
        assert run_program("print(1)", engine=programs).wait(60).stdout == "1\n"
        slow = run_program("import slow", engine=programs, packages=["slow"])
        assert until(lambda: programs._pool._starters)
        threading.Timer(0.2, (folder / "slow" / "go").touch).start()
    with pytest.raises(EngineClosedError):
        slow.wait(60)
    assert programs.processes().zygotes == ()


# ---------------------------------------------------------------------------- names that are wrong


def refused(names: object) -> str:
    with pytest.raises(OptionError) as error:
        run_program("print('RAN')", packages=names)  # type: ignore[arg-type]  # that is the point
    assert error.value.option == "packages"
    return str(error.value)


def test_names_that_are_wrong_are_refused_before_anything_runs() -> None:
    assert "is not installed here; did you mean pandas?" in refused(["pandsa"])
    assert "the module PIL belongs to pillow" in refused(["PIL"])
    assert "the module dateutil belongs to python-dateutil" in refused(["dateutil"])
    assert "the installed version is lent" in refused(["pandas==3.1"])
    assert "has no extra 'nothing'" in refused(["pandas[nothing]"])
    assert "must be a list of names" in refused("pandas")
    assert "must be a list of names" in refused(7)
    assert "int is not the name of a package" in refused([7])
    for name in ("", "-e .", "./pandas", "https://a/b.whl", "a b", "pandas\n", "pandas;x"):
        assert "is not the name of a package" in refused([name])


def test_an_editable_install_is_refused() -> None:
    assert "editable install" in refused(["sandbox-kernel"])


def test_what_cannot_be_lent_is_refused_with_its_reason(install: Install) -> None:
    install("needy", {"needy.py": ""}, requires=("absent-thing>=1",))
    assert "needy requires absent-thing, which is not installed" in refused(["needy"])
    install("odd", {"odd.py": ""}, requires=("=what=",))
    assert "odd has a requirement that cannot be read" in refused(["odd"])
    info = install("bare", {"bare.py": ""})
    (info / "RECORD").unlink()
    assert "bare was installed without a RECORD" in refused(["bare"])
    info = install("empty", {})
    (info / "RECORD").write_text("gone.py,,\n")
    assert "the files of empty are gone" in refused(["empty"])
    info = install("linked", {})
    (info.parent / "linked").symlink_to("/etc")
    (info / "RECORD").write_text("linked/passwd,,\n")
    assert "linked has a link that leads out of its folder: linked" in refused(["linked"])
    info = install("climbing", {})
    (info / "RECORD").write_text("../../secret.py,,\n/etc/passwd,,\n")
    assert "the files of climbing are gone" in refused(["climbing"])


def test_extras_lend_what_they_require(run: Run, install: Install) -> None:
    install("helper", {"helper.py": ""})
    install("main", {"main.py": ""}, requires=("helper; extra == 'more'",), extras=("more",))
    code = "try: import helper\nexcept ImportError: print('absent')\nelse: print('there')"
    assert run(code, packages=["main"]).stdout == "absent\n"
    assert run(code, packages=["Main[more]"]).stdout == "there\n"


def test_packages_are_for_python() -> None:
    with pytest.raises(OptionError, match="packages are for Python programs, not for Node"):
        run_program("1", "node", packages=["pandas"])


def test_no_names_are_no_packages(run: Run) -> None:
    assert run("print(1)", packages=[]).stdout == "1\n"
