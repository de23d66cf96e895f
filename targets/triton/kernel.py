"""What a printed kernel is, and which numbers its parameters are when it is launched.

Comes in: nothing. Goes out: `Kernel`s, whose parameters say of which argument they are pointer,
size, stride or descriptor; `values_of` reads them off the windows of a launch.
Never: an address; a pointer is a window until a driver or an interpreter makes it an address.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...ir.dims import Symbol
from ...ir.errors import Unmet
from ...ir.func import Func
from ...ir.tile import Window
from ..sizes import Numbers

GRID_AXES = 3
DIVISIBLE_BY = 16
"""The one divisor that Triton asks after."""


class Role(Enum):
    """What of an argument a parameter is."""

    POINTER = "pointer"
    SIZE = "size"
    STRIDE = "stride"
    NUMBER = "number"
    DESCRIPTOR = "descriptor"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the printed function: `type` as Triton's signatures write it.

    `place` is the argument of the func that it speaks of, `axis` the axis of that view, `block` the
    shape that a descriptor moves. Where it is `divisible`, a number is a multiple of 16, and a
    pointer an address that is.
    """

    name: str
    type: str
    role: Role
    place: int
    axis: int = 0
    divisible: bool = False
    block: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """A func of the tile floor as Triton source, and how it is compiled and called."""

    name: str
    source: str
    parameters: tuple[Parameter, ...]
    warps: int
    stages: int
    func: Func

    def values_of(self, arguments: Sequence[Any]) -> list[Any]:
        """What each parameter is for these arguments, which are windows and numbers."""
        return [_value(parameter, arguments[parameter.place]) for parameter in self.parameters]

    def grid_of(self, sizes: Mapping[Symbol, int]) -> tuple[int, int, int]:
        """How many programs run along each of three axes."""
        numbers = Numbers(sizes)
        counts = [numbers[size] for size in self.func.attributes["grid"]]
        return (*counts, *[1] * (GRID_AXES - len(counts)))  # pyright: ignore[reportReturnType]


def _value(parameter: Parameter, argument: Any) -> Any:
    """A number, or the window that a pointer or descriptor is of."""
    match parameter.role:
        case Role.NUMBER:
            return argument
        case Role.SIZE:
            return _checked(parameter, argument.sizes[parameter.axis])
        case Role.STRIDE:
            return _checked(parameter, argument.strides[parameter.axis])
        case Role.POINTER | Role.DESCRIPTOR:
            assert isinstance(argument, Window)
            return argument


def _checked(parameter: Parameter, number: int) -> int:
    """The number, if what the kernel was compiled for is true of it."""
    if parameter.divisible and number % DIVISIBLE_BY:
        raise Unmet(f"{parameter.name} is {number}, expected a multiple of {DIVISIBLE_BY}")
    return number
