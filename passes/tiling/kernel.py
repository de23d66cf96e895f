"""A kernel as a graph over its iteration space.

Comes in: from `read`, what a kernel func of the tensor floor holds. Goes out: a `Kernel`: `Node`s
in program order, each a value at the places where it is wanted, so that views and permutations are
gone; the arrays that it reads and writes as `Param`s; what is stored as `Output`s.
Never: a tile's size.
"""

from dataclasses import dataclass

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dims import Size, Symbol
from ...ir.dtypes import DType
from ...ir.func import Func
from ...ir.locations import Location
from ...ir.payloads import Number
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.reduce import Reduction
from ...ir.values import AnyValue, Op
from .space import FIRST, Place, Space

REDUCING = (Reduction, ArgReduction)


@dataclass(eq=False, slots=True)
class Param:
    """An array that the kernel is handed: an argument of the func or (`written`) a result, seen in
    a shape that has as many elements."""

    number: int
    shape: Shape
    dtype: DType
    name: str | None = None
    written: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """Where a param is read: at `at`, one index an axis of the param, or, if `window` says which
    part of it (in the window's axes, of `sizes`), an axis of the window. Outside is `padding`."""

    param: Param
    at: Place
    window: Place | None = None
    sizes: Shape = ()
    padding: Number | None = None

    @property
    def plain(self) -> bool:
        """Whether nothing but the param's own elements are read, all of them along each axis."""
        return (
            self.window is None
            and self.padding is None
            and all(
                index.whole or (index == FIRST and size == 1)
                for index, size in zip(self.at, self.param.shape, strict=True)
            )
        )


@dataclass(eq=False, slots=True)
class Node:
    """A value at the places where it is wanted: what one op makes, or what an access reads.

    `axes` are those of the space that its tile has, in rising order; along those in `varies` it
    differs. `level` counts the reductions that must be done before it is known.
    """

    value: AnyValue
    place: Place
    axes: tuple[int, ...]
    operands: tuple["Node", ...]
    varies: frozenset[int]
    level: int
    location: Location
    access: Access | None = None

    @property
    def op(self) -> Op | None:
        """The op of the tensor floor; none for what is read."""
        return None if self.access is not None else self.value.op

    @property
    def reduces(self) -> bool:
        """Whether it is a reduction."""
        return self.access is None and isinstance(self.value.op, REDUCING)


@dataclass(eq=False, slots=True)
class Output:
    """A node that is stored to a param, at `at`."""

    node: Node
    param: Param
    at: Place


@dataclass(frozen=True, slots=True)
class Across:
    """What a program sums up across the `rows` rows of its chunk, of which there are `chunks`: for
    each param that has a line for each chunk, the reduction that is to be made."""

    chunks: Symbol
    rows: int
    sums: dict[Param, Reduction]


@dataclass(slots=True)
class Kernel:
    """All of it; `params` are the reads, then the writes, as the launch hands them over.

    With `chunk`, axis 0 of the space numbers chunks, of so many places along the first reduced
    axis, and a program reduces only one chunk.
    """

    func: Func
    space: Space
    nodes: list[Node]
    params: list[Param]
    outputs: list[Output]
    chunk: int | None = None
    across: Across | None = None

    @property
    def levels(self) -> int:
        """How many times in a row the reduced axes are run along to reduce."""
        return max((node.level for node in self.nodes if node.reduces), default=0)

    @property
    def lines(self) -> tuple[int, ...]:
        """The parallel axes, but for that which numbers chunks."""
        return self.space.parallel if self.chunk is None else self.space.parallel[1:]

    @property
    def asked(self) -> list[Size]:
        """The sizes that may be asked for where its nodes are computed and stored."""
        indices = [index for output in self.outputs for index in output.at]
        asked = [*self.space.sizes]
        for node in self.nodes:
            indices += node.place
            if isinstance(node.op, tensor.Dim):
                asked.append(node.op.x.type.shape[node.op.axis])
            if node.access is not None:
                indices += [*node.access.at, *(node.access.window or ())]
                asked += node.access.sizes
        return [*asked, *[index.start for index in indices]]
