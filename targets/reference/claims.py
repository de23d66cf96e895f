"""How much memory the interpreter needs at least.

Comes in: a func, and the sizes of a call. Goes out: the bytes of the largest array that it makes.
Never: what is only seen in another way, which numpy makes no array of.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from math import prod
from typing import NamedTuple

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dims import DimError, evaluate
from ...ir.func import Func
from ...ir.types import Tensor
from ...ir.values import AnyValue

_SEEN = (
    tensor.Broadcast, tensor.Flip, tensor.Iota, tensor.Permute, tensor.Reshape, tensor.Slice,
    tensor.StopGradient,
)  # fmt: skip


class Made(NamedTuple):
    """The shape and the bytes of an element of arrays that are made."""

    shape: Shape
    itemsize: int


class Claims:
    """The arrays that a func makes, each kind of them once."""

    def __init__(self, func: Func) -> None:
        self.symbols = func.symbols
        self.made = [*dict.fromkeys(map(_made, _values(func)))]

    def most(self, sizes: Mapping[str, int]) -> int:
        """The bytes of the largest, among those whose size is known before it is made."""
        known = {symbol: sizes[symbol.name] for symbol in self.symbols if symbol.name in sizes}

        def bytes_of(made: Made) -> int:
            try:
                return prod([evaluate(size, known) for size in made.shape]) * made.itemsize
            except DimError:
                return 0

        return max(map(bytes_of, self.made), default=0)


def _values(func: Func) -> Iterator[AnyValue]:
    made = chain.from_iterable(op.results for op in func.walk() if not isinstance(op, _SEEN))
    return (value for value in chain(made, func.results) if isinstance(value.type, Tensor))


def _made(value: AnyValue) -> Made:
    return Made(value.type.shape, value.dtype.storage.itemsize)
