"""A contraction in the leaves of its kernel.

Comes in: the node of a contraction, when no leaf is split any more. Goes out: the shapes in which
it takes its operands, of which the axes are the leaves of its result and those that are contracted;
and the same contraction of such operands.
Never: a copy; an array is only seen in other axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.builder import Builder
from ...ir.dims import Size
from ...ir.tensor.axes import other_axes
from ...ir.values import AnyValue
from .axes import Axes, flat
from .graph import Kind, Node, Read


@dataclass(frozen=True, slots=True)
class Operand:
    """The shape in which an operand is taken, and which of its axes are of the batch and which are
    contracted."""

    shape: Shape
    batch: tuple[int, ...]
    contract: tuple[int, ...]


def operands_of(axes: Axes, node: Node) -> tuple[Operand, Operand]:
    """Both operands of a contraction."""
    op: Any = node.op
    made = [axes.sizes(group) for group in node.groups]
    batch = len(op.left_batch)
    behind = op.left.type.rank - len(op.left_contract)
    left, right = made[:behind], made[:batch] + made[behind:]
    return (
        _operand(op.left, op.left_batch, op.left_contract, left),
        _operand(op.right, op.right_batch, op.right_contract, right),
    )


def takes(axes: Axes, node: Node, read: Read) -> bool:
    """Whether a node is a contraction that can compute what it reads, as it packs it."""
    source = read.source
    if node.kind is not Kind.PRODUCT or source is None or source.root is not source:
        return False
    shapes = [
        tuple([size for size in operand.shape if size != 1])
        for operand, each in zip(operands_of(axes, node), node.reads, strict=True)
        if each.source is source
    ]
    mine = axes.sizes(flat(source.groups))
    return all(shape == mine for shape in shapes)


def contracted(
    builder: Builder, op: tensor.Contract, both: tuple[Operand, Operand], values: Sequence[AnyValue]
) -> AnyValue:
    """The contraction of operands that are taken in such shapes."""
    left, right = both
    made = builder.emit(
        tensor.Contract,
        *values,
        left_batch=left.batch,
        right_batch=right.batch,
        left_contract=left.contract,
        right_contract=right.contract,
        dtype=op.dtype,
    )
    made.name = made.name or op.result.name
    return made


def _operand(
    value: AnyValue, batch: tuple[int, ...], summed: tuple[int, ...], made: list[Shape]
) -> Operand:
    """An operand; `made` has the leaves of each axis of the batch, and then of each free one."""
    free = other_axes(len(value.shape), batch, summed)
    sizes = dict(zip((*batch, *free), made, strict=True))
    shape: list[Size] = []
    places: dict[int, tuple[int, ...]] = {}
    for axis, size in enumerate(value.shape):
        mine = sizes.get(axis, (size,))
        places[axis] = tuple(range(len(shape), len(shape) + len(mine)))
        shape += mine
    numbered = [tuple(at for axis in axes for at in places[axis]) for axes in (batch, summed)]
    return Operand(tuple(shape), *numbered)
