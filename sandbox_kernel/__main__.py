"""`python -m sandbox_kernel`: the command line."""

from .cli import command

command()
