"""Sorting a tile's lines: each element counts those before it, and is fetched from there.

Comes in: tiles, of which the first are keys. Goes out: the same tiles in order.
Never: Triton's own sort, which keeps no order of equals and takes one tile; nor a line whose square
is more than Triton allows in a tile.
"""

from math import prod

from ....ir import tile
from ....ir.dtypes import FLOATS, boolean
from ....ir.values import AnyValue
from ..writer import Printers, Writer, refuse, shape_of
from .dot import MAX_ELEMENTS
from .reduce import computed


def write_sort(writer: Writer, op: tile.Sort) -> None:
    """The order of the keys; equals keep theirs."""
    shape, axis = shape_of(op.values[0]), op.axis
    count = shape[axis]
    if prod(shape) * count > MAX_ELEMENTS:
        raise refuse(op, f"lines of {count} are compared all with all, too many at once")
    first, second = (
        _counted(count, axis, axis, len(shape)),
        _counted(count, axis + 1, axis, len(shape)),
    )
    before = f"({first} < {second})"
    for key in reversed(op.values[: op.keys]):
        before = _compared(writer, op, key, before)
    rank = _named(
        writer,
        "rank",
        f"tl.sum(tl.broadcast_to({before}, {_square(shape, axis)}).to(tl.int32), {axis})",
    )
    meets = f"tl.expand_dims({rank}, {axis + 1}) == {second}"
    source = _named(writer, "source", f"tl.sum(tl.where({meets}, {first}, 0), {axis})")
    for value, result in zip(op.values, op.ordered, strict=True):
        writer.define(result, _fetched(writer, value, source, axis))


def _counted(count: int, place: int, axis: int, rank: int) -> str:
    """0, 1, … along one of the two axes that stand for the line's."""
    places = ["None"] * (rank + 1)
    places[place] = ":"
    return f"tl.arange(0, {count})[{', '.join(places)}]"


def _square(shape: tuple[int, ...], axis: int) -> list[int]:
    return [*shape[: axis + 1], shape[axis], *shape[axis + 1 :]]


def _compared(writer: Writer, op: tile.Sort, key: AnyValue, otherwise: str) -> str:
    """Whether an element's key comes before another's; of equal keys, what other keys say."""
    x = _named(writer, "key", computed(writer, key))
    left, right = f"tl.expand_dims({x}, {op.axis + 1})", f"tl.expand_dims({x}, {op.axis})"
    less = f"({left} {'>' if op.descending else '<'} {right})"
    same = f"({left} == {right})"
    if key.dtype in FLOATS:
        less = f"({less} | (({right} != {right}) & ({left} == {left})))"
        same = f"({same} | (({left} != {left}) & ({right} != {right})))"
    return _named(writer, "before", f"{less} | ({same} & {otherwise})")


def _fetched(writer: Writer, value: AnyValue, source: str, axis: int) -> str:
    whole = writer.whole(value)
    if value.dtype is boolean:
        return f"tl.gather({whole}.to(tl.int32), {source}, {axis}) != 0"
    return f"tl.gather({whole}, {source}, {axis})"


def _named(writer: Writer, hint: str, text: str) -> str:
    name = writer.unique(hint)
    writer.line(f"{name} = {text}")
    return name


SORTS: Printers = {tile.Sort: write_sort}
