"""The protocol: what each kind of frame means, and its version.

    host → worker                          worker → host
    WAKE         RUN is about to follow    READY         locked down; a = isolation level
    RUN          the job
    RETURN       a = call: its value       REPORT        a value
    THROW        a = call: its error       LOG           [level, method, depth, time, args]
    PROMISE      a = call: settles later   CALL          a = call, b = bridge: arguments
    RETURNS      [call, value, ...]
    CALL_GUEST   a = call, b = function    GUEST_RETURN  a = call of the host: its value
                                           GUEST_THROW   a = call of the host: its error
                                           RESOLVED      a = promise of the guest: its value
                                           REJECTED      a = promise of the guest: its error
                                           SAID          reports and logs, a line each
                                           CALLS         [[call, bridge, arguments], ...]
                                           FINISHED      the result
                                           FAILED        status, error and positions, as JSON

A line of SAID is `R` or `L` and the value's text; REPORT and LOG are for those with attachments.
A call numbered 0 wants no answer; CALLS never wants one at once, and RETURNS answers those that
have a promise already; both carry what JSON says. The worker never waits for more than one synchronous call.
"""

from __future__ import annotations

VERSION = 3

RUN, RETURN, THROW, PROMISE, CALL_GUEST, RETURNS, WAKE = 1, 2, 3, 4, 5, 6, 7

READY, REPORT, LOG, CALL = 16, 17, 18, 19
GUEST_RETURN, GUEST_THROW, RESOLVED, REJECTED = 20, 21, 22, 23
FINISHED, FAILED, SAID, CALLS = 24, 25, 26, 27

MAX_CALLS = 256  # in one CALLS; bridge.js never gathers more

# How a bridge is called: wait for its value, get a promise at once, or expect nothing.
SYNC, ASYNC, ONE_WAY = 0, 1, 2

# How isolated a worker says it is: nothing but a process, or the system-call filter too.
PROCESS_ONLY, FILTERED = 0, 1
ISOLATION_NAMES = {PROCESS_ONLY: "process", FILTERED: "seccomp"}

# Exit codes of a worker that could not tell the host in a frame.
EXIT_MEMORY, EXIT_INTERNAL = 70, 71
