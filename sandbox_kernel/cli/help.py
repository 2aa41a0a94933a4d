"""What `--help` says, by command; the empty name is the command line as a whole."""

from __future__ import annotations

HELP = {
    "": """\
sandbox-kernel: run JavaScript, TypeScript and Python that you do not trust.

  sandbox-kernel run FILE [ARGS]     run a .ts, .mts, .js, .mjs, .py or .cjs file
  sandbox-kernel run -               run TypeScript from stdin
  sandbox-kernel jsrun               run a snippet from a JSON request on stdin
  sandbox-kernel doctor [--json]     versions, limits, and a self-test that tries to break out
  sandbox-kernel --version

For example:

  echo '[1, 2, 3].map((n) => n * n)' | sandbox-kernel run -
  sandbox-kernel run report.ts --global rows=@rows.json --deadline 2s --json

The code reaches no file, no network and no environment: only what you lend it. It has no deadline
unless you set one. `sandbox-kernel run --help` says more.

Exit codes: 0; 1 if the code failed or a check of doctor does not hold; 2 if the command is wrong,
and then nothing has run; 130 if Ctrl-C ended it; of a program its own.
""",
    "run": """\
sandbox-kernel run FILE [ARGS]: run a .ts, .mts, .js or .mjs file as a module in a fresh sandbox.
`-` instead of FILE reads TypeScript from stdin.

The default export is the result; without one it is the value of the last expression. It is printed
to stdout. What the code logs or reports goes to stderr while it runs, and so does an error, with
its place in the code.

  --global NAME=VALUE   lend a value as a free identifier; VALUE is JSON, or @FILE: JSON, a .csv
                        (an array of objects whose fields are text), or a .txt (text)
  --module PATH         lend a file, such as a bundle, or an installed npm package, such as
                        node_modules/lodash-es: import … from './lodash-es'
  --module ./NAME=@FILE lend a file under another name
  --deadline TIME       stop the code after 2s, 500ms or 1m; without it nothing does but Ctrl-C
  --memory SIZE         limit of its heap, such as 64MiB
  --json                print the result as JSON, however large it is

A .py file runs as a Python program and a .cjs file as one of Node, with the stdin of this
command, ARGS, --deadline and --memory; its output and its exit code are those of this command. It
sees no files of yours, and files that it writes are not kept. With --json everything about it is
one JSON object.

ARGS are the global `args`, an array of strings. Options stand before or after FILE; after a `--`
everything is an argument. Relative imports are read from the folder of FILE and those beneath it,
never outside of it. Links, hidden files and node_modules are left out.

  sandbox-kernel run total.ts --global rows=@rows.csv -- 2026 --draft
""",
    "jsrun": """\
sandbox-kernel jsrun: run a bare script, for programs that want a small, deterministic computation.

stdin is one JSON object:

  {"source": "emit(read_input())", "input": "hello", "limits": {}}

The limits are wall_ms (1000) and output_kb (64). The script has the language and two functions,
read_input() and emit(text): no console, no imports, no clock, no chance, and nothing runs after
its last statement.

stdout is {"output": "..."}. A failure is one line on stderr, {"code": "...", "message": "..."},
with the code EVAL_ERROR, TIMEOUT or OUTPUT_LIMIT and the exit code 1. With OUTPUT_LIMIT stdout has
what fits. A request that cannot be read has the code BAD_REQUEST and the exit code 2.
""",
    "doctor": """\
sandbox-kernel doctor [--json]: versions, limits, how far workers are isolated on this machine, and
a self-test that tries to break out of the sandbox. The exit code is 1 if a check does not hold.

  --json   one JSON object, with the checks as a list of name, holds and detail
""",
}
