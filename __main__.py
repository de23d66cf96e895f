"""`python -m brimstone` is the command `brimstone`."""

from .command import main

main()
