"""What does not fit the type that is declared, and where: all of it at once.

Comes in: problems of parts. Goes out: an exception with the problems of the whole.
Never: the first problem alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

Problem = tuple[tuple[str, ...], str]
"""What is wrong, behind its path: the names and numbers on the way to it."""


class Misfit(Exception):
    """Problems of one value."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems

    def lines(self) -> list[str]:
        """One line for each problem: `layers.2.width: expected an int, got 'x'`."""
        return [f"{'.'.join(path)}: {what}" if path else what for path, what in self.problems]


def misfit(what: str, *path: str) -> Misfit:
    """One problem."""
    return Misfit([(path, what)])


def refuse(expected: str, got: Any) -> NoReturn:
    """Say what was expected instead of what is there."""
    raise misfit(f"expected {expected}, got {got!r:.60}")


def gathered(
    parts: Iterable[tuple[str, Callable[[Any], Any], Any]], known: Iterable[Problem] = ()
) -> list[Any]:
    """What functions make of parts that have names; or the problems of all of them, behind those
    that are known."""
    made: list[Any] = []
    problems = [*known]
    for name, function, part in parts:
        try:
            made.append(function(part))
        except Misfit as found:
            problems += [((name, *path), what) for path, what in found.problems]
    if problems:
        raise Misfit(problems)
    return made


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like a wrong one, as a question to add; or nothing."""
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), n=1)
    return f", did you mean {found[0]!r}?" if found else ""
