"""How much of a core the dashboard takes, which training would have.

Comes in: how much time of a core this process has spent, and a clock. Goes out: whether that is too
much now.
Never: time that is saved up while the process is stopped, or the machine asleep.
"""

from collections.abc import Callable
from time import monotonic, process_time

SHARE, AT_ONCE = 0.0035, 0.2
"""So much of a core; at first, so many seconds of it."""
AWAY = 1.0
"""Who has not asked for so many seconds was not there."""


class Budget:
    """Asked several times a second."""

    def __init__(
        self, spent: Callable[[], float] = process_time, clock: Callable[[], float] = monotonic
    ) -> None:
        self._spent, self._clock = spent, clock
        self._before, self._asked, self._allowed = spent(), clock(), AT_ONCE

    def is_over(self) -> bool:
        """Whether more was spent since the beginning than is allowed by now."""
        now = self._clock()
        self._allowed += SHARE * min(now - self._asked, AWAY)
        self._asked = now
        return self._spent() - self._before > self._allowed
