"""Stages, while they are put together: launches in order, and rooms for what they hand on.

Comes in: the kernel func that they stand for. Goes out: its `Stages`.
Never: what a launch does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...ir.attributes import Shape
from ...ir.dims import Size, interval
from ...ir.dtypes import DType
from ...ir.func import Func
from ...ir.types import Tensor
from .late import Made
from .parts import Check, Choice, Part, Stage, Stages, Within


@dataclass(slots=True)
class Staging:
    """Rooms are arrays from number `first` on."""

    func: Func
    first: int
    steps: list[Stage | Check | Choice | Within] = field(default_factory=lambda: [])
    rooms: list[Tensor] = field(default_factory=lambda: [])

    @classmethod
    def of(cls, func: Func) -> "Staging":
        """None yet: the first room comes after what the func reads and writes."""
        return cls(func, len(func.arguments) + len(func.results))

    def room(self, shape: Shape, dtype: DType) -> Part:
        """A new array; those of a choice are numbered on, so none comes after one."""
        return self.hold(Tensor(shape, dtype))

    def hold(self, type_: Tensor) -> Part:
        """A new array of this type."""
        assert not any(isinstance(each, Choice) for each in self.steps)
        self.rooms.append(type_)
        return Part(self.first + len(self.rooms) - 1, type_.shape)

    def launch(self, made: Made, reads: Sequence[Part], writes: Sequence[Part]) -> None:
        """Launch a func on its grid."""
        func, grid = made
        self.steps.append(Stage(func, tuple(reads), tuple(writes), grid))

    def launch_all(self, made: Stages, arrays: Sequence[int]) -> None:
        """Launch the stages of another func, whose arguments and results are these arrays."""
        self.steps.append(Within(made, tuple(arrays)))

    def choose(
        self,
        size: Size,
        at_least: int,
        enough: Callable[["Staging"], None],
        below: Callable[["Staging"], None],
    ) -> None:
        """Stage one or the other, as a size says; both, if only the step will know it."""
        known = is_at_least(size, at_least)
        if known is not None:
            (enough if known else below)(self)
            return
        both: list[Stages] = []
        for fill in (enough, below):
            inner = Staging(self.func, self.first + len(self.rooms))
            fill(inner)
            both.append(inner.done())
        self.steps.append(Choice(size, at_least, *both))

    def done(self) -> Stages:
        """All of them."""
        return Stages(self.func, tuple(self.steps), tuple(self.rooms))


def by_size(
    func: Func, size: Size, at_least: int, enough: Callable[[], Stages], below: Callable[[], Stages]
) -> Stages:
    """One or the other, as a size says, now or when the step runs."""
    known = is_at_least(size, at_least)
    if known is not None:
        return enough() if known else below()
    return Stages(func, (Choice(size, at_least, enough(), below()),))


def as_it_is(func: Func) -> Stages:
    """The func itself, which stays one of tensors."""
    values, count = (*func.arguments, *func.results), len(func.arguments)
    parts = [Part(place, value.type.shape) for place, value in enumerate(values)]
    return Stages(func, (Stage(func, tuple(parts[:count]), tuple(parts[count:]), ()),))


def is_at_least(size: Size, number: int) -> bool | None:
    """Whether a size is so much; None where that depends on the call."""
    low, high = interval(size)
    if low >= number:
        return True
    return None if high >= number else False
