"""What becomes of sums before they are stored: the maps around a contraction.

Comes in: a kernel func of one contraction and maps that read it. Goes out: a `Maps`, or where there
are none a `Plain`, which every kernel of the contraction asks to store blocks of its sums; what it
reads and writes stands behind the operands.
Never: a reduction; and where the maps do not run along the rows and the columns of the product, or
would read it at several places, `Refused`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from ....ir import tensor
from ....ir.attributes import Shape
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.func import Func
from ....ir.values import AnyValue
from ..kernel import Kernel, Node, Param
from ..parts import Part
from ..read import read_kernel
from ..schedule import Schedule
from ..space import Refused
from ..writer import Writer
from .funcs import rest_of
from .maps import Along, is_wider, merge_roles, read_by, standing_at
from .matrix import Extent, Role, sides_of

ROLES = ("batch", "rows", "columns")


def ending_of(func: Func, op: tensor.Contract, extent: Extent, schedule: Schedule) -> "Ending":
    """The ending of a contraction."""
    if list(func.results) == [op.result]:
        return Plain(op, extent, len(func.arguments))
    made = _maps(func, op, schedule.get("rows", 2) > 1)
    if is_wider(made.kernel, extent.wide):
        raise Refused("what follows is wider than the sums")
    return made


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of sums beside each other, from one column to another one; `make(column)` is one, of
    this shape."""

    begin: AnyValue
    end: AnyValue
    shape: tuple[int, int, int]
    dtype: DType
    make: Callable[[AnyValue], AnyValue]


class Plain:
    """The product is stored as it is; one of a single column as a row."""

    def __init__(self, op: tensor.Contract, extent: Extent, array: int) -> None:
        self.swapped = extent.n == 1
        sides = (extent.n, extent.m) if self.swapped else (extent.m, extent.n)
        shape = (extent.batch, *sides)
        self.params = [Param(0, shape, op.dtype, "product", written=True)]
        self.reads: list[Part] = []
        self.writes = [Part(array, shape)]
        self.asked: list[Size] = []

    def store(
        self, writer: Writer, views: Sequence[AnyValue], sums: AnyValue, place: Sequence[AnyValue]
    ) -> None:
        """Store a block of sums at a place: which product, which row, which column."""
        store(writer, views[-1], sums, place)

    def store_blocks(
        self, writer: Writer, views: Sequence[AnyValue], made: Blocks, place: Sequence[AnyValue]
    ) -> None:
        """Store blocks beside each other, each when it is made: which product, which row."""
        _store_each(self, writer, views, made, place)


class Parts:
    """Sums are stored as they are, to be added later; `shape` has an axis in front that counts."""

    def __init__(self, shape: Shape, dtype: DType) -> None:
        self.params = [Param(0, shape, dtype, "parts", written=True)]
        self.asked: list[Size] = []

    def store(
        self, writer: Writer, views: Sequence[AnyValue], sums: AnyValue, place: Sequence[AnyValue]
    ) -> None:
        """Store a block of sums at a place: which part, and as for `Plain`."""
        store(writer, views[-1], sums, place)


@dataclass(slots=True)
class Maps:
    """A kernel of maps, of which one `node` is the product; its last axis is that of the columns,
    or, of a product that is `swapped`, that of the rows."""

    kernel: Kernel
    node: Node
    along: Along
    swapped: bool

    @property
    def params(self) -> list[Param]:
        """What is read beside the operands, and then what is written."""
        assert self.node.access is not None
        product = self.node.access.param
        read = [each for each in read_by(self.kernel) if each is not product]
        return [*read, *(each for each in self.kernel.params if each.written)]

    @property
    def asked(self) -> list[Size]:
        """The sizes that are asked for where a block is stored."""
        sizes = self.kernel.space.sizes
        return [prod(sizes[axis] for axis in self.along[1]), *self.kernel.asked]

    @property
    def reads(self) -> list[Part]:
        """The arrays that are read beside the operands."""
        return [Part(each.number, each.shape) for each in self.params if not each.written]

    @property
    def writes(self) -> list[Part]:
        """The arrays that are written."""
        first = len(self.kernel.func.arguments) - 1
        return [Part(first + each.number, each.shape) for each in self.params if each.written]

    def store(
        self, writer: Writer, views: Sequence[AnyValue], sums: AnyValue, place: Sequence[AnyValue]
    ) -> None:
        """Compute what follows of a block of sums at a place, and store it; where the schedule says
        so, a few rows at a time, for which the sums wait in memory of the program."""
        _, lines, columns = sums.type.shape
        if _rows_at_once(writer, lines) == lines:
            self._write(writer, views, sums, place)
            return
        *lead, column = place
        zero = writer.size(0)
        room = writer.scratch(sums.dtype, *sums.type.shape, name="sums")
        writer.store(room, sums, [zero] * 3)
        self._write_rows(writer, views, room, lead, (column, writer.size(columns), columns))

    def store_blocks(
        self, writer: Writer, views: Sequence[AnyValue], made: Blocks, place: Sequence[AnyValue]
    ) -> None:
        """The same of blocks beside each other, made one after the other; where the sums wait, for
        a `strip` of blocks, whose rows are then finished from end to end: what they read besides
        comes from far, and in long runs it comes quickly."""
        _, lines, columns = made.shape
        if _rows_at_once(writer, lines) == lines or "strip" not in writer.schedule:
            _store_each(self, writer, views, made, place)
            return
        zero, strip = writer.size(0), writer.schedule["strip"] * columns
        room = writer.scratch(made.dtype, 1, lines, strip, name="sums")

        def some(first: AnyValue) -> None:
            width = writer.least(writer.size(strip), writer.subtract(made.end, first))

            def block(at: AnyValue) -> None:
                writer.store(room, made.make(writer.add(first, at)), [zero, zero, at])

            writer.loop("n", (zero, width, columns), block)
            self._write_rows(writer, views, room, place, (first, width, columns))

        writer.loop("strip", (made.begin, made.end, strip), some)

    def _write_rows(
        self, writer: Writer, views: Sequence[AnyValue], room: AnyValue,
        place: Sequence[AnyValue], across: tuple[AnyValue, AnyValue, int],
    ) -> None:  # fmt: skip
        """What follows of all rows of the sums that wait, a few at a time; `across` says in which
        column they begin, how many columns there are, and how many are written at once."""
        (batch, top), (first, width, columns) = place, across
        zero, lines = writer.size(0), room.type.facts["size"][1]
        rows = _rows_at_once(writer, lines)
        height = prod(self.kernel.space.sizes[axis] for axis in self.along[1])

        def some(row: AnyValue) -> None:
            def piece(at: AnyValue) -> None:
                found = writer.load(room, [zero, row, at], 1, rows, columns)
                where = [batch, writer.add(top, row), writer.add(first, at)]
                self._write(writer, views, found, where)

            writer.loop("column", (zero, width, columns), piece)

        end = writer.least(writer.size(lines), writer.subtract(writer.size(height), top))
        writer.loop("row", (zero, end, rows), some)

    def _write(
        self, writer: Writer, views: Sequence[AnyValue], sums: AnyValue, place: Sequence[AnyValue]
    ) -> None:
        pairs = dict(zip(self.params, views, strict=True))
        emitter = standing_at(writer, self.kernel, self.along, pairs, place, sums.type.shape[1:])
        sums = writer.cast(sums, self.node.value.dtype)
        emitter.set(self.node, writer.reshape(sums, *emitter.shape(self.node.axes)))
        emitter.emit(self.kernel.nodes)
        for output in self.kernel.outputs:
            emitter.store(output)


Ending = Plain | Maps


def _store_each(
    ending: "Ending",
    writer: Writer,
    views: Sequence[AnyValue],
    made: Blocks,
    place: Sequence[AnyValue],
) -> None:
    """Store blocks one after the other."""

    def block(at: AnyValue) -> None:
        ending.store(writer, views, made.make(at), [*place, at])

    writer.loop("n", (made.begin, made.end, made.shape[-1]), block)


def _rows_at_once(writer: Writer, lines: int) -> int:
    """Of how many rows of so many what follows is computed at once."""
    return min(writer.schedule.get("rows", lines), lines)


def store(writer: Writer, product: AnyValue, sums: AnyValue, offsets: Sequence[AnyValue]) -> None:
    """Put sums where they belong, in the dtype and the rank of the product."""
    sums = writer.cast(sums, product.dtype)
    sizes = sums.type.shape[-len(offsets) :]
    sums = writer.reshape(sums, *[1] * (len(offsets) - len(sizes)), *sizes)
    writer.store(product, sums, offsets)


def _maps(func: Func, op: tensor.Contract, several_rows: bool) -> Maps:
    """The maps; a block of `several_rows` cannot run along several axes."""
    kernel = read_kernel(rest_of(func, op))
    node = _product_of(kernel, len(func.arguments))
    batch, rows, columns = merge_roles(kernel, _roles(op, node), ROLES)
    last = len(kernel.space.sizes) - 1
    swapped = last in rows
    if swapped:
        rows, columns = columns, rows
    few = 1 if several_rows else len(rows)
    if len(rows) > few or columns != (last,):
        raise Refused("what follows runs along other axes than those of rows and columns")
    return Maps(kernel, node, (batch, rows, columns), swapped)


def _product_of(kernel: Kernel, number: int) -> Node:
    """The node that is the product, which is the argument of this number."""
    found = [
        node
        for node in kernel.nodes
        if node.access is not None and node.access.param.number == number
    ]
    if len(found) != 1 or found[0].access is None or not found[0].access.plain:
        raise Refused("a product is read at other places than those where it is computed")
    return found[0]


def _roles(op: tensor.Contract, node: Node) -> dict[int, str]:
    """What each axis of the space is to the product, in the product's order."""
    left, right = sides_of(op)
    groups = zip(ROLES, (left[Role.BATCH], left[Role.FREE], right[Role.FREE]), strict=True)
    each = [role for role, axes in groups for _ in axes]
    place = node.access.at if node.access is not None else ()
    if len(place) != len(each):
        raise Refused("a product is read in another shape than it has")
    pairs = zip(place, each, strict=True)
    return {index.axis: role for index, role in pairs if index.axis is not None}
