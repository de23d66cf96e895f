"""How arrays lie in memory, as kernels are handed them.

Comes in: types, and what sizes are. Goes out: a `Layout` for each, found once.
Never: where an array begins.
"""

from typing import Any, NamedTuple

from ...ir.dtypes import DType
from ...ir.types import Scalar, Type
from ..sizes import Numbers

Shape = tuple[int, ...]


class Layout(NamedTuple):
    """An array as kernels are handed it: its shape, its bytes, and a slot for its address with
    those of its sizes and strides behind it."""

    shape: Shape
    bytes: int
    slots: list[int]

    @classmethod
    def of(cls, shape: Shape, dtype: DType) -> "Layout":
        """That of a row-major array."""
        count, strides = 1, list[int]()
        for size in reversed(shape):
            strides.append(count)
            count *= size
        return cls(shape, count * dtype.itemsize, [0, *shape, *reversed(strides)])


NOWHERE = Layout((), 0, [])
"""That of a number, which is no array."""


class Layouts(dict[Type, Layout]):
    """Those of values by their types, where sizes are these numbers."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__()
        self._numbers = numbers

    def __missing__(self, type_: Any) -> Layout:
        found = NOWHERE
        if not isinstance(type_, Scalar):
            found = Layout.of(tuple([self._numbers[size] for size in type_.shape]), type_.dtype)
        self[type_] = found
        return found
