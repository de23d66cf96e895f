"""What the values of a func are called: the same through all passes.

The printer numbers unnamed values anew each time, so that one erased op would rename all that
follow it. Here a value keeps its name for as long as it lives, and no number is given twice.

Comes in: a func, after each pass. Goes out: a name for each of its values.
Never: a lasting change to the hints of the func, which the next pass sees.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager

from ...ir.func import Func
from ...ir.values import AnyValue


class Names:
    """The names of one func's values, and the hints of the printer that they come from."""

    def __init__(self) -> None:
        self._known: dict[AnyValue, tuple[str | None, str]] = {}
        self._count = 0

    def of(self, func: Func) -> dict[AnyValue, str]:
        """A name for each value; a value that is known keeps its own unless its hint changed."""
        values = list(values_of(func))
        if not any(value in self._known for value in values):
            # The func was built anew: count as the printer does, so that equal texts stay equal.
            self._known, self._count = {}, 0
        named: dict[AnyValue, str] = {}
        for value in values:
            hint, name = self._known.get(value, (None, ""))
            if name and hint == value.name:
                named[value] = name
        taken = set(named.values())
        for value in values:
            if value not in named:
                named[value] = self._new(value.name, taken)
                taken.add(named[value])
        self._known = {value: (value.name, name) for value, name in named.items()}
        return named

    def _new(self, hint: str | None, taken: set[str]) -> str:
        """A number, or the hint, with a suffix if another value has it."""
        if hint is None:
            self._count += 1
            return str(self._count - 1)
        name, suffix = hint, 1
        while name in taken:
            name, suffix = f"{hint}_{suffix}", suffix + 1
        return name


def values_of(func: Func) -> Iterator[AnyValue]:
    """Every value of a func, in the order in which the printer writes their definitions."""
    yield from func.arguments
    for op in func.walk():
        yield from op.results
        for region in op.regions:
            yield from region.arguments


@contextmanager
def called(names: Mapping[AnyValue, str]) -> Generator[None]:
    """While this lasts, the printer calls the values so: a hint that is unique is used as it is."""
    hints = {value: value.name for value in names}
    try:
        for value, name in names.items():
            value.name = name
        yield
    finally:
        for value, hint in hints.items():
            value.name = hint
