"""Fewer axes: neighbours that everybody traverses together become one; the vectors' comes last.

Comes in: a `Kernel`. Goes out: the same, changed: a chain over [n0, n1, n2] runs along one axis,
and its params are seen in fewer axes; axes of size 1 are gone from them.
Never: a merge of an axis on which somebody counts, or of a parallel with a reduced one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod

from ...ir import tensor
from ...ir.dims import Size
from ...ir.tensor.arg_reduce import ArgReduction
from .kernel import Access, Kernel, Node, Param
from .space import FIRST, Index, Place, Space

Axes = tuple[int | None, ...]
Uses = list[tuple[Axes, frozenset[int]]]
"""Along which axis of the space each axis of a param is used, and which of them from end to end."""


def order_axes(kernel: Kernel) -> None:
    """Where only values of reduced shape are stored, the axis that reads run along comes last.

    Those of the most axes decide: what is read once a row may run along any of them.
    """
    space, count = kernel.space, len(kernel.space.sizes)
    own = count if kernel.chunk is None else count - 1  # nothing lies along that of the chunks
    if not space.reduced or any(len(each.node.axes) == own for each in kernel.outputs):
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
        if param in places:
            _regroup(kernel, param, places[param], {frozenset(group) for group in groups})
    renumber(kernel, mapping, Space(sizes, reduced))
    return mapping


def _accesses(kernel: Kernel) -> dict[Param, Uses]:
    """The uses of each param."""
    found: dict[Param, Uses] = {}
    for node in kernel.nodes:
        if node.access is not None:
            found.setdefault(node.access.param, []).append(_use(kernel, node.access))
    for output in kernel.outputs:
        use = _use(kernel, Access(output.param, output.at))
        found.setdefault(output.param, []).append(use)
    return found


def _use(kernel: Kernel, access: Access) -> tuple[Axes, frozenset[int]]:
    """How an access uses its param, through the window if there is one. An axis of size 1 is used
    from end to end by what is at its first place."""
    axes: list[int | None] = []
    whole = set[int]()
    for at, size in enumerate(access.param.shape):
        steps = [access.at[at]] if access.window is None else [access.window[at]]
        sizes = list[Size]()
        if access.window is not None and steps[0].axis is not None:
            sizes.append(access.sizes[steps[0].axis])
            steps.append(access.at[steps[0].axis])
        axis = steps[-1].axis
        axes.append(axis)
        if axis is None:
            ends = steps[0] == FIRST and size == 1
        else:  # around a window that is not all of it there may be padding
            sizes.append(kernel.space.sizes[axis])
            ends = all(each.whole for each in steps) and all(each == size for each in sizes)
        if ends:
            whole.add(at)
    return tuple(axes), frozenset(whole)


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
    """Whether one param is always used along both axes from end to end, the second right behind the
    first, or along neither."""
    if not any(each in axes for axes, _ in uses for each in (axis, axis + 1)):
        return True
    axes, whole = _alike(uses)
    if axis not in axes:
        return False
    first = axes.index(axis)
    behind = first + 1
    while behind < len(axes) and axes[behind] is None and behind in whole:
        behind += 1
    return axes[behind : behind + 1] == (axis + 1,) and {first, behind} <= whole


def _alike(uses: Uses) -> tuple[Axes, frozenset[int]]:
    """What uses of a param have in common: no axis, if they do not run along the same ones."""
    axes, whole = uses[0]
    if any(other != axes for other, _ in uses):
        return (), frozenset()
    return axes, whole.intersection(*[each for _, each in uses])


def _counted(kernel: Kernel, node: Node) -> set[int]:
    """The axes along which a node's value is a count."""
    if isinstance(node.op, tensor.Iota):
        return {*node.varies}
    return {*kernel.space.reduced} if isinstance(node.op, ArgReduction) else set()


def _regroup(kernel: Kernel, param: Param, uses: Uses, groups: set[frozenset[int]]) -> None:
    """See a param with one axis for each group of axes, and none of size 1."""
    axes, whole = _alike(uses)
    chunks: list[list[int]] = []
    for at, axis in enumerate(axes):
        if axis is None and at in whole:
            continue
        last = chunks[-1][-1] if chunks else at
        if last != at and {last, at} <= whole and any({axes[last], axis} <= one for one in groups):
            chunks[-1].append(at)
        else:
            chunks.append([at])
    if not axes:
        return
    param.shape = tuple(prod(param.shape[at] for at in chunk) for chunk in chunks)
    for node in kernel.nodes:
        if node.access is not None and node.access.param is param:
            node.access = _regrouped(node.access, chunks)
    for output in kernel.outputs:
        if output.param is param:
            output.at = tuple(output.at[chunk[0]] for chunk in chunks)


def _regrouped(access: Access, chunks: Sequence[Sequence[int]]) -> Access:
    """An access of a param that is seen with an axis for each chunk of its axes."""
    firsts = [chunk[0] for chunk in chunks]
    if access.window is None:
        return replace(access, at=tuple(access.at[first] for first in firsts))
    seen = [access.window[first] for first in firsts]
    kept = sorted([index.axis for index in seen if index.axis is not None])
    numbers = {axis: number for number, axis in enumerate(kept)}
    window = tuple(
        index if index.axis is None else replace(index, axis=numbers[index.axis]) for index in seen
    )
    chunk_of = {access.window[chunk[0]].axis: chunk for chunk in chunks}
    sizes = tuple(_extent(access, chunk_of[axis]) for axis in kept)
    at = tuple(access.at[axis] for axis in kept)
    return replace(access, at=at, window=window, sizes=sizes)


def _extent(access: Access, chunk: Sequence[int]) -> Size:
    """How much of the window lies along some axes of the param, which are one from now on."""
    axes = [index.axis for at, index in enumerate(access.window or ()) if at in chunk]
    return prod(access.sizes[axis] for axis in axes if axis is not None)


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
