"""Memory: tiles are loaded from views and stored to them.

Comes in: views, offsets or index tiles, tiles to store. Goes out: tiles.
Never: an access beyond a view: what lies outside is padding to a reader, and dropped for a writer.
No program may read what another one writes, or write what another one does, but by `tile.atomic`
and combining `tile.scatter`; neither hands back what was there, so the order of programs never
shows (but for the rounding of floats).
"""

from collections.abc import Callable, Sequence
from typing import Any

from .. import types
from ..declare import Attr, Effect, Operand, Operands, Result, among
from ..dtypes import INTEGERS, REALS, DType, i64
from ..errors import require
from ..payloads import Array, Number, Payload
from ..shared.kinds import BinaryKind, evaluate
from ..tensor.indexing import Combiner
from ..types import Scalar, Tile, Type
from .base import VALUES, TileOp, one_an_axis, sizes_of, types_of
from .facts import check_facts
from .window import Window, block_places


class Reader(TileOp):
    """A read, in which `padding` stands for all that lies outside of the view."""

    view: Operand[types.View] = among(VALUES)


class Load(Reader, name="tile.load", effects=(Effect.READ,)):
    """The block of `shape` that begins at `offsets`, which may lie anywhere."""

    offsets: Operands[Scalar] = among({i64})
    shape: Attr[tuple[int, ...]]
    padding: Attr[Payload]
    result: Result[Tile]

    @staticmethod
    def infer(
        view: types.View, offsets: Sequence[Scalar], shape: tuple[int, ...], padding: Payload
    ) -> Tile:
        check_read(view, offsets, padding)
        require(len(shape) == view.rank, f"a block of rank {len(shape)} of a view", view)
        return Tile(shape, view.dtype)

    def run(self, frame: Any, view: Window, *offsets: Array) -> Array:
        return view.read_block(offsets, self.shape, self.padding.array)


class Gather(Reader, name="tile.gather", effects=(Effect.READ,)):
    """The elements at the places that the index tiles name, one tile an axis of the view."""

    indices: Operands[Tile] = among(INTEGERS)
    padding: Attr[Payload]
    result: Result[Tile]

    @staticmethod
    def infer(view: types.View, indices: Sequence[Tile], padding: Payload) -> Tile:
        check_read(view, indices, padding)
        return Tile(common_shape(indices), view.dtype)

    def run(self, frame: Any, view: Window, *indices: Array) -> Array:
        return view.read(indices, indices[0].shape, self.padding.array)


class Writer(TileOp):
    """A write of `value`, of which the part outside of the view is dropped."""

    view: Operand[types.View] = among(VALUES)
    value: Operand[Tile]


class Store(Writer, name="tile.store", effects=(Effect.WRITE,)):
    """Put a tile at `offsets`, which may lie anywhere."""

    offsets: Operands[Scalar] = among({i64})

    def check(self) -> None:
        check_write(self.view.type, self.value.type, types_of(self.offsets))
        check_block(self.view.type, self.value.type)

    def run(self, frame: Any, view: Window, value: Array, *offsets: Array) -> tuple[()]:
        view.write_block(offsets, value)
        return ()


class Atomic(Writer, name="tile.atomic", effects=(Effect.READ, Effect.WRITE)):
    """Combine a tile with what stands at `offsets`; programs that meet there take turns."""

    view: Operand[types.View] = among(REALS)
    offsets: Operands[Scalar] = among({i64})
    combiner: Attr[Combiner]

    def check(self) -> None:
        check_write(self.view.type, self.value.type, types_of(self.offsets))
        check_block(self.view.type, self.value.type)
        require(self.combiner is not Combiner.SET, "to set is no combination, but a store")

    def run(self, frame: Any, view: Window, value: Array, *offsets: Array) -> tuple[()]:
        combine = combination(self.combiner, self.value.dtype)
        view.combine(block_places(offsets, value.shape), value, combine)
        return ()


class Scatter(Writer, name="tile.scatter", effects=(Effect.READ, Effect.WRITE)):
    """Combine each element of a tile with the one at the place that the index tiles name, one tile
    an axis of the view. Where places repeat, elements take turns in row-major order; `set` keeps
    the last of them, and any other combiner is atomic between programs."""

    indices: Operands[Tile] = among(INTEGERS)
    combiner: Attr[Combiner] = Combiner.SET

    def check(self) -> None:
        indices = types_of(self.indices)
        check_write(self.view.type, self.value.type, indices)
        same = common_shape(indices) == self.value.type.shape
        require(same, "the indices have another shape than the value", *indices)
        able = self.combiner is Combiner.SET or self.value.dtype in REALS
        require(able, f"cannot {self.combiner.value} elements of this dtype", self.value.dtype)

    def run(self, frame: Any, view: Window, value: Array, *indices: Array) -> tuple[()]:
        if self.combiner is Combiner.SET:
            view.write(indices, value)
        else:
            view.combine(indices, value, combination(self.combiner, self.value.dtype))
        return ()


def check_read(view: types.View, places: Sequence[Type], padding: Payload) -> None:
    """Refuse places of another rank, and padding of another dtype."""
    check_facts(view)
    one_an_axis("offsets or indices", places, view.rank)
    fits = isinstance(padding, Number) and padding.dtype is view.dtype
    require(fits, f"padding is {padding}, expected one number of {view.dtype}")


def check_write(view: types.View, value: Tile, places: Sequence[Type]) -> None:
    """Refuse places of another rank, and a value of another dtype."""
    check_facts(view)
    one_an_axis("offsets or indices", places, view.rank)
    require(value.dtype is view.dtype, "a tile is stored to a view of another dtype", value, view)


def check_block(view: types.View, value: Tile) -> None:
    """Refuse a block of another rank."""
    require(value.rank == view.rank, "a tile is stored to a view of another rank", value, view)


def common_shape(indices: Sequence[Tile]) -> tuple[int, ...]:
    """The one shape that all index tiles have."""
    require(indices, "a view of rank 0 is not indexed; load or store it")
    require(len({tile.shape for tile in indices}) == 1, "the index tiles differ in shape", *indices)
    return sizes_of(indices[0])


def combination(combiner: Combiner, dtype: DType) -> Callable[[Array, Array], Array]:
    """How two elements of memory are combined: computed wide, and rounded each time."""
    kind = BinaryKind(combiner.value)
    return lambda old, new: evaluate(kind, dtype, dtype, old, new)
