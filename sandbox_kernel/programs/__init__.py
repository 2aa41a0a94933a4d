"""Programs: source that runs as a process of its own, with files, streams and an exit code."""
