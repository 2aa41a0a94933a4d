"""What `--help` says, by command; the empty name is the command line as a whole."""

from __future__ import annotations

HELP = {
    "": """\
sandbox-kernel: run JavaScript, TypeScript and Python that you do not trust.

  sandbox-kernel run FILE [ARGS]     run a .ts, .mts, .js, .mjs, .py or .cjs file
  sandbox-kernel run -               run TypeScript from stdin
  sandbox-kernel jsrun               run a snippet from a JSON request on stdin
  sandbox-kernel serve               the same runs and programs behind HTTP
  sandbox-kernel mcp                 be an MCP server, for Claude, Cursor, VS Code and others
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
sees no files of yours. With --json everything about it is one JSON object.

  --language NAME       run the file as a program in python or node, whatever its suffix
  --file PATH           a copy of this file lies in its directory; --file NAME=PATH renames it
  --out DIR             keep the files that it writes there; without it they are not kept
  --packages A,B        lend it installed packages, such as pandas,matplotlib

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
    "serve": """\
sandbox-kernel serve: run code for others, over HTTP: POST /execute for programs, POST /run for
modules; /openapi.json describes everything. SIGTERM lets what runs come to its end.

  --listen ADDR           127.0.0.1:9000; :9000 is all interfaces, unix:PATH a socket (SANDBOX_ADDR)
  --key-file FILE         holds the key that requests have to show
                          (or SANDBOX_EXECUTOR_SERVICE_API_KEY, the key itself)
  --environment NAME      development, dev, local or test: no key needed, on loopback only
                          (SANDBOX_ENVIRONMENT)
  --max-concurrent N      4; whoever comes then gets 503 at once
                          (SANDBOX_EXECUTOR_MAX_CONCURRENT_JOBS, SANDBOX_MAX_CONCURRENT)
  --default-timeout-ms MS 30000 (SANDBOX_EXECUTOR_DEFAULT_TIMEOUT_MS)
  --max-timeout-ms MS     60000, at most 300000 (SANDBOX_EXECUTOR_MAX_TIMEOUT_MS)
  --max-output SIZE       512KiB of stdout, and of stderr (SANDBOX_MAX_OUTPUT)
  --max-memory SIZE       256MiB of one program, and the most of one run
  --workspaces DIR        /var/sandbox if it is writable, else a private one (SANDBOX_WORKSPACE)
  --session-ttl TIME      1h (SANDBOX_SESSION_TTL)
  --python FILE           the service's own interpreter (SANDBOX_PYTHON_BIN)
  --node FILE             the one on PATH (SANDBOX_NODE_BIN)
  --host NAME             another name that it is addressed by; may be repeated
  --callback-host NAME    a host that tools may be called on, beside the requester's own; repeated
  --install-packages      programs may install packages
  --log-code              the log holds the code that is executed (SANDBOX_LOG_CODE)
  --grace TIME            20s for what runs, after SIGTERM
  --max-body SIZE         64MiB of one request
  --read-timeout TIME     30s in which a request has to arrive, and an answer to be read
  --max-connections N     1000

  SANDBOX_ENVIRONMENT=local sandbox-kernel serve
""",
    "mcp": """\
sandbox-kernel mcp: an MCP server on stdin and stdout, with the tools run_code, run_program, wait
and stop. It needs the extra: pip install 'sandbox-kernel[mcp]'.

  --print-config        print what clients such as Claude, Cursor and VS Code want to be told
  --http ADDR           listen on http://ADDR/mcp instead, such as 127.0.0.1:9000; on an address
                        that other machines reach it needs a key, in SANDBOX_MCP_KEY
  --deadline TIME       how long code of run_code may execute; 10m if not given
  --lend NAME=CAPABILITY  what code may use: timers, web, display, fs=files:/data,
                        fetch=api.example.org; repeatable. --ask after it asks before each call
  --config FILE         MCP servers whose tools code may import as '@mcp/NAME', in the form that
                        other clients use: {"mcpServers": {"time": {"command": "mcp-server-time"}}}.
                        The person at the client is asked before each call, unless --policy says so
  --policy FILE         who may call what: {"@mcp/time.*": "allow", "@mcp/mail.send": "ask"}
""",
    "doctor": """\
sandbox-kernel doctor [--json]: versions, limits, how far workers are isolated on this machine, and
a self-test that tries to break out of the sandbox. The exit code is 1 if a check does not hold.

  --json   one JSON object, with the checks as a list of name, holds and detail
""",
}
