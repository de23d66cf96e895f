"""The beginning and the end of a tile func: its arguments, its grid, and where a program is.

Comes in: what it is called, its params, and how many programs there are. Goes out: a func whose
body may now be written, and the grid in the symbols of the tensor func.
Never: what a program does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ...ir import tile
from ...ir.attributes import Frozen, Shape
from ...ir.builder import Builder
from ...ir.dims import Size, Symbol, ceil_div
from ...ir.dtypes import DType
from ...ir.func import Func, Return
from ...ir.locations import Location
from ...ir.types import View
from ...ir.values import AnyValue
from ..dead import sweep
from .kernel import Param
from .schedule import Schedule
from .sizes import Names, Sizes
from .told import TOLD, Told

Resize = Callable[[Size], Size]
"""From a size of the tensor func to what the tile func calls it."""
Grid = Callable[[Resize], Shape]
"""The grid, where each size goes by another name."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What a tile func is called, the user's line that it comes from, and its schedule."""

    name: str
    location: Location
    schedule: Schedule

    def plus(self, suffix: str) -> "Heading":
        """The heading of a func that does a part of the work."""
        return Heading(f"{self.name}_{suffix}", self.location, self.schedule)


@dataclass(frozen=True, slots=True)
class Opening:
    """`starts` says where the program's tile begins along each axis of the grid."""

    func: Func
    names: Names
    sizes: Sizes
    starts: list[AnyValue]
    grid: Shape
    schedule: Schedule


def open_func(
    source: Func, params: Sequence[Param], counts: Sequence[tuple[Size, int]], schedule: Schedule
) -> Opening:
    """A func that begins; `counts` has the size of each axis of the grid and of its tiles."""

    def grid(local: Resize) -> Shape:
        return tuple(ceil_div(local(size), by) for size, by in counts or [(1, 1)])

    heading = Heading(source.name, source.location, schedule)
    opening = open_grid(heading, params, grid, dense=False)
    sizes, names = opening.sizes, opening.names
    starts = [_start(sizes, names, place, *each) for place, each in enumerate(counts)]
    return replace(opening, starts=starts)


def open_grid(heading: Heading, params: Sequence[Param], grid: Grid, dense: bool = True) -> Opening:
    """A func that begins, on any grid. `dense`: elements of its arrays lie as close as may be."""
    func = Func(heading.name, location=heading.location)
    told = Told(func) if TOLD in heading.schedule else None
    names = Names([param.shape for param in params], told)
    settings = _settings(*heading.schedule.items())
    func.attributes = Frozen({"grid": grid(names.of), "tile": settings})
    types = [_view(tuple(map(names.of, each.shape)), each.dtype, dense) for each in params]
    func.symbols = (*func.symbols, *names.used)
    pairs = zip(types, params, strict=True)
    views = [func.body.add_argument(type_, param.name) for type_, param in pairs]
    sizes = Sizes(Builder(func.body, location=heading.location), list(params), views, told)
    return Opening(func, names, sizes, [], grid(lambda size: size), heading.schedule)


def close_func(func: Func, builder: Builder) -> None:
    """End the func, without what nobody reads."""
    builder.emit_all(Return, [])
    sweep(func.body)


def place_name(names: Names, size: Size) -> str | None:
    """What the place along an axis is called: `at_n`, where the size is n."""
    named = names.fresh.get(size, size)
    return f"at_{named}" if isinstance(named, Symbol) else None


@lru_cache(256)
def _settings(*entries: tuple[str, Any]) -> Frozen:
    """A schedule as an attribute; few of them are for many funcs."""
    return Frozen(dict(entries))


@lru_cache(4096)
def _view(shape: Shape, dtype: DType, dense: bool) -> View:
    facts: dict[str, Any] = {"size": shape}
    if shape:
        facts["unit_stride"] = len(shape) - 1
    if shape and dense:
        facts["dense"] = len(shape)
    return View(len(shape), dtype, Frozen(facts))


def _start(sizes: Sizes, names: Names, place: int, size: Size, by: int) -> AnyValue:
    """Where along an axis of the grid the program's tile begins."""
    start = sizes.builder.emit(tile.ProgramId, axis=place)
    if by != 1:
        kind = tile.BinaryKind.MULTIPLY
        start = sizes.builder.emit(tile.Binary, start, sizes.number(by), kind=kind)
    start.name = place_name(names, size)
    return start
