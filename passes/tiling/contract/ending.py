"""What becomes of sums before they are stored: the maps around a contraction.

Comes in: a kernel func of one contraction and maps that read it. Goes out: a `Maps`, or where there
are none a `Plain`, which every kernel of the contraction asks to store blocks of its sums; what it
reads and writes stands behind the operands.
Never: a reduction; and where the maps do not run along the rows and the columns of the product, or
would read it at several places, `Refused`.
"""

from collections.abc import Sequence
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
from .waiting import Waiting, rows_at_once

ROLES = ("batch", "rows", "columns")


def ending_of(func: Func, op: tensor.Contract, extent: Extent, schedule: Schedule) -> "Ending":
    """The ending of a contraction."""
    if list(func.results) == [op.result]:
        return Plain(op, extent, len(func.arguments))
    made = _maps(func, op, schedule.get("rows", 2) > 1)
    if is_wider(made.kernel, extent.wide):
        raise Refused("what follows is wider than the sums")
    return made


class Plain(Waiting):
    """The product is stored as it is; one of a single column as a row."""

    def __init__(self, op: tensor.Contract, extent: Extent, array: int) -> None:
        self.swapped = extent.n == 1
        sides = (extent.n, extent.m) if self.swapped else (extent.m, extent.n)
        shape = (extent.batch, *sides)
        self.params = [Param(0, shape, op.dtype, "product", written=True)]
        self.reads: list[Part] = []
        self.writes = [Part(array, shape)]
        self.rounds = op.dtype is not extent.wide
        self.asked: list[Size] = [shape[1]] if self.rounds else []

    @property
    def height(self) -> Size:
        return self.params[0].shape[1]

    def at_once(self, writer: Writer, lines: int) -> int:
        """To round sums to numbers of fewer bits takes more code than to store them."""
        return rows_at_once(writer, lines) if self.rounds else lines

    def write(
        self, writer: Writer, views: Sequence[AnyValue], sums: AnyValue, place: Sequence[AnyValue]
    ) -> None:
        store(writer, views[-1], sums, place)


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


@dataclass
class Maps(Waiting):
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
        return [self.height, *self.kernel.asked]

    @property
    def reads(self) -> list[Part]:
        """The arrays that are read beside the operands."""
        return [Part(each.number, each.shape) for each in self.params if not each.written]

    @property
    def writes(self) -> list[Part]:
        """The arrays that are written."""
        first = len(self.kernel.func.arguments) - 1
        return [Part(first + each.number, each.shape) for each in self.params if each.written]

    @property
    def height(self) -> Size:
        return prod(self.kernel.space.sizes[axis] for axis in self.along[1])

    def at_once(self, writer: Writer, lines: int) -> int:
        return rows_at_once(writer, lines)

    def write(
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
