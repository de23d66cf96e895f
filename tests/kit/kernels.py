"""Kernels of the tile floor for tests: built on rows of inputs, run amid poison.

Comes in: what one op is tested with. Goes out: a kernel of 4 programs, each for 8 of 29 rows; and
windows whose memory notes what is read and shows what was overwritten.
Never: a test.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brimstone.ir import tile
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import i64, of_numpy
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.payloads import Number
from brimstone.ir.types import View

Array = Any
Value = Any
ROWS, TILE, PROGRAMS = 29, 8, 4
WIDTHS = {13: 16, 11: 16, 4: 4}


@dataclass
class Case:
    """How the kernel is built, from which inputs, and what comes out."""

    build: Callable[..., Value]
    inputs: Sequence[Array]
    meaning: Callable[..., Array] | None
    whole: Array
    padding: float

    @property
    def result(self) -> Array:
        """What the output holds in the end."""
        if self.meaning is None:
            return self.whole
        blocks = [self.meaning(at, *self.blocks(at)) for at in range(PROGRAMS)]
        together = np.concatenate(blocks)[:ROWS]
        widths = [each.shape[1] for each in self.inputs if each.ndim > 1]
        return together[:, : widths[-1]] if together.ndim > 1 else together

    def blocks(self, at: int) -> list[Array]:
        """The rows of a program, padded to a tile; inputs of other sizes whole."""
        return [self.block(each, at) if len(each) == ROWS else each for each in self.inputs]

    def block(self, array: Array, at: int) -> Array:
        shape = (PROGRAMS * TILE, *(WIDTHS[size] for size in array.shape[1:]))
        return padded(array, shape, self.padding)[at * TILE :][:TILE]


class Kernel:
    """A kernel being built; called with an op class, it emits the op."""

    def __init__(self, case: Case) -> None:
        arrays = [*case.inputs, case.result]
        types = [View(array.ndim, of_numpy(array.dtype)) for array in arrays]
        self.func = Func("kernel", types, attributes={"grid": [PROGRAMS]})
        self.builder = Builder(self.func.body)
        *self.views, self.out = self.func.arguments
        self.program = self(tile.ProgramId, axis=0)
        self.row = self(tile.Binary, self.program, self.number(TILE), kind=tile.BinaryKind.MULTIPLY)
        self.padding = case.padding

    def __call__(self, op: type, *operands: Any, **attributes: Any) -> Value:
        return self.builder.emit(op, *operands, **attributes)

    def do(self, op: type, *operands: Any, **attributes: Any) -> None:
        """Emit an op without results."""
        self.builder.emit_all(op, *operands, **attributes)

    def number(self, value: Any, dtype: Any = i64) -> Value:
        return self(tile.Constant, Number(value, dtype))

    def full(self, value: Value) -> Value:
        return self(tile.Full, value, shape=(TILE,))

    def rows(self) -> Value:
        """The numbers of the program's rows."""
        counted = self(tile.Iota, shape=(TILE,), axis=0, dtype=i64)
        return self(tile.Binary, counted, self.full(self.row), kind=tile.BinaryKind.ADD)

    def places(self) -> Value:
        """2 * row - 5, of which some lie outside on either side."""
        twice = self(
            tile.Binary, self.rows(), self.full(self.number(2)), kind=tile.BinaryKind.MULTIPLY
        )
        return self(tile.Binary, twice, self.full(self.number(5)), kind=tile.BinaryKind.SUBTRACT)

    def load(self, view: Value, array: Array) -> Value:
        """A tile of the program's rows."""
        shape = (TILE, *(WIDTHS[size] for size in array.shape[1:]))
        return self(tile.Load, view, self.at(array.ndim), shape=shape, padding=self.pad(view))

    def whole(self, view: Value, *shape: int) -> Value:
        """A tile of all rows."""
        zeros = [self.number(0)] * len(shape)
        return self(tile.Load, view, zeros, shape=shape, padding=self.pad(view))

    def at(self, rank: int) -> list[Value]:
        return [self.row, *[self.number(0)] * (rank - 1)]

    def pad(self, view: Value) -> Number:
        kind = float if view.dtype.storage.kind not in "iu" else int
        return Number(kind(self.padding), view.dtype)

    def loaded(self, case: Case) -> list[Value]:
        """A tile of the program's rows of each input that has so many."""
        pairs = zip(self.views, case.inputs, strict=True)
        return [self.load(view, array) for view, array in pairs if len(array) == ROWS]

    def finish(self, made: Value | None) -> Module:
        if made is not None:
            self.do(tile.Store, self.out, made, self.at(self.out.type.rank))
        self.do(Return, [])
        return Module([self.func])


def numbers(*shape: int, dtype: Any = np.float32, low: int = -9) -> Array:
    """Small whole numbers, of which sums are exact in any order."""
    return np.random.default_rng(sum(shape)).integers(low, 10, shape).astype(dtype)


def padded(array: Array, shape: tuple[int, ...], padding: float = 0.0) -> Array:
    result = np.full(shape, padding, np.float64).astype(array.dtype)
    result[tuple(slice(size) for size in array.shape)] = array
    return result


class Watched(np.ndarray):
    """Memory that notes which addresses are read."""

    read: set[int]

    @classmethod
    def of(cls, window: tile.Window) -> tile.Window:
        """The same window, on memory that is watched."""
        memory = window.memory.view(cls)
        memory.read = set()
        return tile.Window(memory, window.offset, window.sizes, window.strides)

    def __getitem__(self, key: Any) -> Any:
        self.read.update(np.asarray(np.arange(self.size)[key]).ravel().tolist())
        return np.asarray(self)[key]


def window_on(array: Array, place: int) -> tile.Window:
    """Poisoned memory at strides like -9, 5; each argument has others."""
    strides, step = [], (2 * place + 3) * (-1) ** place
    for size in reversed(array.shape):
        strides.insert(0, step)
        step = -(abs(step) * size + 2)
    return tile.poisoned(array, strides)


def addresses_read(window: tile.Window) -> set[int]:
    """The addresses of watched memory that were read."""
    assert isinstance(window.memory, Watched)
    return window.memory.read


def shown(window: tile.Window) -> set[int]:
    """The addresses that a window shows."""
    addresses = np.asarray(window.offset)
    for size, stride in zip(window.sizes, window.strides, strict=True):
        addresses = addresses[..., None] + np.arange(size) * stride
    return set(addresses.ravel().tolist())
