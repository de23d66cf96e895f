"""Ops of the tensor floor that compute at each place, as ops of tiles.

Comes in: such an op, and the tiles or scalars that its operands have become. Goes out: the tile or
scalar of its result.
Never: a load, or an op that needs to know where it is.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir import tensor, tile
from ...ir.builder import Builder
from ...ir.dtypes import f8e4m3
from ...ir.payloads import Number
from ...ir.types import Scalar
from ...ir.values import AnyValue, Op

KINDS: dict[str, tuple[type[Op], Any]] = {
    **{f"tensor.{kind.value}": (tile.Unary, kind) for kind in tile.UnaryKind},
    **{f"tensor.{kind.value}": (tile.Binary, kind) for kind in tile.BinaryKind},
    **{f"tensor.{kind.value}": (tile.Compare, kind) for kind in tile.CompareKind},
}


def emit_elementwise(builder: Builder, op: Op, operands: Sequence[AnyValue]) -> AnyValue:
    """The op on tiles, or on scalars."""
    found = KINDS.get(op.name)
    if found is not None:
        cls, kind = found
        return builder.emit(cls, *operands, kind=kind)  # pyright: ignore[reportArgumentType]
    return _OTHERS[op.__class__](builder, op, *operands)


def has_form(cls: type[Op]) -> bool:
    """Whether ops of a class are ops on tiles, too."""
    return cls.name in KINDS or cls in _OTHERS


def filled_like(builder: Builder, number: AnyValue, like: AnyValue) -> AnyValue:
    """A scalar in the shape of a tile; as it is beside another scalar."""
    if isinstance(like.type, Scalar):
        return number
    return builder.emit(tile.Full, number, shape=like.type.shape)


def is_nan(builder: Builder, x: AnyValue) -> AnyValue:
    """NaN is the only number that is not equal to itself."""
    return builder.emit(tile.Compare, x, x, kind=tile.CompareKind.NOT_EQUAL)


def _is_nan(builder: Builder, op: Any, x: AnyValue) -> AnyValue:
    return is_nan(builder, x)


def _is_finite(builder: Builder, op: Any, x: AnyValue) -> AnyValue:
    if x.dtype is f8e4m3:  # which has no infinity
        return builder.emit(tile.Compare, x, x, kind=tile.CompareKind.EQUAL)
    length = builder.emit(tile.Unary, x, kind=tile.UnaryKind.ABSOLUTE)
    infinity = builder.emit(tile.Constant, Number(np.inf, x.dtype))
    limit = filled_like(builder, infinity, x)
    return builder.emit(tile.Compare, length, limit, kind=tile.CompareKind.LESS)


def _select(builder: Builder, op: Any, *operands: AnyValue) -> AnyValue:
    return builder.emit(tile.Select, *operands)


def _cast(builder: Builder, op: tensor.Cast, x: AnyValue) -> AnyValue:
    return x if op.dtype is x.dtype else builder.emit(tile.Cast, x, dtype=op.dtype)


def _bitcast(builder: Builder, op: tensor.Bitcast, x: AnyValue) -> AnyValue:
    return x if op.dtype is x.dtype else builder.emit(tile.Bitcast, x, dtype=op.dtype)


_OTHERS: dict[Any, Callable[..., AnyValue]] = {
    tensor.IsNan: _is_nan,
    tensor.IsFinite: _is_finite,
    tensor.Select: _select,
    tensor.Cast: _cast,
    tensor.Bitcast: _bitcast,
}
