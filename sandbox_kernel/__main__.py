"""`python -m sandbox_kernel`: the command line."""

import sys

from .cli import main

sys.exit(main())
