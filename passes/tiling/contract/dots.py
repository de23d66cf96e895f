"""Products of few rows with rows: both operands lie along k, and so do the vectors.

Comes in: the packed rows of the left operand, the right matrix as it lies in memory. Goes out: the
kernel, and its grid.
Never: a transposition; lanes are added to each other once, behind all of k.
"""

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.dims import ceil_div
from ....ir.tile import BinaryKind, ReduceKind
from ....ir.values import AnyValue
from ..kernel import Param
from ..late import Begun, when_asked
from ..opening import Heading, Resize, open_grid
from ..writer import Writer
from .ending import Ending
from .matrix import Extent, Role
from .packing import Panels
from .product import chunk, panel


@when_asked
def dots_func(
    heading: Heading, operands: tuple[Panels, Panels], extent: Extent, ending: Ending
) -> Begun:
    """The kernel in which a program multiplies some rows of one operand with some of the other."""
    left, right = operands
    chunks = left.counts()[1]

    def grid(local: Resize) -> Shape:
        columns = ceil_div(local(extent.n), right.lines)
        return (local(extent.batch), columns, ceil_div(local(extent.m), left.lines))

    params = [
        Param(0, left.shape, left.wide, "left"),
        Param(1, right.matrix.shape, right.matrix.dtype, "right"),
        *ending.params,
    ]
    writer = Writer(open_grid(heading, params, grid))
    lefts, source, *others = writer.views

    def write() -> None:
        batch, column, row = (writer.program(axis) for axis in range(3))
        top, start = writer.multiply(row, left.lines), writer.multiply(column, right.lines)
        rows = panel(writer, left, lefts, [batch, row], writer.size(chunks))
        shape = (left.lines, right.lines, left.chunk)

        def body(inner: AnyValue, sums: AnyValue) -> list[AnyValue]:
            ours = chunk(writer, left, rows, writer.divide(inner, left.chunk))
            theirs = _rows_of(writer, right, source, [batch, start, inner])
            product = writer.binary(
                BinaryKind.MULTIPLY,
                _repeated(writer, ours, 1, shape),
                _repeated(writer, theirs, 0, shape),
            )
            return [writer.add(sums, product)]

        bounds = writer.size(0), writer.size(extent.k), left.chunk
        (sums,) = writer.loop("k", bounds, body, [writer.zeros(left.wide, *shape)])
        sums = writer.reduce(ReduceKind.SUM, sums, 2)
        ending.store(writer, others, writer.reshape(sums, 1, *shape[:2]), [batch, top, start])

    return writer.later(write, [extent.n, extent.k, chunks, *right.matrix.asked, *ending.asked])


def _rows_of(writer: Writer, right: Panels, source: AnyValue, place: list[AnyValue]) -> AnyValue:
    """Some rows, as they lie in memory: which matrix, which row, which place of k."""
    matrix, steps = right.matrix, right.steps
    places = dict(zip(Role, place, strict=True))
    loaded = writer.cast(matrix.load(writer, [source], places, steps), right.wide)
    return writer.permute(loaded, *[matrix.order.index(role) for role in Role])


def _repeated(writer: Writer, rows: AnyValue, axis: int, shape: tuple[int, int, int]) -> AnyValue:
    """Rows of one operand beside each row of the other, which are counted along an axis."""
    axes = tuple(each for each in range(3) if each != axis)
    plain = writer.reshape(rows, *[shape[each] for each in axes])
    return writer.emit(tile.Broadcast, plain, shape=shape, axes=axes)
