"""Fewer axes: neighbours that everybody traverses together become one; the vectors' comes last.

Comes in: a `Kernel`. Goes out: the same, changed: a chain over [n0, n1, n2] runs along one axis,
and its params are seen in fewer axes; axes of size 1 are gone from them.
Never: a merge of an axis on which somebody counts, or of a parallel with a reduced one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from math import prod

from ...ir import tensor
from ...ir.tensor.arg_reduce import ArgReduction
from .kernel import Kernel, Node, Param
from .space import FIRST, Index, Place, Space

Uses = list[tuple[Place, bool]]
"""Where a param is read or written, and whether all of it is."""


def order_axes(kernel: Kernel) -> None:
    """Where only values of reduced shape are stored, the axis that reads run along comes last.

    Those of the most axes decide: what is read once a row may run along any of them.
    """
    space, count = kernel.space, len(kernel.space.sizes)
    if not space.reduced or any(len(each.node.axes) == count for each in kernel.outputs):
        return
    places = [node.access.at for node in kernel.nodes if node.access is not None]
    most = max([len(_axes(at)) for at in places], default=0)
    votes = [0] * count
    for at in places:
        last = at[-1].axis if at else None
        if last is not None and len(_axes(at)) == most:
            votes[last] += 1
    best = max(range(count), key=lambda axis: (votes[axis], axis))
    order = [axis for axis in range(count) if axis != best] + [best]
    sizes = tuple(space.sizes[axis] for axis in order)
    reduced = tuple(place for place, axis in enumerate(order) if axis in space.reduced)
    renumber(kernel, {axis: place for place, axis in enumerate(order)}, Space(sizes, reduced))


def _axes(place: Place) -> set[int]:
    """The axes along which a place varies."""
    return {index.axis for index in place if index.axis is not None}


def merge_axes(kernel: Kernel, firsts: Iterable[int] = ()) -> Mapping[int, int]:
    """Merge what can be merged, but `firsts` with the axes before them, and see the params
    accordingly; the new number of each axis."""
    space, places = kernel.space, _accesses(kernel)
    groups: list[list[int]] = []
    for axis in range(len(space.sizes)):
        if axis and axis not in firsts and _joins(kernel, places.values(), axis - 1):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    mapping = {axis: number for number, group in enumerate(groups) for axis in group}
    sizes = tuple(prod(space.sizes[axis] for axis in group) for group in groups)
    reduced = tuple(dict.fromkeys(mapping[axis] for axis in space.reduced))
    for param in kernel.params:
        mine = places.get(param, [])
        if mine and all(plain for _, plain in mine):
            _regroup(kernel, param, mine[0][0], {frozenset(group) for group in groups})
    renumber(kernel, mapping, Space(sizes, reduced))
    return mapping


def _accesses(kernel: Kernel) -> dict[Param, Uses]:
    """The uses of each param."""
    found: dict[Param, Uses] = {}
    for node in kernel.nodes:
        if node.access is not None:
            found.setdefault(node.access.param, []).append((node.access.at, node.access.plain))
    for output in kernel.outputs:
        found.setdefault(output.param, []).append((output.at, True))
    return found


def _joins(kernel: Kernel, accesses: Iterable[Uses], axis: int) -> bool:
    """Whether an axis and the next one are traversed together by everybody."""
    reduced = kernel.space.reduced
    if kernel.chunk is not None and axis == 0:
        return False
    if (axis in reduced) is not (axis + 1 in reduced):
        return False
    both = {axis, axis + 1}
    if any(both & _counted(kernel, node) for node in kernel.nodes):
        return False
    return all(_joined(uses, axis) for uses in accesses)


def _joined(uses: Uses, axis: int) -> bool:
    """Whether one param is always read along both axes in order, or along neither."""
    orders = [[index.axis for index in place if index.axis is not None] for place, _ in uses]
    wanted = [[each for each in order if each in (axis, axis + 1)] for order in orders]
    if not any(wanted):
        return True
    alike = all(order == orders[0] for order in orders) and all(plain for _, plain in uses)
    first = orders[0].index(axis) if axis in orders[0] else -1
    return alike and first >= 0 and orders[0][first : first + 2] == [axis, axis + 1]


def _counted(kernel: Kernel, node: Node) -> set[int]:
    """The axes along which a node's value is a count."""
    if isinstance(node.op, tensor.Iota):
        return {*node.varies}
    return {*kernel.space.reduced} if isinstance(node.op, ArgReduction) else set()


def _regroup(kernel: Kernel, param: Param, place: Place, groups: set[frozenset[int]]) -> None:
    """See a param with one axis for each group of axes, and none of size 1."""
    chunks: list[list[int]] = []
    for at, index in enumerate(place):
        if index == FIRST:
            continue
        last = place[chunks[-1][-1]] if chunks else FIRST
        if any({last.axis, index.axis} <= group for group in groups):
            chunks[-1].append(at)
        else:
            chunks.append([at])
    param.shape = tuple(prod(param.shape[at] for at in chunk) for chunk in chunks)
    for node in kernel.nodes:
        if node.access is not None and node.access.param is param:
            at = tuple(node.access.at[chunk[0]] for chunk in chunks)
            node.access = replace(node.access, at=at)
    for output in kernel.outputs:
        if output.param is param:
            output.at = tuple(output.at[chunk[0]] for chunk in chunks)


def renumber(kernel: Kernel, mapping: Mapping[int, int], space: Space) -> None:
    """Give the axes of the space other numbers; several may become one."""
    kernel.space = space
    if all(axis == number for axis, number in mapping.items()):
        return

    @cache  # most nodes stand at the same few places
    def moved(place: Place) -> Place:
        return tuple(
            index if index.axis is None else Index(mapping[index.axis], index.start, index.step)
            for index in place
        )

    for node in kernel.nodes:
        node.axes = tuple(sorted({mapping[axis] for axis in node.axes}))
        node.varies = frozenset(mapping[axis] for axis in node.varies)
        node.place = moved(node.place)
        if node.access is not None:
            node.access = replace(node.access, at=moved(node.access.at))
    for output in kernel.outputs:
        output.at = moved(output.at)
