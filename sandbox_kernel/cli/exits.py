"""What the command's exit codes mean."""

from __future__ import annotations

SUCCESS = 0
FAILED = 1  # the code failed, or could not be run here; a check of doctor does not hold
USAGE = 2  # the command is wrong, and nothing has run
INTERRUPTED = 130  # by Ctrl-C; what shells report for a command that it ended
