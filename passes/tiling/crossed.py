"""A program of several rows, which sums up across them what it computes along them.

Comes in: a `Kernel` that reduces along its last axis, and what is to be summed `across` the other.
Goes out: the body of its tile func, as of any `Program`.
Never: the whole of a sum across rows; each program leaves what its own rows come to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...ir import tile
from ...ir.func import Yield
from ...ir.tensor.reduce import Reduction
from ...ir.types import INDEX
from ...ir.values import AnyValue
from .emit import Scope, nothing
from .kernel import Across, Output, Param
from .opening import place_name
from .program import Program
from .reductions import KINDS, first_carries, folded

ROWS, COLUMNS = 0, 1


@dataclass(slots=True, kw_only=True)
class Crossed(Program):
    """`chunk` numbers the rows that the program has."""

    chunk: AnyValue
    across: Across

    def write(self, starts: dict[int, AnyValue], looped: Sequence[int]) -> None:
        """Sums of nothing, to which each row then adds its own."""
        self.emitter.scopes.append(Scope(self.emitter.sizes.builder, starts))
        for param, op in self.across.sums.items():
            self._clear(param, op)
        self._nest(looped, [], lambda _: self._rows(), "rows")

    def _clear(self, param: Param, op: Reduction) -> None:
        """Write what a sum is before anything is added."""
        sizes = self.emitter.sizes
        size, step = self.kernel.space.sizes[COLUMNS], self.emitter.tiles[COLUMNS]
        inner = sizes.builder.nest([INDEX])
        (at,) = inner.block.arguments
        at.name = place_name(self.names, size)
        (first,) = first_carries(inner, op, (1, step), 0)
        inner.emit_all(tile.Store, self.emitter.views[param], first, [self.chunk, at])
        inner.emit_all(Yield, [])
        bounds = sizes.number(0), sizes.scalar(size), sizes.number(step)
        sizes.builder.emit_all(tile.For, *bounds, [], body=inner.block, label="columns")

    def _store(self, output: Output) -> None:
        op: Any = self.across.sums.get(output.param)
        if op is None:
            self.emitter.store(output)
            return
        builder, view = self.emitter.scopes[-1].builder, self.emitter.views[output.param]
        builder.location = op.location
        x = folded(builder, op, self.emitter.tile(output.node), ())
        offsets = [self.chunk, self.emitter.start(COLUMNS)]
        padding, shape = nothing(x.dtype), x.type.shape
        before = builder.emit(tile.Load, view, offsets, shape=shape, padding=padding)
        after = builder.emit(tile.Binary, before, x, kind=KINDS[op.__class__][0])
        builder.emit_all(tile.Store, view, after, offsets)

    def _bounds(self, axis: int) -> tuple[AnyValue, AnyValue]:
        if axis != ROWS:
            return Program._bounds(self, axis)
        extent = self.emitter.sizes.scalar(self.kernel.space.sizes[ROWS])
        return self._chunk(self.chunk, self.across.rows, extent)
