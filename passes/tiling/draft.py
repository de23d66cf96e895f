"""A tile func of one op: what the authors of kernels of one op write with.

Comes in: the tensor func that it stands for, its params, and how the grid cuts axes into tiles.
Goes out: the `Stage` that launches it.
Never: a decision.
"""

from collections.abc import Sequence

from ...ir import tile
from ...ir.dims import Size
from ...ir.func import Func
from ...ir.values import AnyValue, Value
from .kernel import Param
from .opening import open_func, place_name
from .parts import Part, Stage
from .schedule import Schedule
from .writer import Round, Writer


class Draft(Writer):
    """`starts` says where the program's tile begins along each axis of the grid."""

    def __init__(
        self,
        source: Func,
        params: Sequence[Param],
        counts: Sequence[tuple[Size, int]],
        schedule: Schedule,
    ) -> None:
        opening = open_func(source, params, counts, schedule)
        super().__init__(opening)
        self.params, self.starts = params, opening.starts
        if source.results and source.results[0].op is not None:
            self.builders[0].location = source.results[0].op.location

    def element(self, view: AnyValue, *at: AnyValue) -> AnyValue:
        """One element of a view."""
        return self.emit(tile.Extract, self.load(view, at, *(1,) * len(at)))

    def put(self, view: AnyValue, value: AnyValue, *at: AnyValue) -> None:
        """Store one element."""
        self.store(view, self.full(value, *(1,) * len(at)), at)

    def counted(self, start: AnyValue, shape: tuple[int, ...], axis: int) -> AnyValue:
        """start, start + 1, … along an axis."""
        return self.add(self.full(start, *shape), self.iota(start.dtype, axis, *shape))

    def tiles(
        self,
        label: str,
        size: Size | AnyValue,
        step: int,
        body: Round,
        carries: Sequence[AnyValue] = (),
    ) -> tuple[AnyValue, ...]:
        """A loop over so many elements along an axis, in tiles."""
        lower, by = self.size(0), self.size(step)
        if isinstance(size, Value):
            return self.named_loop(None, label, (lower, size, by), body, carries)
        name = place_name(self.names, size)
        return self.named_loop(name, label, (lower, self.size(size), by), body, carries)

    def stage(self, arrays: Sequence[int]) -> Stage:
        """The finished func, which is handed these arrays, one a param."""
        func, grid = self.done()
        pairs = list(zip(arrays, self.params, strict=True))
        return Stage(
            func,
            tuple(Part(array, param.shape) for array, param in pairs if not param.written),
            tuple(Part(array, param.shape) for array, param in pairs if param.written),
            grid,
        )
