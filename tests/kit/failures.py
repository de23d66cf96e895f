"""Programs of the core whose calls fail when a test says so.

Comes in: an error, or an interrupt. Goes out: calls that raise it, before the core is called or
behind that, when it has what it was given.
Never: a call that fails after the test.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from brimstone.runtime import calls
from brimstone.runtime.held import Dealer


class Failures:
    """What is raised before calls, or behind them; nothing at first."""

    def __init__(self) -> None:
        self.before: Any = None
        self.behind: Any = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Meanwhile, what is compiled calls the core in such a way."""
        with mock.patch.object(calls, "Dealer", self._dealer):
            yield

    def _dealer(self, *how: Any) -> Callable[..., list[Any]]:
        dealer = Dealer(*how)

        def call(*pieces: Any) -> list[Any]:
            if self.before is not None:
                raise self.before
            made = dealer(*pieces)
            if self.behind is not None:
                raise self.behind
            return made

        return call
