"""Borders and windows: tensors made larger at their ends, and seen through a moving window.

Comes in: tensors. Goes out: tensors whose elements are those of the operand, or a constant.
Never: arithmetic on the elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..errors import ArgumentError, ShapeError, fail, one_of
from ..handle import Handle, wrap
from ..narrow import narrowed
from ..node import Node, record
from ..unseen import looked_at
from .common import as_axis, as_integer, as_node, cast_node, filled, not_negative, number
from .indexing import getitem
from .logic import where
from .manipulation import moveaxis, part

if TYPE_CHECKING:
    from ..tensor import Tensor

MODES = ("constant", "reflect", "edge", "circular")
_ELSEWHERE = {"wrap": "circular", "replicate": "edge"}
"""Modes as other libraries call them."""
Widths = tuple[tuple[int, int], ...]


def pad(x: Any, widths: Any, /, mode: str = "constant", value: Any = 0) -> Tensor:
    """x with elements added at the ends of its axes.

    `widths` is one number, a pair for all axes, or a pair (before, after) for each axis. "constant"
    adds `value`, "edge" repeats the outermost element, "reflect" mirrors without it, and
    "circular" continues from the other end.
    """
    node = as_node(x, "pad")
    here = _ELSEWHERE.get(mode) if isinstance(mode, str) else None
    one_of("pad", "mode", mode, MODES, hint=f"that is {here!r} here" if here else "")
    pairs = _widths(widths, len(node.type.shape))
    if mode == "constant":
        return wrap(_constant(node, pairs, value))
    for axis, (before, after) in enumerate(pairs):
        if before == after == 0:
            continue
        if before < 0 or after < 0:
            problem = f"axis {axis} gets {before} and {after} elements, and {mode} cannot take away"
            fail(ArgumentError, "pad", problem, x)
        node = _extended(node, axis, before, after, mode)
    return wrap(node)


def _widths(widths: Any, rank: int) -> Widths:
    """A pair of widths for each axis."""
    if isinstance(widths, np.ndarray):
        widths = widths.tolist()
    if not isinstance(widths, Sequence):
        return ((_width(widths), _width(widths)),) * rank
    listed = [each if isinstance(each, Sequence) else (each, each) for each in widths]
    if len(widths) == 2 and not any([isinstance(each, Sequence) for each in widths]):
        listed = [(widths[0], widths[1])] * rank
    if len(listed) != rank or any([len(each) != 2 for each in listed]):
        problem = f"the widths {list(widths)} are no pair for each of {rank} axes"
        fail(ShapeError, "pad", problem)
    return tuple([(_width(before), _width(after)) for before, after in listed])


def _width(value: Any) -> int:
    return as_integer(value, "pad", "a width")


def _constant(node: Node, pairs: Widths, value: Any) -> Node:
    """Elements of one number added; negative widths take elements away."""
    if isinstance(value, Handle):
        dtype = node.type.dtype
        inside = _constant(filled(True, node.type.shape, ir.boolean), pairs, False)
        added = cast_node(narrowed(value.node, dtype), dtype)
        return where(wrap(inside), wrap(_constant(node, pairs, 0)), wrap(added)).node
    for axis, (before, after) in enumerate(pairs):
        if before < 0 or after < 0:
            first = max(-before, 0)
            size = node.type.shape[axis] - first - max(-after, 0)
            if isinstance(size, int) and size < 0:
                problem = f"axis {axis} has not as many elements as are taken away"
                fail(ShapeError, "pad", problem, wrap(node))
            node = part(node, axis, first, size)
    low = tuple([max(before, 0) for before, _ in pairs])
    high = tuple([max(after, 0) for _, after in pairs])
    if not any(low) and not any(high):
        return node
    added = number(value, node.type.dtype, "pad").attributes
    return record(ops.Pad, (node,), (low, high, (0,) * len(low), *added))


def _extended(node: Node, axis: int, before: int, after: int, mode: str) -> Node:
    """One axis made longer by elements of its own."""
    size = looked_at(node.type.shape[axis])
    reach = {"reflect": size - 1, "circular": size, "edge": None}[mode]
    too_short = isinstance(reach, int) and max(before, after) > reach
    if too_short or (size == 0 and before + after):
        fail(
            ShapeError, "pad", f"axis {axis} of size {size} cannot be {mode}-padded by "
            f"{max(before, after)}", wrap(node), hint="pad by less, or with mode='constant'",
        )  # fmt: skip
    sides = ((before, True), (after, False))
    ends = [_end(node, axis, count, mode, front) for count, front in sides]
    parts = [each for each in (ends[0], node, ends[1]) if each is not None]
    return record(ops.Concat, tuple(parts), (axis,)) if len(parts) > 1 else node


def _end(node: Node, axis: int, count: int, mode: str, front: bool) -> Node | None:
    """What is put before an axis, or behind it."""
    if count == 0:
        return None
    size = node.type.shape[axis]
    if mode == "circular":
        return part(node, axis, size - count if front else 0, count)
    if mode == "reflect":
        mirrored = part(node, axis, 1 if front else size - 1 - count, count)
        return record(ops.Flip, (mirrored,), ((axis,),))
    outermost = part(node, axis, 0 if front else size - 1, 1)
    shape = (*node.type.shape[:axis], count, *node.type.shape[axis + 1 :])
    return record(ops.Broadcast, (outermost,), (shape, tuple(range(len(shape)))))


def unfold(x: Any, axis: int, size: int, step: int = 1, /) -> Tensor:
    """The windows of `size` elements along an axis, `step` apart; the windows' axis comes last."""
    node = as_node(x, "unfold")
    rank = len(node.type.shape)
    place = as_axis(axis, rank, "unfold")
    length = looked_at(node.type.shape[place])
    size, step = as_integer(size, "unfold", "a size"), as_integer(step, "unfold", "a step")
    if step < 1 or size < 0 or (isinstance(length, int) and size > length):
        problem = f"axis {place} of size {length} has no windows of {size}, {step} apart"
        fail(ArgumentError, "unfold", problem, x)
    count = not_negative((length - size) // step + 1)
    starts = record(ops.Iota, (), ((count, size), 0, ir.i64))
    offsets = record(ops.Iota, (), ((count, size), 1, ir.i64))
    if step != 1:
        starts = record(ops.Multiply, (starts, filled(step, (count, size), ir.i64)))
    places = wrap(record(ops.Add, (starts, offsets)))
    windows = getitem(wrap(node), (slice(None),) * place + (places,))
    return moveaxis(windows, place + 1, -1)
