"""Random kernels: chains of ops on tiles of random shapes, at random places of random views."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import boolean, f32, i32
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.payloads import Number
from brimstone.ir.types import View
from brimstone.ir.verifier import verify
from kit.bound import MACHINES, check

SIZES = (1, 2, 3, 4, 8, 16, 24)
Value = Any


class Draft:
    """A kernel that is made of random ops."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.func = Func(
            "drawn", [self.view(), self.view(), View(2, f32)], attributes={"grid": [3]}
        )
        self.builder = Builder(self.func.body)
        self.place = self.emit(tile.ProgramId, axis=0)

    def view(self) -> View:
        """A matrix whose rows lie together, or of which nothing is known."""
        return View(2, f32, {"unit_stride": 1} if self.draw.random() < 0.7 else {})

    def emit(self, op: type, *operands: Any, **attributes: Any) -> Value:
        return self.builder.emit(op, *operands, **attributes)

    def pick(self, *choices: Any) -> Any:
        return choices[self.draw.integers(len(choices))]

    def offset(self) -> Value:
        """Some multiple of the program's place, and a little more or less."""
        number = self.emit(tile.Constant, Number(int(self.draw.integers(-4, 12)), tile_index()))
        kind = self.pick(tile.BinaryKind.ADD, tile.BinaryKind.MULTIPLY, tile.BinaryKind.SUBTRACT)
        return self.emit(tile.Binary, self.place, number, kind=kind)

    def load(self) -> Value:
        shape = (self.pick(1, 2, 3, 4, 8), self.pick(*SIZES))
        view, offsets = self.pick(*self.func.arguments[:2]), [self.offset(), self.offset()]
        padding = Number(float(self.draw.integers(-2, 3)), f32)
        return self.emit(tile.Load, view, offsets, shape=shape, padding=padding)

    def change(self, x: Value) -> Value:
        """One more op on a tile."""
        rank = len(x.shape)
        axis = int(self.draw.integers(rank)) if rank else 0
        changes: list[Callable[[], Value]] = [
            lambda: self.emit(tile.Unary, x, kind=tile.UnaryKind.NEGATE),
            lambda: self.emit(tile.Binary, x, self.like(x), kind=tile.BinaryKind.MAXIMUM),
            lambda: self.emit(tile.Select, self.odd(x), x, self.like(x)),
        ]
        if rank:
            sizes = (*x.shape[:axis], self.pick(2, 3, 4), *x.shape[axis:])
            kept = tuple(each for each in range(rank + 1) if each != axis)
            order = tuple(int(each) for each in self.draw.permutation(rank))
            flat = (int(np.prod(x.shape)),)
            changes += [
                lambda: self.emit(tile.Reduce, x, axis=axis, kind=tile.ReduceKind.MINIMUM),
                lambda: self.emit(tile.Scan, x, axis=axis, kind=tile.ScanKind.MAXIMUM),
                lambda: self.emit(tile.Permute, x, axes=order),
                lambda: self.emit(tile.Reshape, x, shape=flat),
                lambda: self.emit(tile.Concat, [x, self.like(x)], axis=axis),
                lambda: self.emit(tile.Broadcast, x, shape=sizes, axes=kept),
            ]
        return self.pick(*changes)()

    def like(self, x: Value) -> Value:
        """Another tile of this type."""
        if not x.shape:
            return x
        axis = int(self.draw.integers(len(x.shape)))
        return self.emit(tile.Iota, shape=x.shape, axis=axis, dtype=f32)

    def odd(self, x: Value) -> Value:
        """A predicate."""
        whole = self.emit(tile.Cast, x, dtype=i32)
        return self.emit(tile.Cast, whole, dtype=boolean)

    def finish(self, x: Value) -> Func:
        count = int(np.prod(x.shape))
        row = self.emit(tile.Reshape, x, shape=(1, count))
        self.builder.emit_all(tile.Store, self.func.arguments[2], row, [self.place, self.offset()])
        self.builder.emit_all(Return, [])
        verify(Module([self.func]))
        return self.func


def tile_index() -> Any:
    """The dtype of places."""
    from brimstone.ir.dtypes import i64

    return i64


@pytest.mark.parametrize("seed", range(60))
def test_random_kernels(seed: int) -> None:
    draft = Draft(seed)
    value = draft.load()
    for _ in range(int(draft.draw.integers(1, 7))):
        if np.prod(value.shape) <= 96:
            value = draft.change(value)
    func, draw = draft.finish(value), draft.draw
    shapes = [(int(draw.integers(1, 12)), int(draw.integers(1, 40))) for _ in range(2)]
    arrays = [draw.integers(-9, 10, shape).astype(np.float32) for shape in shapes]
    check(func, [*arrays, np.zeros((3, 64), np.float32)], MACHINES[seed % 3])
