"""Other versions of a kernel, for large results: loads are asked for before they are needed, but
where long parts of rows stream past; and where results are too large to be found in a cache
afterwards, stores go to memory directly, which then need not be read to be written.

Comes in: a tile func. Goes out: the same func, with more in its schedule, and with the facts that
views of such results have whole lines of the caches for rows; and which stores those are.
Never: a result that the kernel reads, or stores in several places: what waits in a cache stays. Nor
a kernel with products, which are slower than any memory.
"""

from collections.abc import Container, Mapping, Sequence
from math import prod
from typing import Any, cast

from ..ir import tile
from ..ir.attributes import Frozen
from ..ir.dtypes import DType
from ..ir.facts import Facts
from ..ir.func import Func
from ..ir.shared.lines import LINE
from ..ir.types import View
from ..ir.values import AnyValue, Block
from .copying import copy_func
from .ranges import Ranges

AHEAD = 2048
"""So many bytes before it is needed what is read is asked for: half a page. With 512 a GELU of 16
Mi elements takes 9 ms, with 1024 7.6, with 2048 and 4096 6.6 and 6.3, and layer norms of short rows
like 2048 best. Where a program has 4 KiB of each row or more, a processor's own guesses are as
good, and the last 2 KiB of them are asked for in vain: with 16 KiB, on an Intel core, the gradient
of a softmax down 16x131072 takes 0.75 ms with 2048 and 0.69 without, norms down columns a twentieth
less."""


def past_caches(func: Func, arguments: Container[int]) -> Func | None:
    """The version of a kernel for arguments that are large and begin at a line, as do all of their
    rows; None if no store into them may go past the caches."""
    stores = _go_past(func, arguments)
    if not stores:
        return None
    name = "_".join(["past_caches", *[str(op.view.index) for op in stores]])
    made = _version(func, name, {"past_caches": 1, **_ahead(func)})
    for op in stores:
        view = made.arguments[op.view.index]
        view.type = View(view.type.rank, view.dtype, Frozen({**view.type.facts, **_lines(op.view)}))
    return made


def through_caches(func: Func, arguments: Container[int]) -> Func | None:
    """The version for results that are large, but may be found in a cache yet, of a kernel that
    has the other one; None if it would be the kernel as it is."""
    ahead = _ahead(func)
    return _version(func, "through_caches", ahead) if ahead and _go_past(func, arguments) else None


def stores_past_caches(func: Func, ranges: Ranges) -> set[tile.Store]:
    """The stores that go past the caches: into views whose rows are known to be lines of them."""
    if "past_caches" not in _schedule(func):
        return set()
    stores = [op for op in _stores(func) if _lines(op.view).items() <= op.view.type.facts.items()]
    return {op for op in stores if _fills_lines(op, ranges)}


def has_lines(shape: Sequence[int], dtype: DType) -> bool:
    """Whether the rows of a row-major array are whole lines, if it begins at one."""
    return len(shape) < 2 or shape[-1] * dtype.storage.itemsize % LINE == 0


def _go_past(func: Func, arguments: Container[int]) -> list[tile.Store]:
    """The stores into these arguments that may go past the caches."""
    if any(isinstance(op, tile.Dot) for op in func.walk()):
        return []
    ranges, stores = Ranges(func), _stores(func)
    return [op for op in stores if op.view.index in arguments and _fills_lines(op, ranges)]


def _ahead(func: Func) -> Mapping[str, int]:
    """What a schedule says of loads that are asked for."""
    return {} if "wide" in _schedule(func) else {"ahead": AHEAD}


def _schedule(func: Func) -> Any:
    return func.attributes.get("tile", {})


def _version(func: Func, name: str, more: Mapping[str, int]) -> Func:
    """The same func, with more in its schedule."""
    made = copy_func(func)
    made.name = f"{func.name}_{name}"
    made.attributes = Frozen({**func.attributes, "tile": {**_schedule(func), **more}})
    return made


def _stores(func: Func) -> list[tile.Store]:
    """What stores into an argument that nobody reads, and nobody else writes."""
    uses = [next(iter(each.uses)) for each in func.body.arguments if len(each.uses) == 1]
    found = [op for op in uses if isinstance(op, tile.Store)]
    return [op for op in found if isinstance(op.view.owner, Block) and _unit_axis(op) is not None]


def _unit_axis(op: tile.Store) -> int | None:
    """Along which axis elements are neighbours."""
    return op.view.type.facts.get("unit_stride")


def _fills_lines(op: tile.Store, ranges: Ranges) -> bool:
    """Whether a block begins where a line does, and ends where one does; or is a part of one, of a
    single row, of which the next blocks are the rest."""
    axis, elements = _unit_axis(op), LINE // op.view.dtype.storage.itemsize
    assert axis is not None
    place, shape = ranges.of(op.offsets[axis]), cast("tuple[int, ...]", op.value.type.shape)
    if place is None:
        return False
    if prod(shape) == shape[axis]:
        elements = min(elements, shape[axis])
    return all(Facts().divides(elements, size) for size in (shape[axis], place))


def _lines(view: AnyValue) -> dict[str, Any]:
    """The facts that a view of whole lines has."""
    elements, unit = LINE // view.dtype.storage.itemsize, view.type.facts.get("unit_stride")
    multiples = [1 if axis == unit else elements for axis in range(view.type.rank)]
    return {"stride_multiple": tuple(multiples), "align": LINE}
