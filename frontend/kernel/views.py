"""Views in a kernel: the memory of arguments and results, where tiles come from and go to.

Comes in: places, as numbers, sizes or Python integers, one an axis. Goes out: tiles.
Never: an access beyond a view: outside, a reader finds padding, and what is written is dropped.
"""

from __future__ import annotations

from typing import Any

from ...ir import dtypes as ir
from ...ir import tile as ops
from ...ir.dims import Dim
from ...ir.tensor.indexing import Combiner
from ...ir.values import AnyValue
from ..dtypes import OF_IR, DType
from ..errors import ArgumentError, DTypeError, ShapeError, fail
from ..functions.common import as_integer, number
from .draft import Draft, current
from .values import NO_TENSOR_HINT, Value, broadcast, lifted, made, stretched

_COMBINERS = {each.value: each for each in Combiner if each is not Combiner.SET}


class View:
    """A window on memory; `shape` are sizes, known when the kernel runs, and Python integers."""

    __slots__ = ("draft", "ir", "name", "shape", "writable")
    no_tensor_hint = NO_TENSOR_HINT

    def __init__(
        self, draft: Draft, value: AnyValue, name: str, shape: tuple[Any, ...], writable: bool
    ) -> None:
        self.draft, self.ir, self.name = draft, value, name
        self.shape, self.writable = shape, writable

    @property
    def dtype(self) -> DType:
        """The element type."""
        return OF_IR[self.ir.dtype]

    def __repr__(self) -> str:
        return f"<view {self.name} of {self.dtype}{list(self.shape)}>"

    def load(self, at: Any = (), shape: Any = (), padding: Any = 0) -> Any:
        """The tile of a shape that begins at a place: a number, or a tuple with one an axis."""
        places = self._places("load", at)
        sizes = tile_shape("load", shape)
        self._check_rank("load", len(sizes), "a tile")
        (filler,) = number(padding, self.ir.dtype, "load").attributes
        value = self.draft.emit(ops.Load, self.ir, places, shape=sizes, padding=filler)
        return made(value)

    def store(self, at: Any, value: Any) -> None:
        """Put a tile at a place."""
        places, stored = self._writing("store", at, value)
        self.draft.emit_all(ops.Store, self.ir, stored, places)

    def combine(self, at: Any, value: Any, combiner: str = "add") -> None:
        """Combine a tile with what stands at a place; programs that meet there take turns."""
        places, combined = self._writing("combine", at, value)
        kind = _combiner("combine", combiner)
        self.draft.emit_all(ops.Atomic, self.ir, combined, places, combiner=kind)

    def gather(self, *indices: Any, padding: Any = 0) -> Any:
        """The elements at the places that tiles of integers name, one tile an axis."""
        places = self._indices("gather", indices)
        (filler,) = number(padding, self.ir.dtype, "gather").attributes
        return made(self.draft.emit(ops.Gather, self.ir, places, padding=filler))

    def scatter(self, indices: Any, value: Any, combiner: str = "set") -> None:
        """Put elements, or combine them, at the places that tiles of integers name."""
        listed = indices if isinstance(indices, tuple) else (indices,)
        places = self._indices("scatter", listed)
        self._check_writable("scatter")
        stored = broadcast(lifted("scatter", value, self.ir.dtype), places[0].type.shape)
        self._check_dtype("scatter", stored)
        kind = Combiner.SET if combiner == "set" else _combiner("scatter", combiner)
        self.draft.emit_all(ops.Scatter, self.ir, stored, places, combiner=kind)

    def _places(self, name: str, at: Any) -> list[AnyValue]:
        listed: tuple[Any, ...] = at if isinstance(at, tuple) else (at,)
        self._check_rank(name, len(listed), "a place")
        return [_place(name, each) for each in listed]

    def _indices(self, name: str, indices: tuple[Any, ...]) -> list[AnyValue]:
        self._check_rank(name, len(indices), "an index")
        return stretched(name, [lifted(name, each, ir.i64) for each in indices])

    def _writing(self, name: str, at: Any, value: Any) -> tuple[list[AnyValue], AnyValue]:
        """The places, and the tile that goes there."""
        self._check_writable(name)
        stored = lifted(name, value, self.ir.dtype)
        if not isinstance(value, Value) or not value.shape:
            stored = broadcast(stored, (1,) * len(self.shape))
        self._check_rank(name, len(stored.type.shape), "a tile")
        self._check_dtype(name, stored)
        return self._places(name, at), stored

    def _check_writable(self, name: str) -> None:
        if not self.writable:
            fail(
                ArgumentError, name, f"{self.name} is an argument, which nobody writes", self,
                hint="write to what `tiles.result(shape, dtype)` returns",
            )  # fmt: skip

    def _check_rank(self, name: str, found: int, what: str) -> None:
        current(name).check_own(self.draft, name)
        rank = len(self.shape)
        if found != rank:
            problem = f"{what} of rank {found} for {self.name}, which has {rank} axes"
            fail(ShapeError, name, problem, self)

    def _check_dtype(self, name: str, value: AnyValue) -> None:
        if value.dtype is not self.ir.dtype:
            problem = f"a tile of {OF_IR[value.dtype]} goes to {self.name} of {self.dtype}"
            fail(DTypeError, name, problem, hint="cast it with `.astype(...)`")


def tile_shape(name: str, shape: Any) -> tuple[int, ...]:
    """The shape of a tile: plain integers, which are known when the kernel is traced."""
    listed: Any = shape if isinstance(shape, tuple | list) else (shape,)
    for each in listed:
        if isinstance(each, Dim | Value):
            fail(
                ShapeError, name, f"a tile has a size that Python knows, not {each}",
                hint="take it as a setting of the kernel, such as `*, tile=64`, or state that the "
                "size is some integer with `tiles.equal(x.shape[0], 64)`",
            )  # fmt: skip
    sizes = tuple(as_integer(each, name, "a size of a tile") for each in listed)
    if any(size < 1 for size in sizes):
        fail(ShapeError, name, f"a tile has sizes from 1 on, not {list(sizes)}")
    return sizes


def _place(name: str, place: Any) -> AnyValue:
    """One offset."""
    value = lifted(name, place, ir.i64)
    if value.dtype is not ir.i64 or (isinstance(place, Value) and place.shape):
        fail(
            DTypeError, name, "a place is one integer of int64", place,
            hint="cast a number with `.astype('int64')`; tiles of places are for `gather`",
        )  # fmt: skip
    return value


def _combiner(name: str, combiner: str) -> Combiner:
    if combiner not in _COMBINERS:
        known = ", ".join(_COMBINERS)
        fail(ArgumentError, name, f"there is no combiner {combiner!r}; there are: {known}")
    return _COMBINERS[combiner]
