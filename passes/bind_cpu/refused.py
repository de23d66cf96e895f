"""A tile func that this binder does not make a loop func of.

Comes in: the reason, and the op that is to blame. Goes out: an exception.
Never: a loop func that is wrong or boundless in size.
"""

from ...ir.errors import IRError


class Refused(IRError):
    """The kernel stays on the floor above; the message says why, and at which line."""


class TooLong(Refused):
    """The loop func would have more ops than are worth compiling."""
