"""Batching: a function of one example made a function of many.

Comes in: a function of trees of tensors. Goes out: a function that does the same for each element
along an axis of its arguments, as one computation.
Never: a rule of an op; those stand with the ops, and `passes.batch` applies them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import count
from typing import Any

from ..ir import tensor as ops
from ..passes.batch import batch
from .errors import ArgumentError, AxisError, ShapeError, expect_functions, fail
from .funcs import table_of_funcs
from .function import StandIn, call, of_leaves, trace
from .functions.common import as_axis, as_node
from .handle import Handle, wrap
from .lanes import Lanes, axes_of_parts, moved_axis, repeated
from .node import Node, record
from .regions import Gathered
from .trace import Trace
from .tree import LEAF, Structure, container_of, flatten, leaves_of

_BATCHED = table_of_funcs()
_UNNAMED = count()


def vmap(
    function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_name: str | None = None
) -> Callable[..., Any]:
    """A function that applies `function` to each element along an axis of its arguments.

    `in_axes` is an axis for all, or a tree of axes like the arguments, or a prefix of one; None is
    for what is the same for all. `out_axes` says where the results get theirs. Inside, collectives
    such as `bs.all_reduce(x, axis_name)` work along the axis of that name.
    """
    expect_functions("vmap", function)

    @wraps(function, updated=())
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten((args, kwargs))
        axes = _axes(in_axes, args, kwargs)
        nodes, size = _fronted(leaves, axes)
        places = [at for at, node in enumerate(nodes) if node is not None]
        moved = [node for node in nodes if node is not None]

        gathered = Gathered("vmap", function, args, kwargs)
        one = of_leaves(gathered, leaves, structure, places)
        like = [StandIn(node.type.with_shape(node.type.shape[1:]), node.device) for node in moved]
        name = axis_name or f"vmap {next(_UNNAMED)}"
        traced = trace("vmap", one, like, lambda current, _: _name_axis(current, name))
        flags = (True,) * len(moved) + (False,) * len(traced.captures)
        key = (traced.func, flags, size, name)
        found = _BATCHED.get(key) or _BATCHED.put(key, batch(traced.func, flags, size, name))
        results = call(found[0], [*moved, *traced.captures])
        pairs = zip(results, found[1], strict=True)
        whole = [node if batched else repeated(node, size) for node, batched in pairs]
        result = _placed(traced.rebuild([wrap(node) for node in whole])[0], out_axes)
        if gathered.places:
            left = traced.rebuild([wrap(node) for node in results])[1]
            varies = traced.rebuild(found[1])[1]
            lanes = Lanes(axes_of_parts(structure.build(axes), (args, kwargs)), size)
            gathered.hand_on(lanes.joined(gathered.places, left, varies))
        return result

    return mapped


def _name_axis(current: Trace, name: str) -> None:
    """Count the elements, so that random numbers differ from one to the next."""
    current.axis_name = name
    current.make_index = lambda: record(ops.AxisIndex, (), (name,))


def _axes(in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int | None]:
    """The axis of each leaf of the arguments; those given by keyword are mapped along axis 0."""
    listed = list(in_axes) if isinstance(in_axes, list | tuple) else [in_axes] * len(args)
    if len(listed) != len(args):
        problem = f"in_axes names {len(listed)} arguments, {len(args)} are given"
        fail(ArgumentError, "vmap", problem)
    axes: list[int | None] = []
    for axis, arg in zip(listed, args, strict=True):
        axes += _spread(axis, flatten(arg)[1])
    return axes + [0] * len(leaves_of(kwargs))


def _spread(axes: Any, structure: Structure) -> list[int | None]:
    """The axes of a tree's leaves, from a tree of axes that may end earlier."""
    if axes is None or isinstance(axes, int):
        return [axes] * structure.count
    parts = _parts(axes, structure)
    if structure is LEAF or len(parts) != len(structure.children):
        fail(ArgumentError, "vmap", f"the axes {axes} do not fit the tree {structure}")
    found: list[int | None] = []
    for each, child in zip(parts, structure.children, strict=True):
        found += _spread(each, child)
    return found


def _parts(axes: Any, structure: Structure) -> Sequence[Any]:
    """The axes of a tree's children, in their order; nothing if there are no such axes."""
    if isinstance(axes, dict) and structure.cls is dict:
        keys = structure.static
        return [axes[key] for key in keys] if axes.keys() == set(keys) else ()
    container = container_of(type(axes))
    return () if container is None else container.open(axes)[0]


def _fronted(leaves: Sequence[Any], axes: Sequence[int | None]) -> tuple[list[Node | None], Any]:
    """The mapped leaves with their axis in front, None for the others; and how many elements."""
    nodes: list[Node | None] = []
    size: Any = None
    for leaf, axis in zip(leaves, axes, strict=True):
        if axis is None or not (isinstance(leaf, Handle) or hasattr(leaf, "shape")):
            nodes.append(None)
            continue
        node = as_node(leaf, "vmap")
        place = as_axis(axis, len(node.type.shape), "vmap")
        if not node.type.shape:
            fail(AxisError, "vmap", "a tensor of rank 0 has no axis to map", leaf,
                 hint="give None for it in in_axes")  # fmt: skip
        length = node.type.shape[place]
        if size is not None and length != size:
            problem = f"mapped axes have sizes {size} and {length}"
            fail(ShapeError, "vmap", problem, *leaves[:6])
        size = length
        nodes.append(moved_axis(node, place, 0))
    if size is None:
        fail(ArgumentError, "vmap", "no argument is mapped", hint="give an axis in in_axes")
    return nodes, size


def _placed(result: Any, out_axes: Any) -> Any:
    """The result with the new axis of each tensor where it is wanted."""
    leaves, structure = flatten(result)
    placed: list[Any] = []
    for leaf, axis in zip(leaves, _spread(out_axes, structure), strict=True):
        if not isinstance(leaf, Handle) or not axis:
            placed.append(leaf)
            continue
        place = as_axis(axis, len(leaf.node.type.shape), "vmap")
        placed.append(wrap(moved_axis(leaf.node, 0, place)))
    return structure.build(placed)
