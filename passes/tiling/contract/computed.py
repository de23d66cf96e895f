"""An operand that does not lie in memory as matrices: it is computed where it is packed.

Comes in: the kernel of an operand, of maps and views only. Goes out: a `Computed`, which loads as a
`Matrix` does.
Never: a value outside of the operand that is not zero, or a copy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ....ir import tensor
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.func import Func
from ....ir.values import AnyValue
from ..emit import Emitter
from ..kernel import Kernel, Node, Param
from ..parts import Part
from ..read import read_kernel
from ..space import Refused
from ..writer import Writer
from .funcs import copied_operand
from .maps import Along, is_wider, merge_roles, read_by, standing_at
from .matrix import Groups, InThree, Role

KEEPING = (tensor.Cast, tensor.Negate, tensor.Absolute, tensor.Broadcast)
"""Ops that make zeros of zeros."""


@dataclass(frozen=True, slots=True)
class Computed(InThree):
    """Maps whose last axis is that of `fast`; `order` is that of the axes of what it loads."""

    kernel: Kernel
    along: Along
    dtype: DType
    order: tuple[Role, Role, Role]
    sizes: Mapping[Role, Size]

    @property
    def params(self) -> list[Param]:
        """What is read."""
        return read_by(self.kernel)

    @property
    def parts(self) -> list[Part]:
        """The arrays that are read."""
        return [Part(each.number, each.shape) for each in self.params]

    @property
    def asked(self) -> list[Size]:
        """The sizes that are asked for where it is loaded."""
        return [*self.sizes.values(), *self.kernel.asked]

    def load(
        self,
        writer: Writer,
        views: Sequence[AnyValue],
        places: Mapping[Role, AnyValue],
        counts: Mapping[Role, int],
    ) -> AnyValue:
        """A block at some places, so many elements long along each axis."""
        pairs = dict(zip(self.params, views, strict=True))
        place = [places[role] for role in self.order]
        lengths = [counts[role] for role in self.order[1:]]
        emitter = standing_at(writer, self.kernel, self.along, pairs, place, lengths)
        emitter.emit(self.kernel.nodes)
        (output,) = self.kernel.outputs
        made = self._without_rest(writer, emitter, output.node)
        return writer.reshape(made, 1, *lengths)

    def _without_rest(self, writer: Writer, emitter: Emitter, node: Node) -> AnyValue:
        """The block with zeros behind the end of the contracted axis, where sums would notice."""
        made = emitter.tile(node)
        if all(_is_zero_outside(each) for each in _above(node)):
            return made
        (axis,) = self.along[self.order.index(Role.CONTRACT)]
        mask = emitter.mask(node.axes, [axis])
        return writer.select(mask, made, writer.zeros(made.dtype, *made.type.shape))


def computed_operand(func: Func, operand: AnyValue, groups: Groups) -> Computed | None:
    """The operand, if its rows and its columns are one axis each, and one of them is that along
    which it lies in memory; else None."""
    try:
        first = _computed(func, operand, groups, (Role.FREE, Role.CONTRACT))
        if is_wider(first.kernel, operand.dtype.accumulator):
            return None
        near = _runs_along(first.kernel)
        if near == first.along[2]:
            return first
        if near != first.along[1]:
            return None
        return _computed(func, operand, groups, (Role.CONTRACT, Role.FREE))
    except Refused:
        return None


def _computed(func: Func, operand: AnyValue, groups: Groups, inner: tuple[Role, Role]) -> Computed:
    order, shape = (Role.BATCH, *inner), operand.type.shape
    sizes = {role: prod(shape[axis] for axis in axes) for role, axes in groups.items()}
    kernel = read_kernel(copied_operand(func, operand, {role: groups[role] for role in order}, ""))
    (output,) = kernel.outputs
    each = [role for role in order for _ in groups[role]]
    pairs = zip(output.at, each, strict=True)
    roles = {index.axis: role.value for index, role in pairs if index.axis is not None}
    along = merge_roles(kernel, roles, [role.value for role in order])
    if not len(along[1]) == len(along[2]) == 1 or len(output.node.axes) < len(kernel.space.sizes):
        raise Refused("an operand has no rows or no columns")
    return Computed(kernel, along, operand.dtype, order, sizes)


def _is_zero_outside(node: Node) -> bool:
    """Whether zeros are loaded from behind the end, or made of zeros; what is padded and shifted
    may find numbers there."""
    if node.access is not None:
        return node.access.padding is None
    return isinstance(node.op, KEEPING)


def _above(node: Node) -> list[Node]:
    """A node and all that it is computed from."""
    found: dict[Node, None] = {}
    pending = [node]
    while pending:
        each = pending.pop()
        if each not in found:
            found[each] = None
            pending += each.operands
    return [*found]


def _runs_along(kernel: Kernel) -> tuple[int, ...]:
    """The axis along which the largest array that is read has its neighbours."""
    read = [(len(each.axes), each.access.at) for each in kernel.nodes if each.access is not None]
    if not read:
        raise Refused("an operand that reads nothing")
    _, at = max(read, key=lambda each: each[0])
    axis = at[-1].axis if at else None
    return () if axis is None else (axis,)
