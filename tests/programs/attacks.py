"""Attacks of a Python program on its host, each with the layer that stops it first, by level.

All of them run in one program, which tells for each what came of it. The program knows where the
victims are: files, sockets and processes of the host, which are there and open to its user.
Run as a program itself, `python -m tests.programs.attacks LEVEL`, it prints that as JSON, so that
another user can be the host.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from sandbox_kernel.programs.inside.calls import MACHINES

GOT_THROUGH = "got through"


class Attack(NamedTuple):
    """Code that gets through if it raises nothing; `at_*` is the layer that stops it there."""

    name: str
    code: str
    at_namespaces: str = "filter"
    at_landlock: str = "filter"


def _files(first: str, code: str, name: str) -> Attack:
    return Attack(name, code, first, "landlock")


# Where the layers differ, what stops an attack at level namespaces is that its target is not there.
ATTACKS = [
    # First, because others open some.
    Attack("find_more_descriptors", "assert [n for n in range(4096) if is_open(n)] != [0, 1, 2, 3]", "descriptors", "descriptors"),
    # -- files of the host
    _files("root", "open(victim).read()", "read_a_file_of_the_host"),
    _files("root", "open('/etc/hostname').read()", "read_the_name_of_the_host"),
    _files("root", "open('/etc/shadow').read()", "read_passwords"),
    _files("root", "open(f'/proc/{host}/environ').read()", "read_the_environment_of_the_host"),
    _files("root", "open(f'/proc/{host}/mem', 'rb').read(1)", "read_the_memory_of_the_host"),
    _files("root", "open('/proc/1/cmdline').read()", "read_a_command_line"),
    _files("root", "os.listdir(os.path.dirname(victim))", "list_a_folder_of_the_host"),
    _files("root", "assert os.listdir('/home') + os.listdir('/root')", "list_the_homes"),
    _files("root", "open(victim, 'a').write('x')", "append_to_a_file_of_the_host"),
    _files("root", "os.truncate(victim, 0)", "truncate_a_file_of_the_host"),
    _files("root", "os.open(victim, os.O_RDONLY | os.O_TRUNC)", "truncate_by_opening_for_reading"),
    _files("root", "os.open(victim, os.O_PATH | os.O_RDWR | os.O_TRUNC); open(victim)", "open_as_a_path"),
    _files("root", "os.link(victim, 'stolen')", "hard_link_to_a_file_of_the_host"),
    _files("root", "os.symlink(victim, 'a'); open('a').read()", "read_through_a_link"),
    _files("root", "os.rename(victim, 'stolen')", "move_a_file_of_the_host_here"),
    _files("root", "os.unlink(victim)", "remove_a_file_of_the_host"),
    _files("root", "open(os.path.dirname(victim) + '/new', 'w')", "make_a_file_elsewhere"),
    _files("root", "os.mkdir(os.path.dirname(victim) + '/new')", "make_a_folder_elsewhere"),
    _files("root", "os.symlink('/', os.path.dirname(victim) + '/link')", "make_a_link_elsewhere"),
    _files("root", "os.rename('.', os.path.dirname(victim) + '/moved')", "move_its_own_folder_away"),
    _files("root", "open(os.__file__, 'a')", "write_into_the_standard_library"),
    _files("root", "open(os.path.dirname(os.__file__) + '/new.py', 'w')", "add_to_the_standard_library"),
    _files("root", "open('/usr/lib/new', 'w')", "write_into_the_systems_libraries"),
    _files("root", "open('/etc/new', 'w')", "write_into_etc"),
    _files("root", "open('/dev/kmsg').read(1)", "read_the_kernels_log"),
    _files("root", "open('/dev/tty')", "open_the_terminal"),
    _files("root", "open('/dev/mem', 'rb').read(1)", "read_the_machines_memory"),
    _files("root", "os.listdir(os.path.dirname(os.__file__) + '/site-packages')[1]", "list_packages_of_the_host"),
    _files("root", "os.listdir('/usr/lib/python3/dist-packages')[0]", "list_packages_of_the_system"),
    _files("root", "os.open('../../' + victim, os.O_RDONLY)", "climb_out_with_dots"),
    _files("root", "os.chdir('/proc/self/root/..'); open('.' + victim)", "climb_out_through_proc"),
    _files("root", "open('/sys/kernel/notes', 'rb').read(1)", "read_sys"),
    _files("root", "open('/proc/kallsyms').read(1)", "read_the_kernels_symbols"),
    _files("root", "open('/proc/net/tcp').read()", "list_the_hosts_connections"),
    _files("root", "open('/proc/self/mountinfo').read().index(os.path.dirname(victim))", "find_folders_in_the_mounts"),
    _files("root", "assert open('/proc/sys/kernel/hostname').read() != 'sandbox\\n'", "learn_the_hosts_name"),
    _files("root", "os.readlink('/proc/1/ns/mnt')", "find_the_namespaces_of_its_supervisor"),
    _files("root", "os.listdir('/proc/1/root')", "look_through_the_root_of_its_supervisor"),
    _files("root", "open('/proc/1/mem', 'r+b')", "write_the_memory_of_its_supervisor"),
    _files("root", "open('/proc/self/oom_score_adj', 'w').write('-1000')", "be_the_last_to_go_when_memory_is_short"),
    _files("root", "open('/proc/self/clear_refs', 'w').write('1')", "write_into_proc"),
    _files("landlock", "open('/proc/self/exe', 'r+b')", "write_over_its_interpreter"),
    _files("identity", "folder = '/proc/self/map_files/'; open(folder + os.listdir(folder)[0], 'rb')", "open_what_it_has_mapped"),
    _files("root", "open('/proc/sys/kernel/core_pattern', 'w').write('|/bin/sh')", "have_the_kernel_start_a_program"),
    _files("root", "open('/proc/sysrq-trigger', 'w').write('h')", "press_a_key_of_the_kernels"),
    _files("root", "open('w', 'w').close(); raw('renameat2', -100, text('w'), -100, text(victim), 2)", "exchange_a_file_for_one_of_the_host"),
    # -- network
    Attack("connect_by_tcp", "socket.create_connection(('127.0.0.1', port), 5)"),
    Attack("send_by_udp", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))"),
    Attack("open_an_ipv6_socket", "socket.socket(socket.AF_INET6)"),
    Attack("connect_to_a_socket_with_a_path", "socket.socket(socket.AF_UNIX).connect(path)"),
    Attack("connect_to_an_abstract_socket", "socket.socket(socket.AF_UNIX).connect(abstract)"),
    Attack("open_a_netlink_socket", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    Attack("open_a_packet_socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    Attack("open_a_vsock", "socket.socket(40, socket.SOCK_STREAM)"),
    Attack("make_a_pair_of_datagram_sockets", "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)"),
    Attack("make_a_pair_of_packet_sockets", "socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)"),
    Attack("connect_a_half_of_a_pair_elsewhere", "socket.socketpair()[0].connect(path)"),
    Attack("send_from_a_pair_to_a_path", "socket.socketpair()[0].sendto(b'x', path)"),
    Attack("have_the_kernel_filter_a_socket", "allow = text('\\6\\0\\0\\0' + '\\x7f' * 4); socket.socketpair()[0].setsockopt(1, 26, b'\\1' + bytes(7) + ctypes.addressof(allow).to_bytes(8, 'little'))"),
    Attack("hold_the_host_by_its_socket", "socket.socket(fileno=os.dup(3)).getsockopt(socket.SOL_SOCKET, 77, 4)"),
    Attack("learn_who_the_host_is", "socket.socket(fileno=os.dup(3)).getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)"),
    Attack("look_up_a_name", "socket.getaddrinfo('localhost', 80); socket.create_connection(('localhost', port), 5)"),
    # -- processes
    Attack("start_a_program", "subprocess.run(['/bin/true'])"),
    Attack("start_a_shell", "os.system('true') == 0 or 1 / 0"),
    Attack("spawn_a_program", "os.posix_spawn('/bin/true', ['true'], {})"),
    Attack("become_a_program", "os.execv('/bin/true', ['true'])"),
    Attack("become_a_program_by_number", "raw('execve', text('/bin/true'), pointers('true'), 0)"),
    Attack("become_a_program_by_descriptor", "raw('execveat', -100, text('/bin/true'), 0, 0, 0)"),
    Attack("become_a_program_in_memory", "os.memfd_create('program')"),
    Attack("run_a_file_of_its_own", "open('p', 'w').write('#!/bin/sh'); os.chmod('p', 0o755); raw('execve', text('p'), 0, 0)"),
    Attack("kill_the_host", "os.kill(host, 9)", "processes"),
    Attack("ask_whether_the_host_lives", "os.kill(host, 0)", "processes"),
    Attack("signal_everybody", "libc.kill(-1, 0) and 1 / 0", "processes"),
    Attack("signal_its_parent", "os.kill(os.getppid(), 9); time.sleep(.1); 1 / (os.getppid() == 0)", "processes"),
    Attack("signal_by_thread", "raw('tgkill', host, host, 0)", "processes"),
    Attack("signal_by_queue", "raw('rt_sigqueueinfo', host, 10, text(' ' * 128))"),
    Attack("have_the_host_signalled_by_a_pipe", "import fcntl; r, w = os.pipe(); fcntl.fcntl(r, fcntl.F_SETOWN, host); fcntl.fcntl(r, fcntl.F_SETSIG, 9)"),
    Attack("have_itself_notified_of_files", "import fcntl; fcntl.fcntl(os.open('.', 0), fcntl.F_NOTIFY, 2)"),
    Attack("trace_the_host", "raw('ptrace', 16, host, 0, 0)"),
    Attack("read_the_hosts_memory_by_number", "raw('process_vm_readv', host, 0, 0, 0, 0, 0)"),
    Attack("hold_the_host_by_descriptor", "raw('pidfd_open', host, 0)"),
    Attack("limit_the_host", "resource.prlimit(host, resource.RLIMIT_NOFILE, (0, 0))"),
    Attack("look_at_the_hosts_limits", "resource.prlimit(host, resource.RLIMIT_NOFILE)"),
    Attack("slow_down_its_user", "os.setpriority(os.PRIO_USER, 0, 19)"),
    Attack("slow_down_the_host", "os.setpriority(os.PRIO_PROCESS, host, 19)"),
    Attack("move_the_host_to_a_processor", "os.sched_setaffinity(host, {0})"),
    Attack("schedule_in_real_time", "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"),
    # -- rights
    Attack("become_root", "os.getuid() and os.setuid(0); 1 / 0", "filter", "filter"),
    Attack("become_root_by_number", "raw('setresuid', 0, 0, 0)"),
    Attack("join_a_group", "os.setgroups([0])"),
    Attack("read_files_as_root", "raw('setfsuid', 0) or 1 / 0"),
    Attack("take_capabilities", "raw('capset', 0, 0)"),
    Attack("change_the_root", "os.chroot('.')"),
    Attack("raise_a_limit", "resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))", "limits", "limits"),
    Attack("have_its_core_dumped", "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"),
    Attack("make_a_device", "os.mknod('device', 0o20600, os.makedev(1, 3))"),
    Attack("make_a_pipe_with_a_name", "os.mkfifo('pipe')"),
    Attack("be_traced", "raw('ptrace', 0, 0, 0, 0)"),
    Attack("become_dumpable", "raw('prctl', 4, 1, 0, 0, 0)"),
    Attack("let_anybody_trace_it", "raw('prctl', 0x59616D61, -1, 0, 0, 0)"),
    # -- the kernel
    *(
        Attack(f"call_{name}", f"raw({name!r}, 0, 0, 0, 0, 0, 0)")
        for name in (
            "io_uring_setup bpf keyctl add_key request_key shmget shmat msgget semget mount umount2 setns"
            " unshare open_by_handle_at name_to_handle_at perf_event_open userfaultfd clone3"
            " inotify_init1 fanotify_init mq_open init_module finit_module kexec_load reboot swapon"
            " settimeofday clock_settime adjtimex personality splice vmsplice tee memfd_create"
            " memfd_secret openat2 fsopen open_tree move_mount pivot_root process_vm_writev kcmp"
            " landlock_create_ruleset seccomp process_madvise pidfd_getfd quotactl acct syslog"
            " iopl ioperm modify_ldt lookup_dcookie migrate_pages move_pages mbind set_mempolicy"
        ).split()
    ),
    *(
        Attack(f"ask_the_kernel_to_{name}", f"raw('prctl', {option}, {value}, 0, 0, 0)")
        for name, option, value in (
            ("outlive_its_supervisor", 1, 0),
            ("adopt_orphans", 36, 1),
            ("keep_capabilities", 8, 1),
            ("take_the_bits_of_root", 28, 0),
            ("change_its_map_of_memory", 35, 8),
            ("route_system_calls", 59, 0),
        )
    ),
    Attack("make_a_pipe_larger", "import fcntl; fcntl.fcntl(os.pipe()[1], 1031, 1 << 20)"),
    Attack("make_a_file_immutable", "import fcntl; fcntl.ioctl(os.open('.', 0), 0x40086602, bytes([16] + [0] * 7))"),
    Attack("freeze_the_file_system", "import fcntl; fcntl.ioctl(os.open('.', 0), 0xC0045877, 0)"),
    Attack("push_into_a_terminal", "import fcntl; fcntl.ioctl(0, 0x5412, b'x')"),
    Attack("list_network_interfaces", "import fcntl; fcntl.ioctl(socket.socketpair()[0], 0x8912, b' ' * 32)"),
    Attack("fork_into_new_namespaces", "raw('clone', 0x10000000 | 17, 0, 0, 0, 0)"),
    Attack("load_a_module_of_the_host", "import sandbox_kernel"),
    Attack("load_a_package_of_the_host", "import cffi"),
    Attack("find_the_hosts_environment", "assert set(os.environ) != {'HOME', 'LANG', 'PATH', 'TMPDIR', 'USER'}", "environment", "environment"),
    Attack("find_the_hosts_environment_in_proc", "open('/proc/self/environ').read().index('PATH')", "environment", "landlock"),
]  # fmt: skip

# Landlock does not see metadata: these succeed and do nothing, which the host looks at.
PRETENDED = [
    "os.chmod(victim, 0o777)",
    "os.utime(victim, (0, 0))",
    "os.setxattr(victim, 'user.x', b'y')",
]
# At level landlock these tell the existence of files; it is said so in SECURITY.md.
ONLY_HIDDEN_BY_A_ROOT = ["os.stat(victim)", "os.chdir(os.path.dirname(victim))"]

_PROGRAM = """
import ctypes, json, os, resource, socket, subprocess, sys, threading, time
given = json.load(sys.stdin)
victim, host, port, path, abstract = (given[name] for name in ('victim', 'host', 'port', 'path', 'abstract'))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def raw(name, *args):
    numbers = [ctypes.c_long(each) if isinstance(each, int) else each for each in args]
    found = libc.syscall(ctypes.c_long(given['numbers'][name]), *numbers)
    if found < 0:
        raise OSError(ctypes.get_errno(), name)
    return found

def text(value):
    return ctypes.create_string_buffer(value.encode())

def pointers(*values):
    return (ctypes.c_char_p * (len(values) + 1))(*(value.encode() for value in values), None)

def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True

outcomes = {}
for name, code in given['attacks'].items():
    try:
        exec(code)
        outcomes[name] = 'got through'
    except BaseException as error:
        outcomes[name] = f'{type(error).__name__}: {error}'
    os.chdir(os.environ['HOME'])
set_result(outcomes)
"""

# name: x86-64, arm64; those that a machine lacks are left out there
_NUMBERS = {
    "io_uring_setup": (425, 425), "bpf": (321, 280), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "shmget": (29, 194), "shmat": (30, 196), "msgget": (68, 186),
    "semget": (64, 190), "mount": (165, 40), "umount2": (166, 39), "setns": (308, 268),
    "unshare": (272, 97), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "clone3": (435, 435),
    "inotify_init1": (294, 26), "fanotify_init": (300, 262), "mq_open": (240, 180),
    "init_module": (175, 105), "finit_module": (313, 273), "kexec_load": (246, 104),
    "reboot": (169, 142), "swapon": (167, 224), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "adjtimex": (159, 171), "personality": (135, 92),
    "splice": (275, 76), "vmsplice": (278, 75), "tee": (276, 77), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "openat2": (437, 437), "fsopen": (430, 430), "open_tree": (428, 428),
    "move_mount": (429, 429), "pivot_root": (155, 41), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "landlock_create_ruleset": (444, 444), "seccomp": (317, 277),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "quotactl": (179, 60),
    "acct": (163, 89), "syslog": (103, 116), "iopl": (172, None), "ioperm": (173, None),
    "modify_ldt": (154, None), "lookup_dcookie": (212, 18), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "mbind": (237, 235), "set_mempolicy": (238, 237), "clone": (56, 220),
    "execve": (59, 221), "execveat": (322, 281), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "pidfd_open": (434, 434),
    "setresuid": (117, 147), "setfsuid": (122, 151), "capset": (126, 91), "prctl": (157, 167),
    "renameat2": (316, 276),
}  # fmt: skip


def numbers() -> dict[str, int]:
    column = (
        ("x86_64", "aarch64").index(os.uname().machine) if os.uname().machine in MACHINES else 0
    )
    found = {name: values[column] for name, values in _NUMBERS.items()}
    return {name: number for name, number in found.items() if number is not None}


@contextmanager
def victims() -> Iterator[dict[str, Any]]:
    """What a program must not reach, there and in reach of the host's user."""
    with tempfile.TemporaryDirectory(prefix="victim-") as folder, socket.socket() as tcp:
        os.chmod(folder, 0o777)
        victim, path, abstract = f"{folder}/secret", f"{folder}/socket", f"\0victim-{os.getpid()}"
        with open(victim, "w") as file:
            file.write("secret")
        os.chmod(victim, 0o666)
        tcp.bind(("127.0.0.1", 0))
        tcp.listen(8)
        with socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as unnamed:
            for each, address in ((named, path), (unnamed, abstract)):
                each.bind(address)
                each.listen(8)
            os.chmod(path, 0o777)
            yield {
                "victim": victim,
                "path": path,
                "abstract": abstract,
                "port": tcp.getsockname()[1],
                "host": os.getpid(),
                "numbers": numbers(),
            }


def attempt(attacks: dict[str, str], given: dict[str, Any], engine: Any) -> dict[str, str]:
    """What came of each, by name."""
    from sandbox_kernel.run import run_program

    stdin = json.dumps({**given, "attacks": attacks})
    result = run_program(_PROGRAM, stdin=stdin, engine=engine).wait(60)
    assert result.exit_code == 0, result
    outcomes: dict[str, str] = result.result
    return outcomes


def all_of_them(level: str) -> dict[str, Any]:
    """The outcomes of all attacks from a host of this user, and how the victims are afterwards."""
    from sandbox_kernel.programs import Programs

    with Programs(isolation=level, spares=0) as engine, victims() as given:
        outcomes = attempt({each.name: each.code for each in ATTACKS}, given, engine)
        pretended = attempt({code: code for code in PRETENDED}, given, engine)
        seen = attempt({code: code for code in ONLY_HIDDEN_BY_A_ROOT}, given, engine)
        found = os.stat(given["victim"])
        return {
            "outcomes": outcomes,
            "pretended": pretended,
            "seen": seen,
            "mode": found.st_mode & 0o777,
            "modified": found.st_mtime,
            "attributes": os.listxattr(given["victim"]),
            "content": open(given["victim"]).read(),
            "folder": sorted(os.listdir(os.path.dirname(given["victim"]))),
            "user": os.getuid(),
        }


if __name__ == "__main__":
    print(json.dumps(all_of_them(sys.argv[1])))
