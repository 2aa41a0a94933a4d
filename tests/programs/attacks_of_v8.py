"""Attacks of Node and Deno programs on their host, each with the layer that stops it first, by level.

As in attacks.py: all of one runtime run in one program. Deno's own permissions are switched off for
them, so that what stops them are our layers alone. `python -m tests.programs.attacks_of_v8 RUNTIME LEVEL`
prints the outcomes as JSON, so that another user can be the host.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.programs.attacks import Attack, victims
from tests.programs.weakened import programs_without


def _files(name: str, code: str) -> Attack:
    return Attack(name, code, "root", "landlock")


# What both can do: Node's modules are there in Deno, too.
COMMON = [
    _files("read_a_file_of_the_host", "fs.readFileSync(victim)"),
    _files("read_a_file_later", "await fs.promises.readFile(victim)"),
    _files("read_it_as_a_stream", "for await (const part of fs.createReadStream(victim)) part"),
    _files("read_passwords", "fs.readFileSync('/etc/shadow')"),
    _files("read_the_environment_of_the_host", "fs.readFileSync(`/proc/${host}/environ`)"),
    _files("read_the_memory_of_the_host", "fs.readFileSync(`/proc/${host}/mem`)"),
    _files("list_a_folder_of_the_host", "fs.readdirSync(path.dirname(victim))"),
    _files("append_to_a_file_of_the_host", "fs.appendFileSync(victim, 'x')"),
    _files("truncate_a_file_of_the_host", "fs.truncateSync(victim, 0)"),
    _files("hard_link_to_a_file_of_the_host", "fs.linkSync(victim, 'stolen')"),
    _files("read_through_a_link", "fs.symlinkSync(victim, 'link'); fs.readFileSync('link')"),
    _files("copy_a_file_of_the_host", "fs.copyFileSync(victim, 'copy')"),
    _files("move_a_file_of_the_host_here", "fs.renameSync(victim, 'moved')"),
    _files("remove_a_file_of_the_host", "fs.unlinkSync(victim)"),
    _files("make_a_file_elsewhere", "fs.writeFileSync(path.dirname(victim) + '/new', '')"),
    _files("make_a_folder_elsewhere", "fs.mkdirSync(path.dirname(victim) + '/new')"),
    _files("make_a_link_elsewhere", "fs.symlinkSync('/', path.dirname(victim) + '/new')"),
    _files("write_into_the_systems_libraries", "fs.writeFileSync('/usr/lib/new', '')"),
    _files("write_over_its_own_program", "fs.appendFileSync(process.execPath, 'x')"),
    _files("write_over_what_runs_first", "fs.appendFileSync(first, 'x')"),
    _files("climb_out_with_dots", "fs.readFileSync('../../../../../..' + victim)"),
    _files("climb_out_through_proc", "fs.readFileSync('/proc/self/root' + victim)"),
    _files(
        "climb_out_through_its_directory", "fs.readFileSync('/proc/self/cwd/../../../..' + victim)"
    ),
    _files("load_a_module_of_the_host", "require(victim)"),
    _files("import_a_module_of_the_host", "await import('file://' + victim)"),
    _files("list_the_hosts_connections", "fs.readFileSync('/proc/net/tcp')"),
    _files("read_the_kernels_log", "fs.readSync(fs.openSync('/dev/kmsg'), Buffer.alloc(1))"),
    _files("open_the_terminal", "fs.openSync('/dev/tty')"),
    # -- network
    Attack("connect_by_tcp", "await connected(net.connect(port, '127.0.0.1'))"),
    Attack("connect_to_a_socket_with_a_path", "await connected(net.connect(socket))"),
    Attack("connect_to_an_abstract_socket", "await connected(net.connect(abstract))"),
    Attack(
        "listen",
        "await new Promise((ok, no) => net.createServer().on('error', no).listen(0, '127.0.0.1', ok))",
    ),
    Attack(
        "fetch", "await fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(5000) })"
    ),
    Attack("look_up_a_name", "await require('node:dns').promises.resolve4('example.com')"),
    Attack(
        "send_by_udp",
        "await new Promise((ok, no) => require('node:dgram').createSocket('udp4').on('error', no).send('x', port, '127.0.0.1', (e) => e ? no(e) : ok()))",
    ),
    # -- processes
    Attack(
        "start_a_program",
        "const done = require('node:child_process').spawnSync('/bin/true'); if (done.error || done.status !== 0) throw new Error('refused')",
    ),
    Attack("start_a_shell", "require('node:child_process').execSync('true')"),
    Attack(
        "start_itself",
        "require('node:child_process').execFileSync(process.execPath, ['--version'])",
    ),
    Attack(
        "start_a_program_later",
        "await new Promise((ok, no) => require('node:child_process').spawn('/bin/true').on('error', no).on('spawn', ok))",
    ),
    Attack("kill_the_host", "process.kill(host, 'SIGKILL')", "processes"),
    Attack("ask_whether_the_host_lives", "process.kill(host, 0)", "processes"),
    Attack("slow_down_the_host", "require('node:os').setPriority(host, 19)", "processes"),
    # -- rights
    Attack(
        "make_its_memory_native",
        "process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libm.so.6')",
        "root",
        "landlock",
    ),
]
NODE = [
    Attack("become_root", "process.setuid(0)"),
    Attack("become_another_user", "process.setuid(1)"),
    Attack("join_a_group", "process.setgroups([0])"),
    Attack(
        "look_into_node_itself",
        "process.binding('spawn_sync').spawn({ file: '/bin/true', args: ['true'], stdio: [{ type: 'pipe', readable: true, writable: false }] }).error && (() => { throw new Error('refused'); })()",
    ),
    Attack(
        "open_the_inspector",
        "require('node:inspector').open(0, '127.0.0.1'); if (!require('node:inspector').url()) throw new Error('refused')",
    ),
    Attack(
        "make_a_cluster",
        "await new Promise((ok, no) => { const w = require('node:cluster').fork(); w.on('online', ok); w.on('error', no); })",
    ),
    Attack(
        "read_from_a_thread",
        "await new Promise((ok, no) => new (require('node:worker_threads').Worker)(`require('fs').readFileSync('${victim}')`, { eval: true }).on('error', no).on('exit', ok))",
        "root",
        "landlock",
    ),
]
DENO = [
    _files("read_a_file_by_deno", "Deno.readTextFileSync(victim)"),
    _files("write_a_file_by_deno", "Deno.writeTextFileSync(victim, 'x')"),
    _files("remove_a_file_by_deno", "Deno.removeSync(victim)"),
    _files("list_a_folder_by_deno", "[...Deno.readDirSync(path.dirname(victim))]"),
    _files("truncate_a_file_by_deno", "Deno.truncateSync(victim)"),
    Attack("start_a_program_by_deno", "new Deno.Command('/bin/true').outputSync()"),
    Attack("start_itself_by_deno", "new Deno.Command(Deno.execPath(), { args: ['--version'] }).outputSync()"),
    Attack("connect_by_deno", "await Deno.connect({ hostname: '127.0.0.1', port })"),
    Attack("connect_to_a_path_by_deno", "await Deno.connect({ transport: 'unix', path: socket })"),
    Attack("listen_by_deno", "Deno.listen({ port: 0 })"),
    Attack("look_up_a_name_by_deno", "await Deno.resolveDns('example.com', 'A')"),
    Attack("kill_the_host_by_deno", "Deno.kill(host, 'SIGKILL')", "processes"),
    Attack("call_native_code", "Deno.dlopen('libc.so.6', { socket: { parameters: ['i32', 'i32', 'i32'], result: 'i32' } }).symbols.socket(2, 1, 0) < 0 && (() => { throw new Error('refused'); })()"),
    Attack("call_native_code_to_fork", "Deno.dlopen('libc.so.6', { fork: { parameters: [], result: 'i32' } }).symbols.fork() < 0 && (() => { throw new Error('refused'); })()"),
    Attack("call_native_code_to_become_a_program", "Deno.dlopen('libc.so.6', { execve: { parameters: ['buffer', 'pointer', 'pointer'], result: 'i32' } }).symbols.execve(new TextEncoder().encode('/bin/true\\0'), null, null) < 0 && (() => { throw new Error('refused'); })()", "root", "landlock"),
    Attack("fetch_a_module", "await import(`http://127.0.0.1:${port}/x.js`)", "flags", "flags"),
    Attack("fetch_a_package", "await import('npm:left-pad')", "flags", "flags"),
    _files("read_from_a_worker", "await new Promise((ok, no) => { const w = new Worker('data:text/javascript,' + encodeURIComponent(`try { Deno.readTextFileSync('${victim}'); postMessage('got') } catch (e) { postMessage('no') }`), { type: 'module' }); w.onmessage = (e) => e.data === 'got' ? ok() : no(new Error('refused')); })"),
]  # fmt: skip
ATTACKS = {"node": COMMON + NODE, "deno": COMMON + DENO}

_PROGRAM = """
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
const required = createRequire(import.meta.url);
const given = JSON.parse(fs.readFileSync(0, 'utf8'));
const outcomes = {};
const Later = Object.getPrototypeOf(async () => {}).constructor;
const connected = (socket) => new Promise((ok, no) => socket.on('connect', ok).on('error', no));
process.on('uncaughtException', () => {});
const names = { fs, net, path, process, Buffer, connected, require: required, victim: given.victim,
  host: given.host, port: given.port, socket: given.path, abstract: given.abstract, first: given.first };
for (const [name, code] of Object.entries(given.attacks)) {
  try {
    await new Later(...Object.keys(names), code)(...Object.values(names));
    outcomes[name] = 'got through';
  } catch (error) {
    outcomes[name] = String(error).slice(0, 200);
  }
}
setResult(outcomes);
setTimeout(() => process.exit(0), 100);
"""


def all_of_them(runtime: str, level: str) -> dict[str, Any]:
    from sandbox_kernel.run import run_program

    with (
        pytest.MonkeyPatch.context() as patch,
        programs_without("permissions", level, patch) as engine,
        victims() as given,
    ):
        attacks = {each.name: each.code for each in ATTACKS[runtime]}
        first = "/run/node.cjs" if runtime == "node" else "/run/deno.mjs"
        stdin = json.dumps({**given, "attacks": attacks, "first": first})
        run = run_program(_PROGRAM, runtime, stdin=stdin, engine=engine, timeout_ms=90_000)
        result = run.wait(100)
        with open(given["victim"]) as file:
            content = file.read()
        return {"outcomes": result.result, "content": content, "said": result.logs[-2000:]}


if __name__ == "__main__":
    print(json.dumps(all_of_them(*sys.argv[1:]), default=str))
