"""The beginning and the end of a tile func: its arguments, its grid, and where a program is.

Comes in: the tensor func that it stands for, its params, and how the grid cuts axes into tiles.
Goes out: a func whose body may now be written, and the grid in the symbols of the tensor func.
Never: what a program does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...ir import tile
from ...ir.attributes import Frozen, Shape
from ...ir.builder import Builder
from ...ir.dims import Size, Symbol, ceil_div
from ...ir.func import Func, Return
from ...ir.types import View
from ...ir.values import AnyValue
from ..dead import sweep
from .kernel import Param
from .sizes import Names, Sizes


@dataclass(frozen=True, slots=True)
class Opening:
    """`starts` says where the program's tile begins along each axis of the grid."""

    func: Func
    names: Names
    sizes: Sizes
    starts: list[AnyValue]
    grid: Shape


def open_func(
    source: Func,
    params: list[Param],
    counts: Sequence[tuple[Size, int]],
    schedule: Mapping[str, int],
) -> Opening:
    """A func that begins; `counts` has the size of each axis of the grid and of its tiles."""
    names = Names([param.shape for param in params])
    cut = counts or [(1, 1)]
    stated = [ceil_div(names.of(size), by) for size, by in cut]
    types = [_view(names, param) for param in params]
    attributes = {"grid": stated, "tile": Frozen(schedule)}
    func = Func(source.name, types, tuple(names.used), attributes, source.location)
    for argument, param in zip(func.arguments, params, strict=True):
        argument.name = param.name
    sizes = Sizes(Builder(func.body, location=source.location), params, list(func.arguments))
    starts = [_start(sizes, names, place, *each) for place, each in enumerate(counts)]
    return Opening(func, names, sizes, starts, tuple(ceil_div(size, by) for size, by in cut))


def close_func(func: Func, builder: Builder) -> None:
    """End the func, without what nobody reads."""
    builder.emit_all(Return, [])
    sweep(func.body)


def place_name(names: Names, size: Size) -> str | None:
    """What the place along an axis is called: `at_n`, where the size is n."""
    named = names.fresh.get(size, size)
    return f"at_{named}" if isinstance(named, Symbol) else None


def _view(names: Names, param: Param) -> View:
    facts: dict[str, Any] = {"size": [names.of(size) for size in param.shape]}
    if param.shape:
        facts["unit_stride"] = len(param.shape) - 1
    return View(len(param.shape), param.dtype, Frozen(facts))


def _start(sizes: Sizes, names: Names, place: int, size: Size, by: int) -> AnyValue:
    """Where along an axis of the grid the program's tile begins."""
    start = sizes.builder.emit(tile.ProgramId, axis=place)
    if by != 1:
        kind = tile.BinaryKind.MULTIPLY
        start = sizes.builder.emit(tile.Binary, start, sizes.number(by), kind=kind)
    start.name = place_name(names, size)
    return start
