"""Arithmetic on sizes, written down while Python does it once, for the core to do again for others.

Comes in: numbers that are given. Goes out: `Traced` numbers, which are computed with like others; a
`Tape` of what was done, and of what was found to hold of them where somebody asked.
Never: a number that leaves the tape unseen: what is traced is no `int`, nor is it taken for one.
"""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, cast


class Sign(IntEnum):
    """What a line of a tape is: a number that is given, a constant, or what two lines make; what
    holds of two lines; or where arrays lie."""

    GIVEN, CONSTANT, ADD, SUBTRACT, MULTIPLY, DIVIDE, LEAST, GREATEST = range(8)
    LESS, AT_MOST, EQUAL, DIFFER, PACK = range(8, 13)


OTHERWISE = {Sign.EQUAL: Sign.DIFFER, Sign.DIFFER: Sign.EQUAL}
"""What holds where these do not; that of the others holds the other way round."""


Line = tuple[int, int, int]
"""A sign, and two lines by their numbers; of `GIVEN` and `CONSTANT`, a number. There are hundreds,
and a tuple with names takes five times as long to make."""


class Tape:
    """Lines, and the arrays that some of them pack: from where to where each is alive, and the line
    of its bytes."""

    def __init__(self) -> None:
        self.lines, self.packed = list[Line](), list[tuple[int, int, int]]()
        self._known, self._constants = dict[Line, int](), dict[int, int]()
        self._given = 0

    def given(self, number: int) -> int:
        """A number that will be another one the next time; numbers are given in this order."""
        self._given += 1
        return self._traced((Sign.GIVEN, self._given - 1, 0), number)

    def line_of(self, number: Any) -> int:
        """The line whose number this is."""
        if number.__class__ is Traced:
            return number.line
        found = self._constants.get(number)
        if found is None:
            found = self._constants[number] = self._line((Sign.CONSTANT, number, 0))
        return found

    def made(self, sign: Sign, left: int, right: int, number: int) -> int:
        """What two numbers make."""
        return self._traced((sign, self.line_of(left), self.line_of(right)), number)

    def found(self, sign: Sign, left: int, right: int, holds: bool) -> bool:
        """Whether something holds of two numbers; it must be so again."""
        if not holds:
            left, right = (left, right) if sign in OTHERWISE else (right, left)
            sign = OTHERWISE.get(sign) or (Sign.AT_MOST if sign is Sign.LESS else Sign.LESS)
        self._line((sign, self.line_of(left), self.line_of(right)))
        return holds

    def pack(
        self, alive: Sequence[tuple[int, int, int]], found: tuple[list[int], int]
    ) -> tuple[list[int], int]:
        """Where arrays lie, and how many bytes that takes, as `Host.pack` has found it."""
        begin = len(self.packed)
        self.packed += [(*lives, self.line_of(bytes_)) for *lives, bytes_ in alive]
        offsets, total = found
        made = self._traced((Sign.PACK, begin, len(offsets)), total)
        return [self._next(offset) for offset in offsets], made

    def _next(self, number: int) -> int:
        """A line of which the number is set by one before it."""
        self.lines.append((Sign.CONSTANT, 0, 0))
        return cast("int", Traced(self, len(self.lines) - 1, number))

    def _traced(self, line: Line, number: int) -> int:
        return cast("int", Traced(self, self._line(line), number))

    def _line(self, line: Line) -> int:
        found = self._known.setdefault(line, len(self.lines))
        if found == len(self.lines):
            self.lines.append(line)
        return found


class Traced:
    """A number on a tape, by its line, and what it is now. Types call it an `int`."""

    __slots__ = ("line", "now", "tape")

    def __init__(self, tape: Tape, line: int, now: int) -> None:
        self.tape, self.line, self.now = tape, line, now

    def __add__(self, other: Any) -> Any:
        if other.__class__ is int and not other:
            return self
        return self._made(Sign.ADD, self, other, self.now + plain(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._made(Sign.SUBTRACT, self, other, self.now - plain(other))

    def __rsub__(self, other: Any) -> Any:
        return self._made(Sign.SUBTRACT, other, self, plain(other) - self.now)

    def __neg__(self) -> Any:
        return 0 - cast("int", self)

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is int and other == 1:
            return self
        return self._made(Sign.MULTIPLY, self, other, self.now * plain(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._made(Sign.DIVIDE, self, other, self.now // plain(other))

    def __rfloordiv__(self, other: Any) -> Any:
        return self._made(Sign.DIVIDE, other, self, plain(other) // self.now)

    def __mod__(self, other: Any) -> Any:
        return self - self // other * other

    def __lt__(self, other: Any) -> bool:
        return self._found(Sign.LESS, self, other, self.now < plain(other))

    def __le__(self, other: Any) -> bool:
        return self._found(Sign.AT_MOST, self, other, self.now <= plain(other))

    def __gt__(self, other: Any) -> bool:
        return self._found(Sign.LESS, other, self, self.now > plain(other))

    def __ge__(self, other: Any) -> bool:
        return self._found(Sign.AT_MOST, other, self, self.now >= plain(other))

    def __eq__(self, other: object) -> bool:
        return self._found(Sign.EQUAL, self, other, self.now == plain(other))

    def __ne__(self, other: object) -> bool:
        return self._found(Sign.DIFFER, self, other, self.now != plain(other))

    __hash__ = None  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def __bool__(self) -> bool:
        return self != 0

    def __repr__(self) -> str:
        return f"<{self.now} traced>"

    def _made(self, sign: Sign, left: Any, right: Any, number: int) -> Any:
        return self.tape.made(sign, left, right, number)

    def _found(self, sign: Sign, left: Any, right: Any, holds: bool) -> bool:
        return self.tape.found(sign, left, right, holds)


def least(first: int, *others: int) -> int:
    """The least number; which one that is may change."""
    for other in others:
        first = _chosen(Sign.LEAST, first, other, min)
    return first


def greatest(first: int, *others: int) -> int:
    """The greatest number."""
    for other in others:
        first = _chosen(Sign.GREATEST, first, other, max)
    return first


def _chosen(sign: Sign, one: int, other: int, choose: Callable[[int, int], int]) -> int:
    traced = next((each for each in (one, other) if isinstance(each, Traced)), None)
    if traced is None:
        return choose(one, other)
    return traced.tape.made(sign, one, other, choose(plain(one), plain(other)))


def plain(number: Any) -> int:
    """What a number is now, where nobody will ask again, as for an error."""
    return number.now if number.__class__ is Traced else number


def key_of(number: int) -> object:
    """What is the same for numbers that are the same whatever those that are given are."""
    return ("line", number.line) if isinstance(number, Traced) else number
