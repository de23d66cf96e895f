"""Scalars of the grid, tiles that come from nothing, and tiles in another shape.

Comes in: ops on ids and shapes. Goes out: statements, or none: a number that is repeated stays one
number, and a broadcast is left to Triton, which repeats an axis of size 1 where it must.
Never: arithmetic.
"""

from ....ir import tile
from ....ir.dtypes import f32, i32
from ....ir.values import AnyValue
from ..types import dtype_text, is_narrow, number_text
from ..writer import Printed, Printers, Writer, is_bool, refuse, shape_of


def write_constant(writer: Writer, op: tile.Constant) -> None:
    """A number stands where it is used."""
    text = number_text(op.value)
    if text.startswith("tl."):
        is_minus_zero = str(op.value.array.item()) == "-0.0"
        writer.define(op.result, text, hint="minus_zero" if is_minus_zero else "")
    else:
        writer.equate(op.result, Printed(text, (), literal=True))


def write_program_id(writer: Writer, op: tile.ProgramId) -> None:
    """The place of this program."""
    _write_id(writer, op, f"tl.program_id({op.axis})")


def write_program_count(writer: Writer, op: tile.ProgramCount) -> None:
    """How many programs there are."""
    _write_id(writer, op, f"tl.num_programs({op.axis})")


def _write_id(writer: Writer, op: tile.ProgramId | tile.ProgramCount, text: str) -> None:
    wide = "" if writer.widths.narrow(op.result) else ".to(tl.int64)"
    writer.define(op.result, text + wide)


def write_full(writer: Writer, op: tile.Full) -> None:
    """Repeated where it is used."""
    writer.equate(op.result, writer.printed(op.x))


def write_iota(writer: Writer, op: tile.Iota) -> None:
    """Counted along its axis, and repeated along the others."""
    size, rank = int(op.shape[op.axis]), len(op.shape)
    text = f"tl.arange(0, {size})"
    if is_narrow(op.dtype):
        text = writer.cast(f"{text}.to(tl.float32)", f32, op.dtype)
    elif op.dtype is not i32 and not writer.widths.narrow(op.result):
        text += f".to({dtype_text(op.dtype)})"
    places = ["None"] * rank
    places[op.axis] = ":"
    shape = tuple([size if axis == op.axis else 1 for axis in range(rank)])
    writer.define(op.result, text if rank == 1 else f"{text}[{', '.join(places)}]", shape)


def write_broadcast(writer: Writer, op: tile.Broadcast) -> None:
    """New axes of size 1, which Triton repeats."""
    printed = writer.printed(op.x)
    if not printed.shape:
        writer.equate(op.result, printed)
        return
    places, shape = ["None"] * len(op.shape), [1] * len(op.shape)
    for size, axis in zip(printed.shape, op.axes, strict=True):
        places[axis], shape[axis] = ":", size
    text = printed.text if "None" not in places else f"{printed.text}[{', '.join(places)}]"
    writer.equate(op.result, Printed(text, tuple(shape)))


def write_reshape(writer: Writer, op: tile.Reshape) -> None:
    """The same elements in row-major order."""
    if not writer.printed(op.x).shape:
        writer.equate(op.result, writer.printed(op.x))
        return
    if not op.shape:
        writer.define(op.result, only(writer, op.x))
        return
    writer.define(op.result, f"tl.reshape({writer.whole(op.x)}, {list(op.shape)})")


def write_permute(writer: Writer, op: tile.Permute) -> None:
    """Axes in another order."""
    printed = writer.printed(op.x)
    if not printed.shape or op.axes == tuple(range(len(op.axes))):
        writer.equate(op.result, printed)
        return
    shape = tuple([printed.shape[axis] for axis in op.axes])
    text = f"tl.trans({writer.typed(op.x)})"
    if op.axes != (1, 0):
        text = f"tl.permute({writer.typed(op.x)}, {list(op.axes)})"
    writer.define(op.result, text, shape)


def write_concat(writer: Writer, op: tile.Concat) -> None:
    """Pairs are joined along a new axis, which then becomes a part of the old one."""
    parts = [(writer.whole(part), shape_of(part)) for part in op.parts]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1 or len(parts) & (len(parts) - 1):
        raise refuse(op, "Triton joins tiles in pairs: it takes 2, 4, 8, … of one shape")
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [_joined(writer, op.axis, *pair) for pair in pairs]
    writer.define(op.result, parts[0][0], shape_of(op.result))


def _joined(
    writer: Writer, axis: int, left: tuple[str, tuple[int, ...]], right: tuple[str, tuple[int, ...]]
) -> tuple[str, tuple[int, ...]]:
    shape = list(left[1])
    rank = len(shape)
    order = [*range(axis), rank, *range(axis, rank)]
    name = writer.unique("pair")
    shape[axis] *= 2
    writer.line(f"{name} = tl.permute(tl.join({left[0]}, {right[0]}), {order})")
    writer.line(f"{name} = tl.reshape({name}, {shape})")
    return name, tuple(shape)


def write_extract(writer: Writer, op: tile.Extract) -> None:
    """The only element."""
    if not writer.printed(op.x).shape:
        writer.equate(op.result, writer.printed(op.x))
    else:
        writer.define(op.result, only(writer, op.x))


def only(writer: Writer, tile_value: AnyValue) -> str:
    """The one element of a tile, as a scalar; Triton has no tile of rank 0 but the number itself,
    and the largest of one is that one."""
    flat = f"tl.reshape({writer.whole(tile_value)}, [1])"
    if is_bool(tile_value):
        return f"tl.max({flat}.to(tl.int32), 0) != 0"
    return f"tl.max({flat}, 0).to({dtype_text(tile_value.dtype)})"


SHAPES: Printers = {
    tile.Constant: write_constant,
    tile.ProgramId: write_program_id,
    tile.ProgramCount: write_program_count,
    tile.Full: write_full,
    tile.Iota: write_iota,
    tile.Broadcast: write_broadcast,
    tile.Reshape: write_reshape,
    tile.Permute: write_permute,
    tile.Concat: write_concat,
    tile.Extract: write_extract,
}
