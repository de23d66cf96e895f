"""What a check has found: a line or two for a person, or an entry of a list for a program.

Comes in: words. Goes out: a `Finding`, which says how bad it is and what helps.
Never: a guess at what somebody wants; what is merely not there is no error.
"""

from dataclasses import asdict, dataclass
from enum import Enum


class State(Enum):
    """It works; it is not there, and need not be; it should work and does not."""

    OK, MISSING, BROKEN = "ok", "missing", "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and the `remedy`, if anything need be done."""

    about: str
    state: State
    text: str
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        """The same as a table."""
        return {**asdict(self), "state": self.state.value}


def ok(about: str, text: str) -> Finding:
    """It works."""
    return Finding(about, State.OK, text)


def missing(about: str, text: str, remedy: str) -> Finding:
    """It is not there; some things are for those alone who have it."""
    return Finding(about, State.MISSING, text, remedy)


def broken(about: str, text: str, remedy: str) -> Finding:
    """It should work."""
    return Finding(about, State.BROKEN, text, remedy)
