"""Named sizes: axes of arguments that a compiled function leaves open.

Comes in: `dynamic={"x": {0: "batch"}}`, and arguments. Goes out: the types of the arguments with
symbols for these sizes, and what the sizes are in one call.
Never: a size that is not named; those are plain integers, one compiled function each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ir.dims import Dim, DimError, Size, Symbol, evaluate, interval, symbols
from ..ir.facts import Facts
from ..ir.types import Tensor as TensorType
from .errors import ArgumentError, ShapeError, fail, shown
from .functions.common import as_axis

Dynamic = Mapping[str, Mapping[int, "str | Symbol"]]


def symbol(name: str, minimum: int = 0, maximum: int | None = None, multiple: int = 1) -> Symbol:
    """A named size within bounds, for `jit(dynamic=…)`."""
    if not isinstance(name, str):
        fail(ArgumentError, "dim", f"a size has a name, not {shown(name)}")
    try:
        return Symbol(name, minimum, maximum, multiple)
    except (DimError, OverflowError, TypeError, ValueError) as problem:
        fail(ArgumentError, "dim", str(problem))


class OpenSizes:
    """The named sizes of a function's arguments."""

    def __init__(self, dynamic: Dynamic) -> None:
        self.axes = {
            name: {
                axis: symbol(size) if isinstance(size, str) else size for axis, size in each.items()
            }
            for name, each in dynamic.items()
        }

    def open(self, name: str, type_: TensorType, sizes: dict[str, int]) -> TensorType:
        """The type of an argument with its named sizes; what they are goes into `sizes`."""
        shape = list(type_.shape)
        for axis, size in self.axes[name].items():
            place = as_axis(axis, len(shape), "jit")
            found: Any = type_.shape[place]
            if sizes.setdefault(size.name, found) != found:
                problem = f"the size {size.name} is {sizes[size.name]} elsewhere, {found} in {name}"
                fail(ShapeError, "jit", problem)
            if not _admits(size, found):
                bounds = f"{size.minimum}..{size.maximum} in steps of {size.multiple}"
                fail(ShapeError, "jit", f"the size {size.name} of {name} is {found}, not {bounds}")
            shape[place] = size
        return type_.with_shape(tuple(shape))


def _admits(size: Symbol, found: Size) -> bool:
    """Whether a size is certainly one that another one may be; inside of a trace it may be open."""
    if isinstance(found, int):
        return size.admits(found)
    low, high = interval(found)
    inside = size.minimum <= low and high <= size.maximum
    return inside and Facts().divides(size.multiple, found)


def plain(value: Any, sizes: Mapping[str, int]) -> Any:
    """A size as the number that it is where its symbols are these; anything else as it is."""
    if not isinstance(value, Dim):
        return value
    return evaluate(value, {each: sizes[each.name] for each in symbols(value)})


def plain_types(types: Sequence[Any], sizes: Mapping[str, int]) -> tuple[Any, ...]:
    """The types with plain numbers for sizes."""
    return tuple([_plain_type(type_, sizes) for type_ in types])


def _plain_type(type_: Any, sizes: Mapping[str, int]) -> Any:
    shape = type_.shape
    if not any([isinstance(size, Dim) for size in shape]):  # as of most
        return type_
    return type_.with_shape(tuple([plain(size, sizes) for size in shape]))
