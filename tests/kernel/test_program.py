"""`%%runprogram` in the sandbox kernel."""

from __future__ import annotations

import base64
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.clients import Client
from tests.processes import gone
from tests.unit.test_pictures import PNG
from tests.waiting import until

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]


def test_output_streams_while_the_program_runs(kernel: Client) -> None:
    sent = kernel.send(
        "%%runprogram python\nimport sys\nprint('early', flush=True)\nprint('why', file=sys.stderr)\n"
        "while True: pass"
    )
    kernel.wait_for_output(sent, "early")
    kernel.wait_for_output(sent, "why")
    kernel.interrupt()
    assert kernel.finish(sent).content["evalue"] == "interrupted"


def test_an_interrupt_ends_the_whole_tree(kernel: Client) -> None:
    kernel.run("%%runprogram\nprint(1)").check()
    sent = kernel.send(
        "%%runprogram python\nimport os, time\n"
        "mark = bytearray(os.urandom(90_000_000))\n"
        "try: os.fork()\nexcept OSError: pass\nprint('going', flush=True)\ntime.sleep(600)"
    )
    kernel.wait_for_output(sent, "going")
    assert _large(kernel.pid)
    kernel.interrupt()
    done = kernel.finish(sent)
    assert (done.content["ename"], done.content["evalue"]) == ("terminated", "interrupted")
    assert until(lambda: not _large(kernel.pid))
    assert kernel.run("%%runprogram\nprint('next')").check().stdout == "next\n"


def _large(kernel: int) -> list[int]:
    """Processes of the program, which hold more memory than ours."""
    found = []
    for process in psutil.Process(kernel).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.memory_info().rss > 90_000_000 and not gone(process.pid):
                found.append(process.pid)
    return found


def test_a_traceback_is_the_error_of_the_cell_with_its_own_lines(kernel: Client) -> None:
    done = kernel.run("%%runprogram python\nx = 1\nraise ValueError(f'wrong {x}')")
    assert (done.content["ename"], done.content["evalue"]) == ("ValueError", "wrong 1")
    assert 'File "program.py", line 3' in done.traceback
    assert "raise ValueError" in done.traceback
    assert done.stderr == ""


def test_a_traceback_that_is_not_the_end_is_output(kernel: Client) -> None:
    done = kernel.run(
        "%%runprogram\nimport traceback\ntry: 1/0\nexcept Exception: traceback.print_exc()\nprint('on')"
    )
    assert "ZeroDivisionError" in done.check().stderr
    assert done.stdout == "on\n"


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("import sys; sys.exit(3)", "ExitCode", "3"),
        ("x ==", "SyntaxError", "invalid syntax"),
        ("class Own(Exception): pass\nraise Own('two\\nlines')", "Own", "two"),
        (
            "raise ExceptionGroup('both', [ValueError(1)])",
            "ExceptionGroup",
            "both (1 sub-exception)",
        ),
    ],
)
def test_every_failure_is_an_error(kernel: Client, code: str, name: str, message: str) -> None:
    done = kernel.run(f"%%runprogram python\n{code}")
    assert (done.content["ename"], done.content["evalue"].strip()) == (name, message)


def test_files_are_listed_with_their_sizes_and_pictures_shown(kernel: Client) -> None:
    code = (
        f"data = {PNG!r}\nopen('a.png', 'wb').write(data)\nopen('b.txt', 'w').write('x' * 3000)\n"
        "open('fake.png', 'w').write('<svg onload=alert(1)>')\n"
        "open('c.svg', 'w').write('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')\n"
        "open('d.html', 'w').write('<script>alert(1)</script>')"
    )
    done = kernel.run(f"%%runprogram python\n{code}").check()
    assert f"a.png  {len(PNG)} bytes\n" in done.stdout
    assert "b.txt  2.9 KiB\n" in done.stdout
    assert [set(bundle) for bundle in done.displays] == [{"image/png", "text/plain"}]
    assert base64.b64decode(done.displays[0]["image/png"]) == PNG


def test_names_of_files_are_harmless_to_show(kernel: Client) -> None:
    done = kernel.run("%%runprogram python\nopen('a\\x1b[31m\\nb', 'w')").check()
    assert done.stdout == "a\\x1B[31m\\nb  0 bytes\n"


def test_what_a_program_prints_is_harmless_to_show(kernel: Client) -> None:
    done = kernel.run("%%runprogram python\nprint('\\x1b]0;title\\x07')").check()
    assert done.stdout == "\\x1B]0;title\\x07\n"


def test_a_picture_beyond_what_a_page_can_draw_is_only_listed(kernel: Client) -> None:
    bomb = PNG[:16] + (100_000).to_bytes(4, "big") * 2 + PNG[24:]
    done = kernel.run(f"%%runprogram python\nopen('a.png', 'wb').write({bomb!r})").check()
    assert done.displays == []
    assert done.stdout.startswith("a.png")


def test_options_reach_the_program(kernel: Client, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("n\n1\n")
    kernel.run("%%runcode --keep kept\n({a: [1, 2]})").check()
    line = (
        '%%runprogram python --arg one --arg "two three" --stdin "\\"typed\\"" --memory 128MiB'
        f" --file {tmp_path}/rows.csv --file kept.json=kept --file b.txt=@{tmp_path}/rows.csv"
    )
    code = (
        "import sys\nprint(sys.argv[1:], input())\n"
        "print([open(name).read() for name in ('rows.csv', 'kept.json', 'b.txt')])"
    )
    done = kernel.run(f"{line}\n{code}").check()
    assert done.stdout == (
        "['one', 'two three'] typed\n['n\\n1\\n', '{\"a\": [1, 2]}', 'n\\n1\\n']\n"
    )


def test_a_session_keeps_its_files_and_its_language_may_change(kernel: Client) -> None:
    kernel.run("%%runprogram python --session s1\nopen('a.txt', 'w').write('kept')").check()
    code = "console.log(require('fs').readFileSync('a.txt', 'utf8'))"
    done = kernel.run(f"%%runprogram node --session s1\n{code}").check()
    assert done.stdout == "kept\n"


def test_a_deadline_ends_a_program(kernel: Client) -> None:
    done = kernel.run("%%runprogram python --deadline 300ms\nwhile True: pass")
    assert (done.content["ename"], done.content["evalue"]) == ("terminated", "300ms budget")


def test_functions_of_a_bridge_are_tools(kernel: Client) -> None:
    shop = "def price(item: str) -> int:\n    return len(item)\ndef sale(item: str) -> int:\n    return 1"
    kernel.run(f"%%bridge shop\n{shop}").check()
    code = "print(call_tool('price', {'item': 'tea'}))"
    assert kernel.run(f"%%runprogram python --tool shop\n{code}").check().stdout == "3\n"
    code = "print(call_tool('cost', {'item': 'tea'}))"
    done = kernel.run(f"%%runprogram python --tool cost=shop.price\n{code}").check()
    assert done.stdout == "3\n"
    code = "print(call_tool('price', {'item': 'tea'}))"
    assert kernel.run(f"%%runprogram python --tool shop.price\n{code}").check().stdout == "3\n"
    twice = kernel.run(f"%%runprogram python --tool shop --tool shop.price\n{code}")
    assert twice.check().stdout == "3\n"
    both = kernel.run(f"%%runprogram python --tool shop --tool price=shop.sale\n{code}")
    assert "two tools are called price; give one another name" in both.content["evalue"]


def test_the_structured_result_is_the_result_of_the_cell(kernel: Client) -> None:
    assert kernel.run("%%runprogram python\nset_result({'n': 2})").check().text == "{ n: 2 }"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pyhton", "did you mean 'python'?"),
        ("--sdtin 1", "did you mean --stdin?"),
        ("python node", "'node' is not an option"),
        ("--into x", "--into is for the IPython magic %%runprogram"),
        ("--file nothing.csv", "@nothing.csv does not exist"),
        ("--stdin nothing", "nothing is not JSON"),
        ("--tool nothing", "nothing is not JSON"),
        ("--session ../x", "session"),
        ("--packages a,,b", "empty name"),
        ("--deadline 1s --deadline 2s", "--deadline was given twice"),
    ],
)
def test_a_wrong_option_is_an_error_before_anything_runs(
    kernel: Client, line: str, message: str
) -> None:
    done = kernel.run(f"%%runprogram {line}\nprint('RAN')")
    assert (done.content["ename"], done.stdout) == ("OptionError", "")
    assert message in done.content["evalue"]


def test_languages_and_options_are_completed(kernel: Client) -> None:
    assert kernel.complete("%%runprogram py|")["matches"] == ["python"]
    assert "--packages" in kernel.complete("%%runprogram python --|")["matches"]
    assert "--fn" not in kernel.complete("%%runprogram python --|")["matches"]
    found = kernel.complete("%%runprogram python --pa|")
    assert found["matches"] == ["--packages"]
    assert "installed packages" in str(found["metadata"])
    assert kernel.complete("%%runprogram python\nimp|")["matches"] == []


def test_help_tells_about_its_options(kernel: Client) -> None:
    assert "--packages A,B" in kernel.run("%help").check().stdout
    assert "lend installed packages" in str(kernel.inspect("%%runprogram --pack|ages pandas"))


def test_a_saved_figure_is_shown_under_the_cell(kernel: Client) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.savefig('figure.png')"
    done = kernel.run(f"%%runprogram python --packages matplotlib\n{code}").check()
    assert done.stdout.startswith("figure.png  ")
    assert done.displays[0]["image/png"].startswith("iVBOR")
