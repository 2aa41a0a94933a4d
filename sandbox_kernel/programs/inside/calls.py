"""The system calls that a program may make: an allow-list, and rules for arguments.

A call that is not on it fails with ENOSYS rather than killing the program, because programs and
their libraries try things and fall back. What would reach beyond the sandbox fails with an error
that says so.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterable
from resource import RLIMIT_CORE

from ...isolation import bpf
from ...isolation.bpf import Condition, Rule, always, without
from ...isolation.namespaces import ANY

# name:x86-64:arm64, from the kernel's unistd.h
_ALLOWED = """
read:0:63 write:1:64 open:2: close:3:57 stat:4: fstat:5:80 lstat:6: poll:7: lseek:8:62 mmap:9:222
mprotect:10:226 munmap:11:215 brk:12:214 rt_sigaction:13:134 rt_sigprocmask:14:135
rt_sigreturn:15:139 pread64:17:67 pwrite64:18:68 readv:19:65 writev:20:66 access:21: pipe:22:
select:23: sched_yield:24:124 mremap:25:216 msync:26:227 madvise:28:233 dup:32:23 dup2:33: pause:34:
nanosleep:35:101 getitimer:36:102 alarm:37: setitimer:38:103 getpid:39:172 sendfile:40:71
sendto:44:206 recvfrom:45:207 sendmsg:46:211 recvmsg:47:212 shutdown:48:210 getsockname:51:204
getpeername:52:205 exit:60:93 wait4:61:260 uname:63:160
flock:73:32 fsync:74:82 fdatasync:75:83 truncate:76:45 ftruncate:77:46 getdents64:217:61
getcwd:79:17 chdir:80:49 fchdir:81:50 rename:82: mkdir:83: rmdir:84: creat:85: link:86: unlink:87:
symlink:88: readlink:89: umask:95:166 gettimeofday:96:169 getrlimit:97:163 getrusage:98:165
sysinfo:99:179 times:100:153 getuid:102:174 getgid:104:176 geteuid:107:175 getegid:108:177
setpgid:109:154 getppid:110:173 getpgrp:111: setsid:112:157 getpgid:121:155 getsid:124:156
getresuid:118:148 getresgid:120:150 getgroups:115:158 rt_sigpending:127:136 rt_sigtimedwait:128:137
rt_sigsuspend:130:133 sigaltstack:131:132 statfs:137:43 fstatfs:138:44 getpriority:140:141
sched_getparam:143:121 sched_getscheduler:145:120 sched_get_priority_max:146:125
sched_get_priority_min:147:126 mlock:149:228 munlock:150:229 arch_prctl:158:
gettid:186:178 time:201: futex:202:98 sched_getaffinity:204:123 set_tid_address:218:96
fadvise64:221:223 clock_gettime:228:113 clock_getres:229:114 clock_nanosleep:230:115
exit_group:231:94 epoll_wait:232: epoll_ctl:233:21 epoll_create:213: epoll_create1:291:20
epoll_pwait:281:22 epoll_pwait2:441:441 waitid:247:95 openat:257:56 mkdirat:258:34 newfstatat:262:79
unlinkat:263:35 renameat:264:38 linkat:265:37 symlinkat:266:36 readlinkat:267:78 faccessat:269:48
faccessat2:439:439 pselect6:270:72 ppoll:271:73 set_robust_list:273:99 sync_file_range:277:84
timerfd_create:283:85 timerfd_settime:286:86 timerfd_gettime:287:87 eventfd:284: eventfd2:290:19
fallocate:285:47 dup3:292:24 pipe2:293:59 preadv:295:69 pwritev:296:70 preadv2:327:286
pwritev2:328:287 renameat2:316:276 getrandom:318:278 membarrier:324:283 copy_file_range:326:285
statx:332:291 rseq:334:293 close_range:436:436 restart_syscall:219:128 capget:125:90
pkey_alloc:330:289 pkey_free:331:290 pkey_mprotect:329:288 getcpu:309:168 mlock2:325:284
futex_waitv:449:449
"""
# Landlock does not see these, so without a mount namespace they would reach files of the host.
_METADATA = """
sync:162:81 chmod:90: fchmod:91:52 fchmodat:268:53 fchmodat2:452:452 chown:92: fchown:93:55 lchown:94:
fchownat:260:54 utime:132: utimes:235: futimesat:261: utimensat:280:88 setxattr:188:5 lsetxattr:189:6
fsetxattr:190:7 removexattr:197:14 lremovexattr:198:15 fremovexattr:199:16
getxattr:191:8 lgetxattr:192:9 fgetxattr:193:10 listxattr:194:11 llistxattr:195:12 flistxattr:196:13
"""
_RULED = """
socket:41:198 socketpair:53:199 clone:56:220 fork:57: vfork:58: kill:62:129 tgkill:234:131 ioctl:16:29
prctl:157:167 fcntl:72:25 setrlimit:160:164 prlimit64:302:261
setpriority:141:140 sched_setaffinity:203:122 execve:59:221 setsockopt:54:208 getsockopt:55:209
"""
_NETWORK = """
connect:42:203 bind:49:200 listen:50:201 accept:43:202 accept4:288:242 sendmmsg:307:269 recvmmsg:299:243
"""
_MACHINES = ("x86_64", "aarch64")
MACHINES = frozenset(_MACHINES)

_UNIX, _STREAM, _TYPE_BITS = 1, 1, 0xF
_INTERNET, _DATAGRAM = (2, 10), 2
_OTHERS_RIGHTS = 0o6000  # of a new file: to run as its owner or group
_THREAD = 0x10000  # CLONE_THREAD
_SHARED, _ANONYMOUS = 0x01, 0x20  # of mmap
# TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX FICLONE
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)
# GET_DUMPABLE SET_NAME GET_NAME GET_SECCOMP CAPBSET_READ GET_NO_NEW_PRIVS SET_VMA
_PRCTLS = (3, 15, 16, 21, 23, 39, 0x53564D41)
# Not among these: those that have signals sent, which may be to others (F_SETOWN, F_SETSIG, leases,
# F_NOTIFY), and that make pipes larger.
# DUPFD GETFD SETFD GETFL SETFL GETLK SETLK SETLKW OFD_GETLK OFD_SETLK OFD_SETLKW DUPFD_CLOEXEC
# GETPIPE_SZ ADD_SEALS GET_SEALS
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032, 1033, 1034)
# Of SOL_SOCKET; not among these: those that attach filters, and that tell whose the other end is.
# REUSEADDR TYPE ERROR SNDBUF RCVBUF KEEPALIVE LINGER RCVLOWAT RCVTIMEO SNDTIMEO ACCEPTCONN PROTOCOL
# DOMAIN
_SOCKET, _SOCKET_OPTIONS = 1, (2, 3, 4, 7, 8, 9, 13, 18, 20, 21, 30, 38, 39)
# All but RLIMIT_CORE: a limit of 1 keeps Linux from starting a program of the host's at a crash.
_LIMITS = tuple(number for number in range(16) if number != RLIMIT_CORE)
_ITSELF = 0x7E57AB1E  # stands for the guest's process number, until that is known
_TRUNCATES = os.O_TRUNC | os.O_ACCMODE
_DENIED, _NOT_PERMITTED = bpf.errno(errno.EACCES), bpf.errno(errno.EPERM)
_PRETENDED = bpf.errno(0)


def filter_program(
    *,
    private_files: bool,
    forks: bool,
    sees_truncation: bool,
    executes: bool = False,
    network: bool = False,
    lent_files: bool = False,
) -> bytes:
    """The filter, for a guest whose number is still to be filled in (`for_process`).

    `private_files`: it has a root of its own, so that metadata of files is its own business.
    `sees_truncation`: Landlock does, so that the filter need not.
    `executes`: it becomes another program, whose address space has no limit.
    `network`: TCP and the datagrams that names are looked up with.
    `lent_files`: it may write to files of the host's, which must not become setuid, or its own to give.
    """
    machine = os.uname().machine
    words = (_ALLOWED + _METADATA + _RULED + (_NETWORK if network else "")).split()
    allowed = _numbers(words, _MACHINES.index(machine))
    rules = _rules(forks)
    if executes:
        del rules["execve"]
        rules["mmap"] = _no_uncounted_memory()
    if network:
        kinds = Condition(1, (_STREAM, _DATAGRAM), _TYPE_BITS)
        rules["socket"] = Rule((Condition(0, _INTERNET), kinds), _DENIED)
        del rules["setsockopt"], rules["getsockopt"]
    if lent_files or not private_files:
        rules |= dict.fromkeys(_names(_METADATA), always(_PRETENDED))
    if not private_files:
        rules |= {name: _signals_itself() for name in ("kill", "tgkill")}
    if not sees_truncation:
        rules |= _without_truncation()
    if lent_files:
        rules |= _without_rights_of_others(rules)
    known = {name: rule for name, rule in rules.items() if name in allowed}
    return bpf.assemble(machine, allowed, known, bpf.errno(errno.ENOSYS))


def for_process(program: bytes, pid: int) -> bytes:
    return program.replace(struct.pack("<I", _ITSELF), struct.pack("<I", pid))


def _names(words: str) -> list[str]:
    return [word.split(":")[0] for word in words.split()]


def numbers_of(words: Iterable[str]) -> dict[str, int]:
    """Of this machine; a word is `name:x86-64:arm64`."""
    return _numbers(list(words), _MACHINES.index(os.uname().machine))


def _numbers(words: list[str], machine: int) -> dict[str, int]:
    split = (word.split(":") for word in words)
    return {name: int(numbers[machine]) for name, *numbers in split if numbers[machine]}


def _rules(forks: bool) -> dict[str, Rule]:
    only_itself = Rule((Condition(0, (0, _ITSELF)),), _NOT_PERMITTED)
    starts = (without(0, ANY),) if forks else (without(0, ANY), Condition(0, (_THREAD,), _THREAD))
    level = Condition(1, (_SOCKET,))
    options = Rule((level, Condition(2, _SOCKET_OPTIONS)), bpf.errno(errno.ENOPROTOOPT))
    rules = {
        "socket": always(_DENIED),
        # A pair of datagram sockets could send to any socket that has a path.
        "socketpair": Rule((Condition(0, (_UNIX,)), Condition(1, (_STREAM,), _TYPE_BITS)), _DENIED),
        "clone": Rule(starts, _NOT_PERMITTED),
        "ioctl": Rule((Condition(1, _IOCTLS),), bpf.errno(errno.ENOTTY)),
        "prctl": Rule((Condition(0, _PRCTLS),), bpf.errno(errno.EINVAL)),
        "fcntl": Rule((Condition(1, _FCNTLS),), _NOT_PERMITTED),
        "setrlimit": Rule((Condition(0, _LIMITS),), _NOT_PERMITTED),
        "prlimit64": Rule((*only_itself.conditions, Condition(1, _LIMITS)), _NOT_PERMITTED),
        "sched_setaffinity": only_itself,
        "setpriority": Rule((Condition(0, (0,)), Condition(1, (0,))), _NOT_PERMITTED),
        "execve": always(_DENIED),
        "setsockopt": options,
        "getsockopt": options,
    }
    if not forks:
        rules |= {name: always(_NOT_PERMITTED) for name in ("fork", "vfork")}
    return rules


def _no_uncounted_memory() -> Rule:
    """Shared memory without a file counts as address space only."""
    others = (0, _SHARED, _ANONYMOUS)
    return Rule((Condition(3, others, _SHARED | _ANONYMOUS),), bpf.errno(errno.ENOMEM))


def _signals_itself() -> Rule:
    return Rule((Condition(0, (_ITSELF,)),), _NOT_PERMITTED)


def _without_rights_of_others(rules: dict[str, Rule]) -> dict[str, Rule]:
    """Beside what these calls are held to anyhow."""
    modes = {"open": 2, "openat": 3, "creat": 1, "mkdir": 1, "mkdirat": 2}
    return {
        name: Rule(
            (*(rules[name].conditions if name in rules else ()), without(index, _OTHERS_RIGHTS)),
            _DENIED,
        )
        for name, index in modes.items()
    }


def _without_truncation() -> dict[str, Rule]:
    """Even opening a file for reading can empty it; for writing, Landlock has the say."""
    others = tuple(flags for flags in range(4) if flags)
    kept = (0, *others, *(os.O_TRUNC | flags for flags in others))
    return {
        "open": Rule((Condition(1, kept, _TRUNCATES),), _DENIED),
        "openat": Rule((Condition(2, kept, _TRUNCATES),), _DENIED),
        "truncate": always(_DENIED),
    }
