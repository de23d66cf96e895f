"""The elements of tensors in other shapes and orders, joined and taken apart.

Comes in: tensors. Goes out: tensors of the same elements.
Never: arithmetic, or places that depend on values (`indexing.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod as product
from typing import TYPE_CHECKING, Any

from ...ir import tensor as ops
from ...ir.dims import Dim, DimError, Size, floor_div, maximum, minimum, terms_of
from ...ir.facts import Facts
from ..errors import ArgumentError, AxisError, DTypeError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record
from ..sizes import size_of
from ..unseen import differ, looked_at
from .common import (
    as_axes,
    as_axis,
    as_integer,
    as_node,
    as_shape,
    as_size,
    broadcast_node,
    broadcast_shape,
    either,
    to_common_dtype,
)

if TYPE_CHECKING:
    from ..tensor import Tensor


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """The elements in row-major order in another shape, in which one size may be -1."""
    listed = list(shape) if isinstance(shape, tuple | list) else [shape]
    node = as_node(x, "reshape")
    return wrap(reshaped(node, _resolved(node, [size_of(each) for each in listed])))


def reshaped(node: Node, shape: tuple[Size, ...]) -> Node:
    """The node in another shape, of as many elements."""
    return node if node.type.shape == shape else record(ops.Reshape, (node,), (shape,))


def _resolved(node: Node, listed: list[Any]) -> tuple[Size, ...]:
    """The shape with what -1 stands for; refuses another number of elements."""
    unknown = [
        at for at, size in enumerate(listed) if not isinstance(size, Dim) and _is_unknown(size)
    ]
    total = product(node.type.shape)
    if len(unknown) > 1:
        fail(ShapeError, "reshape", f"-1 stands twice in {listed}", wrap(node))
    known = [as_size(size, "reshape") for at, size in enumerate(listed) if at not in unknown]
    if unknown:
        rest = _quotient(total, product(known))
        if rest is None:
            total, *known = looked_at((total, *known))
            rest = _quotient(total, product(known))
        known.insert(unknown[0], rest)
    if None in known or differ(product(known), total):
        fail(
            ShapeError, "reshape", f"{total} elements do not fit the shape {listed}", wrap(node),
            hint="the sizes multiply to the number of elements; -1 finds one of them",
        )  # fmt: skip
    return tuple(known)


def _is_unknown(size: Any) -> bool:
    return as_integer(size, "reshape", "a size") == -1


def _quotient(total: Size, known: Size) -> Any:
    """How often `known` goes into `total`; None where it does not divide it."""
    if isinstance(total, int) and isinstance(known, int):
        return total // known if known and total % known == 0 else None
    exact = exact_quotient(total, known)
    if exact is not None:
        return exact
    try:
        found = floor_div(total, known)
    except DimError:
        fail(ShapeError, "reshape", f"-1 is none or many, as {known} may be 0", hint="say the size")
    return found if found * known == total else None


def exact_quotient(total: Size, known: Size) -> Size | None:
    """How often a product goes into `total`, also where that may be 0 times 0."""
    terms = terms_of(known).items()
    if len(terms) != 1:
        return None
    ((atoms, by),) = terms
    found = terms_of(total).over(atoms, by).size()
    return found if found * known == total else None


def flatten(x: Any, /, start_axis: int = 0, end_axis: int = -1) -> Tensor:
    """The axes from `start_axis` to `end_axis` as one."""
    node = as_node(x, "flatten")
    shape = node.type.shape
    if not shape:
        return wrap(reshaped(node, (1,)))
    first = as_axis(start_axis, len(shape), "flatten")
    last = as_axis(end_axis, len(shape), "flatten")
    if first > last:
        problem = f"the axes {start_axis} to {end_axis} are none: the first stands after the last"
        fail(AxisError, "flatten", problem, x)
    merged = product(shape[first : last + 1])
    return wrap(reshaped(node, (*shape[:first], merged, *shape[last + 1 :])))


def expand_dims(x: Any, /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """x with an axis of size 1 at each place named."""
    axis = either(axis, dim, 0, "expand_dims", "axis, dim")
    node = as_node(x, "expand_dims")
    count = len(axis) if isinstance(axis, tuple | list) else 1
    axes = as_axes(axis, len(node.type.shape) + count, "expand_dims")
    sizes = iter(node.type.shape)
    rank = len(node.type.shape) + count
    return wrap(reshaped(node, tuple([1 if at in axes else next(sizes) for at in range(rank)])))


def squeeze(x: Any, /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """x without the axes named, which have size 1; without all such axes where none is named."""
    axis = either(axis, dim, None, "squeeze", "axis, dim")
    node = as_node(x, "squeeze")
    shape = node.type.shape
    if axis is None:
        axes = tuple([at for at, size in enumerate(shape) if size == 1])
    else:
        axes = as_axes(axis, len(shape), "squeeze")
    for at in axes:
        if shape[at] != 1:
            problem = f"axis {at} has size {shape[at]}, and only an axis of size 1 can go"
            fail(ShapeError, "squeeze", problem, x)
    return wrap(reshaped(node, tuple([size for at, size in enumerate(shape) if at not in axes])))


def permute_dims(x: Any, /, axes: Any) -> Tensor:
    """x with its axes in another order: axis i of the result is axis axes[i] of x."""
    node = as_node(x, "permute_dims")
    rank = len(node.type.shape)
    order = as_axes(axes, rank, "permute_dims")
    if len(order) != rank:
        fail(AxisError, "permute_dims", f"{list(order)} does not name all {rank} axes once", x)
    return wrap(permuted(node, order))


def permuted(node: Node, order: tuple[int, ...]) -> Node:
    """The node with its axes in another order."""
    return node if order == tuple(range(len(order))) else record(ops.Permute, (node,), (order,))


def moveaxis(x: Any, source: Any, destination: Any, /) -> Tensor:
    """x with some axes moved to other places; the others keep their order."""
    node = as_node(x, "moveaxis")
    rank = len(node.type.shape)
    froms, tos = (as_axes(axes, rank, "moveaxis") for axes in (source, destination))
    if len(froms) != len(tos):
        problem = f"{len(froms)} axes are to be moved to {len(tos)} places"
        fail(AxisError, "moveaxis", problem, x)
    order = [axis for axis in range(rank) if axis not in froms]
    for place, axis in sorted(zip(tos, froms, strict=True)):
        order.insert(place, axis)
    return wrap(permuted(node, tuple(order)))


def swapaxes(x: Any, axis1: int, axis2: int, /) -> Tensor:
    """x with two axes exchanged."""
    node = as_node(x, "swapaxes")
    rank = len(node.type.shape)
    one, other = as_axis(axis1, rank, "swapaxes"), as_axis(axis2, rank, "swapaxes")
    order = list(range(rank))
    order[one], order[other] = other, one
    return wrap(permuted(node, tuple(order)))


def transpose(x: Any, /, *axes: Any) -> Tensor:
    """With two axes, these exchanged; with all axes, in that order; with none, in reverse order."""
    node = as_node(x, "transpose")
    rank = len(node.type.shape)
    if not axes or (len(axes) == 1 and axes[0] is None):
        return wrap(permuted(node, tuple(reversed(range(rank)))))
    if len(axes) == 2 and not isinstance(axes[0], tuple | list):
        return swapaxes(x, *axes)
    return permute_dims(x, axes[0] if isinstance(axes[0], tuple | list) else axes)


def matrix_transpose(x: Any, /) -> Tensor:
    """x with its last two axes exchanged."""
    node = as_node(x, "matrix_transpose")
    if len(node.type.shape) < 2:
        fail(ShapeError, "matrix_transpose", "the tensor has no two axes", x)
    return swapaxes(x, -1, -2)


def flip(x: Any, /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """The elements along the axes named, or all, in reverse order."""
    axis = either(axis, dim, None, "flip", "axis, dim")
    node = as_node(x, "flip")
    axes = tuple(sorted(as_axes(axis, len(node.type.shape), "flip")))
    return wrap(record(ops.Flip, (node,), (axes,)) if axes else node)


def roll(x: Any, /, shift: Any, axis: Any = None, *, dim: Any = None) -> Tensor:
    """The elements moved `shift` places along an axis; what falls off comes in at the other end."""
    axis = either(axis, dim, None, "roll", "axis, dim")
    node = as_node(x, "roll")
    if axis is None:
        flat = roll(wrap(reshaped(node, (product(node.type.shape),))), shift, axis=0)
        return wrap(reshaped(flat.node, node.type.shape))
    listed = axis if isinstance(axis, tuple | list) else (axis,)
    axes = [as_axis(each, len(node.type.shape), "roll") for each in listed]
    shifts = list(shift) if isinstance(shift, tuple | list) else [shift] * len(axes)
    if len(shifts) != len(axes):
        fail(ArgumentError, "roll", f"{len(shifts)} shifts are given for {len(axes)} axes", x)
    for by, place in zip(shifts, axes, strict=True):
        known = by if isinstance(by, Dim) else as_integer(by, "roll", "a shift")
        node = _rolled(node, known, place)
    return wrap(node)


def _rolled(node: Node, shift: Size, axis: int) -> Node:
    size = looked_at(node.type.shape[axis])
    shift = _within(shift, size)
    if shift == 0:
        return node
    cut = size - shift
    return record(ops.Concat, (part(node, axis, cut, shift), part(node, axis, 0, cut)), (axis,))


def _within(shift: Size, size: Size) -> Size:
    """How many places that is toward the end of an axis, less than it has; 0 if it has none."""
    if isinstance(shift, int) and isinstance(size, int):
        return shift % size if size else 0
    for places in (shift, shift + size):
        if Facts().at_most(0, places) and Facts().at_most(places, size):
            return places
    rest = shift - floor_div(shift, maximum(size, 1)) * size
    return maximum(minimum(rest, size), 0)


def part(node: Node, axis: int, start: Size, size: Size, step: int = 1) -> Node:
    """`size` elements along an axis, from `start` on, `step` apart."""
    shape = node.type.shape
    if start == 0 and step == 1 and size == shape[axis]:
        return node
    starts: list[Size] = [0] * len(shape)
    starts[axis] = start
    sizes = (*shape[:axis], size, *shape[axis + 1 :])
    steps = tuple([step if at == axis else 1 for at in range(len(shape))])
    return record(ops.Slice, (node,), (tuple(starts), sizes, steps))


def concat(arrays: Sequence[Any], /, axis: int | None = 0, *, dim: Any = None) -> Tensor:
    """Tensors end to end along an axis; with `axis=None` each is flattened first."""
    axis = dim if dim is not None else axis
    arrays = listed("concat", arrays)
    if len(arrays) == 0:
        fail(ArgumentError, "concat", "there is nothing to join")
    nodes = to_common_dtype("concat", *arrays)
    if axis is None:
        nodes = [reshaped(node, (product(node.type.shape),)) for node in nodes]
        axis = 0
    first = nodes[0].type.shape
    place = as_axis(axis, len(first), "concat")
    for node in nodes:
        shape = node.type.shape
        if len(shape) != len(first) or differ(_without(shape, place), _without(first, place)):
            fail(
                ShapeError, "concat", f"the shapes differ in other axes than {place}", *arrays,
                hint="all sizes but that of the joined axis are equal",
            )  # fmt: skip
    return wrap(record(ops.Concat, tuple(nodes), (place,)) if len(nodes) > 1 else nodes[0])


def listed(name: str, arrays: Any) -> Sequence[Any]:
    """The tensors of a list, or of anything else that can be gone through."""
    if isinstance(arrays, Sequence):
        return arrays
    if isinstance(arrays, Iterable) and getattr(arrays, "ndim", 1):
        return list(arrays)
    fail(DTypeError, name, f"takes a list of tensors, not {type(arrays).__name__}", arrays)


def _without(shape: tuple[Size, ...], axis: int) -> tuple[Size, ...]:
    return shape[:axis] + shape[axis + 1 :]


def stack(arrays: Sequence[Any], /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """Tensors of one shape side by side, along a new axis."""
    axis = either(axis, dim, 0, "stack", "axis, dim")
    arrays = listed("stack", arrays)
    if len(arrays) == 0:
        fail(ArgumentError, "stack", "there is nothing to stack")
    nodes = to_common_dtype("stack", *arrays)
    if len({node.type for node in nodes}) > 1:
        fail(ShapeError, "stack", "the shapes differ", *arrays)
    place = as_axis(axis, len(nodes[0].type.shape) + 1, "stack")
    return concat([expand_dims(wrap(node), place) for node in nodes], axis=place)


def broadcast_to(x: Any, /, shape: Any) -> Tensor:
    """x repeated along axes of size 1 and along new axes in front."""
    node = as_node(x, "broadcast_to")
    sizes = as_shape(shape, "broadcast_to")
    if broadcast_shape("broadcast_to", node.type.shape, sizes) != sizes:
        problem = f"the shape {list(node.type.shape)} does not stretch to {list(sizes)}"
        fail(ShapeError, "broadcast_to", problem, x)
    return wrap(broadcast_node(node, sizes))


def expand(x: Any, /, *shape: Any) -> Tensor:
    """x repeated along axes of size 1; -1 keeps a size."""
    listed = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    own = as_node(x, "expand").type.shape
    fresh = len(listed) - len(own)
    return broadcast_to(
        x, tuple([own[at - fresh] if size == -1 else size for at, size in enumerate(listed)])
    )


def broadcast_arrays(*arrays: Any) -> tuple[Tensor, ...]:
    """The tensors stretched to one shape."""
    nodes = [as_node(array, "broadcast_arrays") for array in arrays]
    if not nodes:
        return ()
    shape = broadcast_shape("broadcast_arrays", *[node.type.shape for node in nodes])
    return tuple([wrap(broadcast_node(node, shape)) for node in nodes])


def tile(x: Any, repetitions: Any, /) -> Tensor:
    """x repeated as a whole along each axis; axes are added in front where more are named."""
    node = as_node(x, "tile")
    counts = list(as_shape(repetitions, "tile"))
    shape = list(node.type.shape)
    shape = [1] * (len(counts) - len(shape)) + shape
    counts = [1] * (len(shape) - len(counts)) + counts
    paired = [each for count, size in zip(counts, shape, strict=True) for each in (count, size)]
    axes = tuple(range(1, 2 * len(shape), 2))
    repeated = record(ops.Broadcast, (reshaped(node, tuple(shape)),), (tuple(paired), axes))
    pairs = zip(counts, shape, strict=True)
    return wrap(reshaped(repeated, tuple([count * size for count, size in pairs])))
