"""CPython's own tests as programs, and where a sandbox differs from a plain interpreter, by policy."""

from __future__ import annotations

# A few of them, for every run of the tests; all of them with `make soak`.
SOME = ("test_json", "test_dataclasses", "test_contextlib", "test_sys")
MODULES = (
    *SOME,
    "test_argparse", "test_array", "test_ast", "test_asyncio.test_tasks", "test_asyncio.test_queues",
    "test_atexit", "test_base64", "test_bisect", "test_bytes", "test_builtin", "test_calendar",
    "test_collections", "test_copy", "test_csv", "test_decimal", "test_dict", "test_enum",
    "test_exceptions", "test_fractions", "test_functools", "test_generators", "test_glob", "test_gzip",
    "test_hashlib", "test_heapq", "test_inspect", "test_io", "test_itertools", "test_list",
    "test_math", "test_memoryview", "test_os", "test_pathlib", "test_pickle", "test_queue",
    "test_random", "test_re", "test_set", "test_shutil", "test_sqlite3",
)  # fmt: skip

# What the text of a failure has to say, and which policy that is.
EXPLAINED = {
    "cannot start other programs": "no program starts another",
    "cannot fork here": "level landlock has no process namespace, so its programs do not fork",
    r"No such file or directory: '@test_": "of a test whose subprocess was refused: its file is not there",
    r"Permission denied|Operation not permitted": "files, sockets and calls beyond the program's own",
    "Function not implemented": "system calls that the filter does not have, such as those for pipes with names",
    "Read-only file system": "the standard library cannot be written to",
    "File too large": "files have a size limit",
    "can't start new thread": "a program has 64 processes and threads",
    "getpwuid|Could not determine home directory": "the user of a program has no entry in a table of users",
    "AssertionError: 127 != |exited with code 127": "a fork that would become another program may not",
}
# Tests whose failure does not say it, by what their names begin with.
_HOOKS = "tracebacks of programs are printed by a hook of ours, which knows their source"
NAMED = {
    "test.test_sys.ExceptHookTest.test_excepthook": _HOOKS,
    "test.test_sys.UnraisableHookTest.test_original_unraisablehook_wrong_type": _HOOKS,
    "test.test_exceptions.SyntaxErrorTests.test_range_of_offsets": _HOOKS,
    "test.test_shutil.TestWhich": "nothing in a program's directory can be executed",
    "test.test_os.TestInvalidFD.test_tc": "there are no terminals",
    "test.test_os.FDInheritanceTests.test_openpty": "there are no terminals",
    "test.test_os.TestSendfile": "there are no sockets",
}
# A new interpreter in the process lists the folder of the standard library, which Landlock's rules for
# its single parts do not allow; it ends the process then. And where files are not in a mount of their
# own, changing permissions, dates and attributes of files is pretended.
_INTERPRETERS = "it makes interpreters, which cannot be at this level"
_METADATA = (
    "it is about permissions, dates and attributes of files, which are pretended at this level"
)
WITHOUT_LANDLOCK = {
    "test_ast": _INTERPRETERS,
    "test_atexit": _INTERPRETERS,
    "test_os": _METADATA,
    "test_pathlib": _METADATA,
    "test_shutil": _METADATA,
}

PROGRAM = """
import io, json, os, sys, unittest
from test import support
support.verbose = False
names = sys.argv[1:]
said = io.StringIO()
suite = unittest.defaultTestLoader.loadTestsFromNames(names)
result = unittest.TextTestRunner(stream=said, verbosity=0).run(suite)
failed = [[test.id(), text[-1500:]] for test, text in result.failures + result.errors]
set_result({"run": result.testsRun, "skipped": len(result.skipped), "failed": failed})
sys.stdout.flush()
os._exit(0)
"""
