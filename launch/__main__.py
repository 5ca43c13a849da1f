"""`python -m launch run`: what the Makefile calls. Standard library only, so nothing need be installed."""

import sys

MINIMUM = (3, 11)

if sys.version_info < MINIMUM:
    found = ".".join(str(part) for part in sys.version_info[:2])
    sys.exit(f"Python 3.11 or newer is needed; {sys.executable} is {found}.")

from launch import commands  # noqa: E402 # an old Python could not even read it

sys.exit(commands.main(sys.argv[1:]))
