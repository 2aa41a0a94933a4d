"""What the arguments of one run's calls take here, for as long as a call or its exception holds them."""

from __future__ import annotations

_MOST_ERRORS = 100


class Arguments:
    """Of the calls of one message: they count until none of the calls holds them."""

    __slots__ = ("holders", "weight")

    def __init__(self, weight: int) -> None:
        self.weight = weight
        self.holders = 0


class Held:
    """`weight` is that of the arguments of calls in flight and of exceptions, about."""

    def __init__(self, most_in_errors: int) -> None:
        self.weight = 0
        self.errors: list[BaseException] = []  # the first that bridges raised
        self._left_for_errors = most_in_errors

    def hold(self, given: Arguments) -> None:
        if not given.holders:
            self.weight += given.weight
        given.holders += 1

    def let_go(self, given: Arguments) -> None:
        given.holders -= 1
        if not given.holders:
            self.weight -= given.weight

    def keep(self, error: BaseException, given: Arguments) -> None:
        """For the author of the bridge, and without our own frame. Its frames hold the arguments."""
        if len(self.errors) == _MOST_ERRORS or given.weight > self._left_for_errors:
            return
        self._left_for_errors -= given.weight
        self.hold(given)
        trace = error.__traceback__
        self.errors.append(error.with_traceback(trace.tb_next if trace else None))
