"""Building blocks of isolation. What a process gives up is decided by the code that uses them."""
