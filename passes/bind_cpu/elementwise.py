"""Arithmetic: what is done to a tile is done to each of its vectors.

Comes in: tile ops on scalars, or on tiles of one shape. Goes out: the loop ops of the same kinds.
Never: a comparison that is known to hold; it is a constant, and what it chose is chosen here.
"""

from typing import Any

import numpy as np

from ...ir import loop, tile
from ...ir.declare import Op
from ...ir.dtypes import boolean
from ...ir.loop import BinaryKind, CompareKind
from ...ir.payloads import Array
from ...ir.types import INDEX
from ...ir.values import AnyValue
from .binding import Binding, Rules
from .checks import Comparison, check_comparison, comparison_of
from .masks import below
from .registers import Registers, Shape, count_of, parts_shape, registers, width_of


def _same(op: type[Op], *names: str) -> Any:
    """The rule of an op that both floors have: part by part, with the same attributes."""

    def rule(binding: Binding, found: Any) -> Any:
        attributes = {name: getattr(found, name) for name in names}
        operands = [binding.values[operand] for operand in found.operands]

        def make(*parts: AnyValue) -> AnyValue:
            return binding.emitter.emit(op, *parts, **attributes)

        first, *others = operands
        return first.map(make, *others) if isinstance(first, Registers) else make(*operands)

    return rule


_binary, _compare, _select = (
    _same(loop.Binary, "kind"),
    _same(loop.Compare, "kind"),
    _same(loop.Select),
)


def bind_binary(binding: Binding, op: tile.Binary) -> Any:
    """A place is computed as places are; two conditions, of which one always holds, are one."""
    if op.result.type is INDEX:
        operands = binding.scalar(op.left), binding.scalar(op.right)
        found = binding.emitter.arithmetic(op.kind, *operands)
        return _binary(binding, op) if found is None else binding.emitter.value(found)
    if op.kind is BinaryKind.BIT_AND and op.result.dtype is boolean:
        left, right = binding.values[op.left], binding.values[op.right]
        if always(left):
            return right
        if always(right):
            return left
    return _binary(binding, op)


def bind_select(binding: Binding, op: tile.Select) -> Any:
    """What is always chosen."""
    predicate = binding.values[op.predicate]
    return binding.values[op.on_true] if always(predicate) else _select(binding, op)


def bind_compare(binding: Binding, op: tile.Compare) -> Any:
    """A comparison of places with an extent is true all over inside of it, or a mask."""
    found = comparison_of(op)
    if found is None:
        return _compare(binding, op)
    if binding.inside(check_comparison(binding.ranges, found)):
        return true_tile(binding, found)
    return mask_tile(binding, found)


def true_tile(binding: Binding, found: Comparison) -> Registers:
    """True all over."""
    width = width_of(found.shape, binding.lanes)
    row: Array = np.ones(width if width > 1 else (), np.bool_)
    true = binding.emitter.constant(row, boolean)
    return registers(found.shape, binding.lanes, [true] * count_of(found.shape, binding.lanes))


def mask_tile(binding: Binding, found: Comparison) -> Registers:
    """True for the places below the extent."""
    emitter, shape = binding.emitter, found.shape
    width, last = width_of(shape, binding.lanes), len(shape) - 1
    left = emitter.difference(binding.scalar(found.extent), binding.scalar(found.offset))

    def part(place: Shape) -> AnyValue:
        if found.axis == last:
            return below(emitter, left, place[-1] * width, width)
        here = emitter.number(place[found.axis])
        inside = emitter.compare(CompareKind.LESS, here, emitter.value(left))
        return emitter.splat(inside, width)

    places = np.ndindex(parts_shape(shape, width))
    return registers(shape, binding.lanes, [part(place) for place in places])


def always(bound: Any) -> bool:
    """Whether a predicate is a constant that is true all over."""
    parts = bound.values if isinstance(bound, Registers) else [bound]
    return all(
        isinstance(part.owner, loop.Constant) and bool(part.owner.value.array.all())
        for part in parts
    )


RULES: Rules = {
    tile.Unary: _same(loop.Unary, "kind"),
    tile.Binary: bind_binary,
    tile.Compare: bind_compare,
    tile.Select: bind_select,
    tile.Cast: _same(loop.Cast, "dtype"),
    tile.Bitcast: _same(loop.Bitcast, "dtype"),
}
