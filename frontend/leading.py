"""Which sizes of a function's arguments may be other ones in the next call.

Comes in: the types of the tensors of each argument. Goes out: symbols for the sizes of their first
axes, where these look like those of a batch.
Never: a promise: while the function is traced, each symbol is a number for whoever looks at it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.dims import DEFAULT_MAXIMUM, Symbol
from ..ir.dtypes import u32
from ..ir.types import Tensor as TensorType

Opened = Symbol | None
"""What stands for the size of a tensor's first axis, if that is left open."""


def leading_sizes(arguments: Sequence[Sequence[TensorType]]) -> list[Opened]:
    """Which sizes of a function's tensors may be left open: that of the first axis of all tensors
    of an argument, such as a batch, unless another such argument has it in another axis."""
    batches = [_batch(types) for types in arguments]
    others = {
        size
        for types, batch in zip(arguments, batches, strict=True)
        if batch is not None
        for type_ in types
        for size in type_.shape[1:]
    }
    wanted = dict.fromkeys([size for size in batches if size is not None and size not in others])
    symbols = {size: Symbol(f"n{place}", 2) for place, size in enumerate(wanted)}
    return [
        symbols.get(batch) if type_.shape and batch is not None else None
        for types, batch in zip(arguments, batches, strict=True)
        for type_ in types
    ]


def is_known_as(symbol: Symbol, type_: TensorType, numbers: dict[Symbol, int]) -> bool:
    """Whether a symbol may stand for the size of a tensor's first axis, beside the numbers that are
    known, to which that is added."""
    size = type_.shape[0] if type_.shape else 0
    assert isinstance(size, int)
    return numbers.setdefault(symbol, size) == size and symbol.admits(size)


def _batch(types: Sequence[TensorType]) -> int | None:
    """The size of the first axis of all tensors of an argument, if it may be that of a batch."""
    first = {type_.shape[0] for type_ in types if type_.shape}
    is_key = any([type_.dtype is u32 and type_.shape == (2,) for type_ in types])  # a random one
    size = first.pop() if len(first) == 1 and not is_key else None
    return size if isinstance(size, int) and 2 <= size <= DEFAULT_MAXIMUM else None
