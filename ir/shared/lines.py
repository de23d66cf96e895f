"""Lines, in which caches hold memory.

Comes in: nothing. Goes out: how long one is.
Never: the size of a cache, which is the machine's.
"""

LINE = 64
"""The bytes of a line of a cache."""
