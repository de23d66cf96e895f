"""`python -m brimstone.command` is the command `brimstone`."""

from . import main

main()
