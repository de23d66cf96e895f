"""What the ops of the `tile` floor share: their base class, and rules on operands.

Comes in: declarations of ops on views, tiles and scalars. Goes out: the vocabulary they use.
Never: lanes, registers, vectors, complex numbers.
"""

from collections.abc import Sequence
from typing import Any

from ..declare import Op
from ..dtypes import ALL, COMPLEXES, DType
from ..errors import require
from ..types import Scalar, Shaped, Tile, Type
from ..values import AnyValue

VALUES = ALL - COMPLEXES
"""What tiles, scalars and memory hold here; complex numbers live on the tensor floor only."""


class TileOp(Op):
    """The base of the ops of this floor."""

    def run(self, frame: Any, *operands: Any, **_: Any) -> Any:
        """The numpy meaning, in one program: arrays and windows in, arrays out. (With `**_`, type
        checkers let each op name its own operands.)"""
        raise NotImplementedError(self.name)


def retyped(type_: Scalar | Tile, dtype: DType) -> Any:
    """A scalar, or a tile of the same shape, of another dtype."""
    return type_.with_dtype(dtype) if isinstance(type_, Shaped) else Scalar(dtype)


def sizes_of(tile: Tile) -> tuple[int, ...]:
    """The shape of a tile, as the plain integers that it consists of."""
    return tuple([int(size) for size in tile.shape])  # pyright: ignore[reportArgumentType]


def check_axis(axis: int, type_: Tile) -> None:
    """Refuse an axis that the tile does not have."""
    require(0 <= axis < type_.rank, "the tile has no such axis", axis, type_)


def one_an_axis(what: str, given: Sequence[Type], rank: int) -> None:
    """Refuse another number of operands than the view has axes."""
    require(len(given) == rank, f"{len(given)} {what} for a view of rank {rank}")


def types_of(values: Sequence[AnyValue]) -> tuple[Any, ...]:
    """The types of some values."""
    return tuple([value.type for value in values])


def handed_back(values: tuple[Any, ...]) -> Any:
    """What an op's `run` returns for these results: one is not wrapped."""
    return values[0] if len(values) == 1 else values
