"""Blocks of views: pointers made of offsets and strides, and the masks that keep inside.

Comes in: loads, stores, atomics at offsets, parts of views, sizes. Goes out: places along each
axis, a pointer for each element, a mask for what is not proved to lie inside; or, where the
schedule asks for descriptors and the facts allow them, a move by the copy engine.
Never: an access outside of a view: a load gives the padding, a store is dropped.
"""

from collections.abc import Sequence

from ....ir import tile
from ....ir.dtypes import FLOATS, boolean
from ....ir.payloads import Payload
from ....ir.tensor.indexing import Combiner
from ....ir.values import AnyValue, Op
from ..descriptors import block_of
from ..types import number_text
from ..writer import Memory, Printed, Printers, Shape, Writer, refuse, shape_of
from .shapes import only

ATOMICS = {Combiner.ADD: "add", Combiner.MAXIMUM: "max", Combiner.MINIMUM: "min"}


def write_load(writer: Writer, op: tile.Load) -> None:
    """The block at some offsets, and padding outside."""
    shape = shape_of(op.result)
    name = writer.descriptors.get((op.view, shape)) if block_of(writer, op) else None
    if name is not None:
        right = f"{name}.load([{_listed(writer, op.offsets)}])"
        writer.define(op.result, right, hint=_name(writer, op))
        return
    pointer, looks = pointers(writer, op.view, op.offsets, shape)
    inside = mask(writer, op.view, op.offsets, shape)
    writer.define(op.result, loaded(pointer, inside, op.padding), looks, _name(writer, op))


def _name(writer: Writer, op: tile.Load) -> str:
    return f"{writer.views[op.view].pointer}_tile"


def loaded(pointer: str, inside: str, padding: Payload) -> str:
    """A load; bools lie in memory as bytes."""
    other = int(padding.array) if padding.dtype is boolean else number_text(padding)
    text = f"tl.load({pointer}, mask={inside}, other={other})" if inside else f"tl.load({pointer})"
    return f"{text} != 0" if padding.dtype is boolean else text


def write_store(writer: Writer, op: tile.Store) -> None:
    """Put a tile where the view is, and nowhere else."""
    shape = shape_of(op.value)
    name = writer.descriptors.get((op.view, shape)) if block_of(writer, op) else None
    if name is not None:
        offsets = _listed(writer, op.offsets)
        writer.line(f"{name}.store([{offsets}], {writer.whole(op.value)})")
        return
    pointer, looks = pointers(writer, op.view, op.offsets, shape)
    inside = mask(writer, op.view, op.offsets, shape)
    value = in_memory(writer, op.value, looks)
    writer.line(f"tl.store({pointer}, {value}{f', mask={inside}' if inside else ''})")


def in_memory(writer: Writer, value: AnyValue, looks: Shape) -> str:
    """A tile as it is stored to pointers of that shape."""
    text = writer.typed(value)
    if not looks and writer.printed(value).shape:
        text = only(writer, value)
    if value.dtype is boolean:
        return f"({text}).to(tl.uint8)"
    return text


def write_atomic(writer: Writer, op: tile.Atomic) -> None:
    """Combine a tile with what is there."""
    shape = shape_of(op.value)
    pointer, looks = pointers(writer, op.view, op.offsets, shape)
    inside = mask(writer, op.view, op.offsets, shape)
    combined(writer, op, pointer, in_memory(writer, op.value, looks), inside)


def combined(
    writer: Writer, op: tile.Atomic | tile.Scatter, pointer: str, value: str, inside: str
) -> None:
    """An atomic combination, where GPUs have it."""
    dtype = op.value.dtype
    if op.combiner not in ATOMICS:
        raise refuse(op, f"GPUs do not {op.combiner.value} in memory")
    if dtype in FLOATS and op.combiner is not Combiner.ADD:
        raise refuse(op, f"the {op.combiner.value} that GPUs have in memory loses NaN")
    if dtype.bits < (16 if dtype in FLOATS else 32):
        raise refuse(op, f"GPUs do not combine {dtype} in memory")
    masked = f", mask={inside}" if inside else ""
    writer.line(f'tl.atomic_{ATOMICS[op.combiner]}({pointer}, {value}{masked}, sem="relaxed")')


def write_view(writer: Writer, op: tile.View) -> None:
    """A part of a view: another pointer, other sizes, multiples of the strides."""
    memory = writer.views[op.view]
    terms = [memory.pointer]
    for offset, stride in zip(op.offsets, memory.strides, strict=True):
        terms += _term(writer.text(offset), stride)
    pointer = memory.pointer
    if len(terms) > 1:
        pointer = writer.unique(op.result.name or "part")
        writer.line(f"{pointer} = {' + '.join(terms)}")
    steps = op.steps or (1,) * len(op.axes)
    strides = [
        memory.strides[axis] if step == 1 else _times(memory.strides[axis], step)
        for axis, step in zip(op.axes, steps, strict=True)
    ]
    sizes = tuple([writer.text(size) for size in op.sizes])
    writer.views[op.result] = Memory(pointer, sizes, tuple(strides))


def _times(stride: str, step: int) -> str:
    return str(step) if stride == "1" else f"({stride} * {step})"


def write_extent(writer: Writer, op: tile.Extent) -> None:
    """A size is a parameter, or a number that the facts name."""
    text = writer.views[op.view].sizes[op.axis]
    writer.equate(op.result, Printed(text, (), literal=text.isdigit()))


def write_scratch(writer: Writer, op: tile.Scratch) -> None:
    """Refused."""
    raise refuse(op, "Triton has no memory of one program alone whose size is known when it runs")


def pointers(
    writer: Writer, view: AnyValue, offsets: Sequence[AnyValue], shape: Shape
) -> tuple[str, Shape]:
    """The name of the pointers of a block, and their shape."""
    looks = shape if any(size > 1 for size in shape) else ()
    memory = writer.views[view]
    terms = [memory.pointer]
    for axis, (offset, stride) in enumerate(zip(offsets, memory.strides, strict=True)):
        terms += _term(_along(writer, offset, shape, axis), stride)
    if len(terms) == 1:
        return memory.pointer, looks
    text, hint = " + ".join(terms), f"{memory.pointer}_at"
    return writer.once(("pointers", text), lambda: _named(writer, hint, text)), looks


def _term(place: str, stride: str) -> list[str]:
    """One summand of an address."""
    if place == "0":
        return []
    return [place if stride == "1" else f"{place} * {stride}"]


def mask(writer: Writer, view: AnyValue, offsets: Sequence[AnyValue], shape: Shape) -> str:
    """The name of the mask of a block; empty where it lies inside for certain."""
    sizes = writer.views[view].sizes
    checks = [
        _check(writer, view, axis, offset, shape, sizes[axis])
        for axis, offset in enumerate(offsets)
    ]
    found = [check for check in checks if check]
    text = " & ".join(found)
    if len(found) == 1 and len(shape) == 1 and text.count("(") == 1:
        text = text[1:-1]
    return writer.once(("mask", text), lambda: _named(writer, "inside", text)) if text else ""


def _check(
    writer: Writer, view: AnyValue, axis: int, offset: AnyValue, shape: Shape, size: str
) -> str:
    """The comparisons along one axis that are not proved."""
    place, widths = places(writer, offset, shape[axis]), writer.widths
    low = "" if widths.not_before(offset) else f"({place} >= 0)"
    high = "" if widths.not_beyond(offset, shape[axis], view, axis) else f"({place} < {size})"
    if not low and not high:
        return ""
    both = f"({low} & {high})" if low and high else low or high
    return both + _subscript(shape, axis)


def places(writer: Writer, offset: AnyValue, count: int) -> str:
    """The name of the places of a block along an axis; of one, the offset itself."""
    return writer.once(("places", offset, count), lambda: _places(writer, offset, count))


def _places(writer: Writer, offset: AnyValue, count: int) -> str:
    if count == 1:
        return writer.text(offset)
    start = writer.text(offset)
    if not (writer.printed(offset).literal or writer.widths.block_fits(offset, count)):
        start = writer.typed(offset)
    counted = f"tl.arange(0, {count})"
    return _named(writer, _plural(start), counted if start == "0" else f"{start} + {counted}")


def _plural(start: str) -> str:
    return f"{start}s" if start.isidentifier() else "places"


def _along(writer: Writer, offset: AnyValue, shape: Shape, axis: int) -> str:
    """The places along an axis, turned to lie along that axis of the block."""
    name = places(writer, offset, shape[axis])
    return name + _subscript(shape, axis)


def _subscript(shape: Shape, axis: int) -> str:
    if len(shape) == 1 or shape[axis] == 1:
        return ""
    return f"[{', '.join([':' if at == axis else 'None' for at in range(len(shape))])}]"


def _named(writer: Writer, hint: str, text: str) -> str:
    name = writer.unique(hint)
    writer.line(f"{name} = {text}")
    return name


def _listed(writer: Writer, offsets: Sequence[AnyValue]) -> str:
    return ", ".join([writer.text(offset) for offset in offsets])


def prepare(writer: Writer, ops: Sequence[Op]) -> None:
    """Write what blocks inside of a loop share already before it."""
    for op in ops:
        if not isinstance(op, tile.Load | tile.Store | tile.Atomic) or block_of(writer, op):
            continue
        shape = shape_of(op.result) if isinstance(op, tile.Load) else shape_of(op.value)
        for offset, count in zip(op.offsets, shape, strict=True):
            if offset in writer.values:
                places(writer, offset, count)


MEMORY: Printers = {
    tile.Load: write_load,
    tile.Store: write_store,
    tile.Atomic: write_atomic,
    tile.View: write_view,
    tile.Extent: write_extent,
    tile.Scratch: write_scratch,
}
