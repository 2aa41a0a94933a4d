"""A Python program finds what it would find in an interpreter that was started for it."""

from __future__ import annotations

import os
import sys

import pytest

from sandbox_kernel import undefined
from tests.programs.conftest import Run


def test_a_misspelt_name_is_met_with_a_suggestion(run: Run) -> None:
    result = run("total = 1\nprint(totel)")
    assert result.stderr.endswith(
        "NameError: name 'totel' is not defined. Did you mean: 'total'?\n"
    )
    result = run("class A: colour = 1\ntry: A().color\nexcept AttributeError as e: raise")
    assert result.stderr.rstrip().endswith("Did you mean: 'colour'?")
    assert run("raise NameError('x. Did you mean')").stderr.endswith("NameError: x. Did you mean\n")


def test_a_program_prints_and_ends(run: Run) -> None:
    result = run("print(6 * 7)")
    assert (result.stdout, result.stderr, result.exit_code) == ("42\n", "", 0)
    assert (result.killed, result.oom, result.truncated, result.reason) == (
        False,
        False,
        False,
        None,
    )
    assert (result.output_files, result.files, result.result) == ([], [], undefined)


def test_it_is_the_main_module(run: Run) -> None:
    code = """
import sys, __main__, pickle
class Point: pass
print(__name__, sys.argv, __file__.rsplit('/', 1)[1], sys.path[0] == __file__.rsplit('/', 1)[0])
print(__main__.Point is Point, type(pickle.loads(pickle.dumps(Point()))) is Point)
"""
    assert run(code, args=["a", "b c"]).stdout == (
        "__main__ ['program.py', 'a', 'b c'] program.py True\nTrue True\n"
    )


TRACEBACK = """\
Traceback (most recent call last):
  File "program.py", line 4, in <module>
    f()
  File "program.py", line 3, in f
    return 1 / 0  # mine
ZeroDivisionError: division by zero
"""


def without_carets(text: str) -> str:
    kept = (line for line in text.splitlines(keepends=True) if line.strip(" ~^\n"))
    return "".join(kept)


def test_a_traceback_has_the_programs_own_lines(run: Run) -> None:
    result = run("\ndef f():\n    return 1 / 0  # mine\nf()")
    assert (without_carets(result.stderr), result.exit_code) == (TRACEBACK, 1)


def test_so_has_that_of_a_thread(run: Run) -> None:
    code = "import threading\ndef f():\n    raise ValueError(1)  # mine\nthreading.Thread(target=f).start()"
    result = run(code)
    assert "Exception in thread" in result.stderr
    assert 'File "program.py", line 3, in f\n    raise ValueError(1)  # mine' in result.stderr
    assert result.exit_code == 0


@pytest.mark.parametrize("line", ["\x0cx = 1", "x = '\x85\u2028\x1c'", "\ufeffx = 1", "x = 1\r"])
def test_only_pythons_own_ends_of_lines_count(run: Run, line: str) -> None:
    result = run(f"{line}\n1 / 0  # mine\n")
    assert "line 2, in <module>\n    1 / 0  # mine" in result.stderr
    assert result.stderr.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize("end", ["", "\n"])
def test_carets_stand_under_what_failed(run: Run, end: str) -> None:
    assert "    x = 1 / 0\n        ~~^~~\n" in run(f"x = 1 / 0{end}").stderr


def test_its_source_is_found_for_functions_and_classes(run: Run) -> None:
    code = "import inspect\nclass A:\n    x = 1\ndef f():\n    pass\nprint(inspect.getsource(A) + inspect.getsource(f))"
    assert run(code).stdout == "class A:\n    x = 1\ndef f():\n    pass\n\n"


def test_a_syntax_error_shows_its_line(run: Run) -> None:
    result = run("x = 1\nx = = 2")
    assert result.stderr.startswith('  File "program.py", line 2\n    x = = 2\n')
    assert (result.stderr.splitlines()[-1], result.exit_code) == ("SyntaxError: invalid syntax", 1)


def test_chained_exceptions_and_groups_are_shown(run: Run) -> None:
    code = "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ExceptionGroup('all', [ValueError(1)]) from e"
    result = run(code)
    assert "direct cause" in result.stderr
    assert "ValueError: 1" in result.stderr
    assert "sandbox_kernel" not in result.stderr


@pytest.mark.parametrize(
    ("code", "exit_code", "stderr"),
    [
        ("import sys; sys.exit(7)", 7, ""),
        ("exit(3)", 3, ""),
        ("quit()", 0, ""),
        ("raise SystemExit('bye')", 1, "bye\n"),
        ("import sys; sys.exit()", 0, ""),
        ("import os; os._exit(9)", 9, ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", 143, ""),
        ("import os; os.abort()", 134, ""),
        ("raise KeyboardInterrupt", 130, None),
        ("import sys; sys.exit(256)", 0, ""),
    ],
)
def test_the_exit_code_is_that_of_an_interpreter(
    run: Run, code: str, exit_code: int, stderr: str | None
) -> None:
    result = run(code)
    assert result.exit_code == exit_code
    assert stderr is None or result.stderr == stderr
    assert not result.killed


def test_input_reads_lines_until_there_are_no_more(run: Run) -> None:
    result = run("print(input('name? ') + '!')\nprint(input())\ninput()", stdin="Ada\nÄ\n")
    assert result.stdout == "name? Ada!\nÄ\n"
    assert result.stderr.endswith("EOFError: EOF when reading a line\n")


def test_a_large_input_is_read_whole(run: Run) -> None:
    result = run("import sys; print(len(sys.stdin.buffer.read()))", stdin=b"\xff" * 5_000_000)
    assert result.stdout == "5000000\n"


def test_an_input_that_nobody_reads_is_no_hindrance(run: Run) -> None:
    assert run("print(1)", stdin="x" * 5_000_000).stdout == "1\n"


def test_threads_asyncio_and_sqlite_work(run: Run) -> None:
    code = """
import asyncio, sqlite3, threading
seen = []
threads = [threading.Thread(target=seen.append, args=(n,)) for n in range(10)]
for t in threads: t.start()
for t in threads: t.join()
async def main():
    return sum(await asyncio.gather(*(asyncio.to_thread(abs, -n) for n in range(5))))
with sqlite3.connect('data.db') as db:
    db.execute('create table t (n)')
    db.executemany('insert into t values (?)', [(n,) for n in range(100)])
    total = db.execute('select sum(n) from t').fetchone()
print(len(seen), asyncio.run(main()), total)
"""
    result = run(code)
    assert (result.stdout, result.stderr) == ("10 10 (4950,)\n", "")
    assert [file.name for file in result.output_files] == ["data.db"]


def test_what_runs_at_the_end_runs(run: Run) -> None:
    code = """
import atexit, threading, time, tempfile
atexit.register(print, 'at exit')
class Last:
    def __del__(self): print('deleted')
kept = Last()
threading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()
print('main', end='')
"""
    assert run(code).stdout == "mainthread\nat exit\ndeleted\n"


def test_any_module_of_the_standard_library_can_be_imported_at_any_time(run: Run) -> None:
    code = """
import importlib
importlib.invalidate_caches()
import colorsys, wave, xml.dom.minidom, graphlib, tomllib, cmath, bz2, lzma, zoneinfo, email.mime.text
print(zoneinfo.ZoneInfo('Europe/Berlin').key, tomllib.loads('a = 1'))
import mimetypes; print(mimetypes.guess_type('a.png')[0])
"""
    assert run(code).stdout == "Europe/Berlin {'a': 1}\nimage/png\n"


def test_packages_of_the_host_cannot_be_imported(run: Run) -> None:
    result = run("import pytest")
    assert result.stderr.endswith("ModuleNotFoundError: No module named 'pytest'\n")


def test_its_own_files_can_be_imported_also_in_place_of_standard_ones(run: Run) -> None:
    files = {"helper.py": "def double(n): return 2 * n", "json.py": "mine = True"}
    result = run("import helper, json\nprint(helper.double(21), json.mine)", files=files)
    assert (result.stdout, result.stderr, result.output_files) == ("42 True\n", "", [])


def test_random_numbers_differ_between_programs(run: Run) -> None:
    code = "import random, uuid, tempfile; print(random.random(), uuid.uuid4(), tempfile.mktemp())"
    assert len({run(code).stdout for _ in range(3)}) == 3


def test_nothing_of_one_program_is_left_for_the_next(run: Run) -> None:
    code = """
import os, sys, json, tempfile
print(os.listdir(), os.listdir(tempfile.gettempdir()), hasattr(json, 'left'))
json.left = 1
for folder in ('.', tempfile.gettempdir()):
    with open(os.path.join(folder, 'left'), 'w') as file: file.write('x')
"""
    assert {run(code).stdout for _ in range(3)} == {"[] [] False\n"}


def test_the_environment_is_small_and_can_be_added_to(run: Run) -> None:
    code = "import os; print(sorted(os.environ), os.environ['LANG'], os.getcwd() == os.environ['HOME'])"
    names = ["HOME", "LANG", "PATH", "TMPDIR", "USER"]
    assert run(code).stdout == f"{names} C.UTF-8 True\n"
    assert run("import os; print(os.environ['NAME'])", env={"NAME": "ü = 1"}).stdout == "ü = 1\n"


STARTERS = [
    "subprocess.run(['ls'])",
    "os.system('ls')",
    "os.popen('ls')",
    "os.execvp('ls', ['ls'])",
    "import multiprocessing as m; m.get_context('spawn').Process(target=print).start()",
]


@pytest.mark.parametrize("code", STARTERS)
def test_starting_other_programs_is_refused_clearly(run: Run, code: str) -> None:
    result = run(f"import os, subprocess\n{code}")
    assert "PermissionError: [Errno 13] this program runs in a sandbox" in result.stderr
    assert "sandbox_kernel" not in result.stderr
    assert result.exit_code == 1


def test_multiprocessing_works_where_a_namespace_holds_it(run: Run, level: str) -> None:
    code = "import multiprocessing as m\nprint(m.get_context('fork').Pool(2).map(abs, [-1, -2]))"
    result = run(code)
    if level == "namespaces":
        assert (result.stdout, result.stderr) == ("[1, 2]\n", "")
    else:
        assert "PermissionError" in result.stderr


def test_a_fork_is_refused_clearly_where_it_cannot_be(run: Run, level: str) -> None:
    result = run("import os\nif os.fork() == 0: os._exit(0)\nprint(os.wait()[1])")
    if level == "namespaces":
        assert result.stdout == "0\n"
    else:
        assert "cannot fork here; threads work" in result.stderr


def test_a_program_that_closes_everything_still_ends(run: Run) -> None:
    result = run("import os, sys\nos.closerange(0, 99)\nsys.exit(5)")
    assert (result.exit_code, result.stdout) == (5, "")


def test_a_program_without_stdout_ends(run: Run) -> None:
    assert run("import sys\nsys.stdout.close()\nsys.stderr.close()\nsys.exit(4)").exit_code == 4


def test_it_has_nothing_of_the_hosts_interpreter(run: Run) -> None:
    code = "import sys; print([n for n in sys.modules if n.startswith(('sandbox', '_cffi', 'pytest'))], sys.flags.isolated)"
    assert run(code).stdout == "[] 1\n"


def test_the_user_of_a_program_of_root_is_its_own(run: Run) -> None:
    users = {
        run("import os; print(os.getuid(), os.getgid(), os.getgroups())").stdout for _ in range(2)
    }
    if os.getuid() == 0 and sys.platform == "linux":
        assert len(users) == 2
        assert not any(each.startswith("0 ") for each in users)
    assert all(each.endswith(" []\n") for each in users) or os.getuid() != 0


def test_empty_code_is_a_program(run: Run) -> None:
    assert (run("").exit_code, run("# nothing").stdout) == (0, "")


def test_code_may_have_any_text(run: Run) -> None:
    result = run("print('ä€😀', len('\\ud800'))\nprint('a\\x00b')")
    assert result.stdout == "ä€😀 1\na\x00b\n"
