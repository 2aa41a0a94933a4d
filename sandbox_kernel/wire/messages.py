"""The protocol: the kinds of messages and what each means, and its version.

    host → worker                          worker → host
    WAKE         RUN is about to follow    READY         locked down; a = isolation level
    LIMIT        a = kilobytes that it may map
    RUN          the order
    RETURN       a = call: its value       REPORT        a value
    THROW        a = call: its error       LOG           [level, method, depth, time, args]
    PROMISE      a = call: settles later   CALL          a = call, b = bridge: arguments
    RETURNS      [call, value, ...]
    WHERE        a = call: tell its SITE   SITE          a = call, b = line that makes it, 0 if unknown
    CALL_GUEST   a = call, b = function    GUEST_RETURN  a = call of the host: its value
                                           GUEST_THROW   a = call of the host: its error
                                           RESOLVED      a = promise of the guest: its value
                                           REJECTED      a = promise of the guest: its error
                                           SAID          reports and logs, a line each
                                           CALLS         [[call, bridge, arguments], ...]
                                           RELEASED      [bridge, ...] that the guest cannot reach
                                           OPENED        [[export, function], ...]
                                           AT            a = line, b = column: file; 0 when it waits
                                           FINISHED      the result
                                           FAILED        status, error and positions, as JSON

A line of SAID is `R` (report) or `L` (log) and the value's text; REPORT and LOG are for values with
attachments. A call numbered 0 expects no answer. CALLS gathers calls that the worker does not wait for,
and RETURNS answers calls whose promise the guest already has; both carry only plain JSON values. The
worker waits for one synchronous call at a time. OPENED comes instead of FINISHED if the module is to stay
open: its exports, and the function that CALL_GUEST calls, or -1 if an export is something else.
"""

from __future__ import annotations

VERSION = 7

RUN, RETURN, THROW, PROMISE, CALL_GUEST, RETURNS, WAKE, LIMIT, WHERE = 1, 2, 3, 4, 5, 6, 7, 8, 9

READY, REPORT, LOG, CALL = 16, 17, 18, 19
GUEST_RETURN, GUEST_THROW, RESOLVED, REJECTED = 20, 21, 22, 23
FINISHED, FAILED, SAID, CALLS, RELEASED, AT, OPENED, SITE = 24, 25, 26, 27, 28, 29, 30, 31

MAX_CALLS = 256  # in one CALLS message; bridge.js gathers no more
MAX_RELEASED = 64  # in one RELEASED message; bridge.js again

# How a bridge is called: SYNC waits for the value, ASYNC gets a promise, ONE_WAY gets undefined.
SYNC, ASYNC, ONE_WAY = 0, 1, 2

# The isolation level that a worker reports: only a process, or also the system-call filter.
PROCESS_ONLY, FILTERED = 0, 1
ISOLATION_NAMES = {PROCESS_ONLY: "process", FILTERED: "seccomp"}

# The method of a LOG that no console wrote: of a promise that was rejected, and nobody handled that.
UNCAUGHT = "uncaught"

# Exit codes of a worker that could not send a message about its failure.
EXIT_MEMORY, EXIT_INTERNAL, EXIT_UNLIMITED = 70, 71, 72
