"""Elements at places that index tiles name, and random bits at places of a stream.

Comes in: gathers, scatters, `random_bits`. Goes out: loads, stores and atomics of pointers that are
made of the indices.
Never: two stores to one place whose order shows: of a scatter that sets, the last one stays, and
the others are masked.
"""

from collections.abc import Sequence
from math import prod

from ....ir import tile
from ....ir.dtypes import UNSIGNED, i64
from ....ir.tensor.indexing import Combiner
from ....ir.values import AnyValue
from ..writer import Printers, Shape, Writer, refuse, shape_of
from .memory import combined, in_memory, loaded

MAX_SET = 1024
"""As many elements of one scatter are compared with one another."""


def write_gather(writer: Writer, op: tile.Gather) -> None:
    """Elements from anywhere, and padding outside."""
    offset, inside, looks = _located(writer, op.view, op.indices)
    pointer = f"{writer.views[op.view].pointer} + {offset}"
    writer.define(op.result, loaded(pointer, inside, op.padding), looks)


def write_scatter(writer: Writer, op: tile.Scatter) -> None:
    """Elements to anywhere, and nothing outside."""
    offset, inside, looks = _located(writer, op.view, op.indices)
    pointer = f"{writer.views[op.view].pointer} + {offset}"
    if op.combiner is not Combiner.SET:
        combined(writer, op, pointer, in_memory(writer, op.value, looks), inside)
        return
    shape = shape_of(op.value)
    if prod(shape) > 1:
        inside, looks = _last(writer, op, offset, inside, shape), shape
        pointer = f"{writer.views[op.view].pointer} + tl.broadcast_to({offset}, {list(shape)})"
    value = in_memory(writer, op.value, looks)
    writer.line(f"tl.store({pointer}, {value}, mask={inside})")


def _located(writer: Writer, view: AnyValue, indices: Sequence[AnyValue]) -> tuple[str, str, Shape]:
    """How far the elements lie from the first one, which lie inside, and the shape of both."""
    memory = writer.views[view]
    terms: list[str] = []
    checks: list[str] = []
    for index, size, stride in zip(indices, memory.sizes, memory.strides, strict=True):
        place = _index(writer, index)
        terms.append(place if stride == "1" else f"{place} * {stride}")
        checks.append(f"({place} >= 0) & ({place} < {size})")
    offset, inside = writer.unique("offsets"), writer.unique("inside")
    writer.line(f"{offset} = {' + '.join(terms)}")
    writer.line(f"{inside} = {' & '.join(checks)}")
    return offset, inside, writer.common(*indices)


def _index(writer: Writer, index: AnyValue) -> str:
    """An index that is signed and long enough to be multiplied."""
    if index.dtype is i64:
        return writer.text(index)
    wanted = "int64" if index.dtype in UNSIGNED else "int32"
    return f"{writer.typed(index)}.to(tl.{wanted})"


def _last(writer: Writer, op: tile.Scatter, offset: str, inside: str, shape: Shape) -> str:
    """The mask of the elements after which no other one of this tile goes to the same place."""
    count = prod(shape)
    if count > MAX_SET:
        raise refuse(op, f"{count} places are compared all with all, at most {MAX_SET}")
    at, valid, again = [writer.unique(hint) for hint in ("at", "valid", "again")]
    for name, source in ((at, offset), (valid, inside)):
        whole = f"tl.broadcast_to({source}, {list(shape)})"
        writer.line(f"{name} = tl.reshape({whole}, [{count}])")
    counted = f"tl.arange(0, {count})"
    same = f"({at}[:, None] == {at}[None, :]) & {valid}[None, :]"
    later = f"({counted}[:, None] < {counted}[None, :])"
    writer.line(f"{again} = tl.sum(({same} & {later}).to(tl.int32), 1)")
    name = writer.unique("last")
    writer.line(f"{name} = tl.reshape({valid} & ({again} == 0), {list(shape)})")
    return name


def write_random_bits(writer: Writer, op: tile.RandomBits) -> None:
    """Words of a stream."""
    keys = f"{writer.typed(op.low_key)}, {writer.typed(op.high_key)}"
    made = f"{writer.helper('random_word')}({keys}, {writer.typed(op.index)})"
    writer.define(op.result, made, writer.printed(op.index).shape)


SCATTERED: Printers = {
    tile.Gather: write_gather,
    tile.Scatter: write_scatter,
    tile.RandomBits: write_random_bits,
}
