"""Which kernels a convolution becomes.

Comes in: a kernel func that consists of one convolution, and the target's chooser. Goes out:
`Stages`.
Never: a decision about a size that is not known yet.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

from ....ir import tensor
from ....ir.attributes import Shape
from ....ir.dims import MAX_SIZE, Dim, Size, Symbol, interval
from ....ir.dtypes import DType
from ....ir.func import Func
from ....ir.types import Tensor
from ..contract.matrix import Matrix, Role
from ..contract.packing import Panels, packing_func
from ..parts import Choice, Part, Stage, Stages, Within
from ..schedule import Chooser, KernelShape, Schedule
from .along import along_func
from .blocks import blocks_func, told
from .deep import deep_func
from .geometry import Geometry, geometry_of, summed
from .phases import phases
from .taking import taking_func
from .turned import turned_func

X, KERNEL, RESULT, ROOMS = range(4)
"""The numbers of arrays."""
FEW_CHANNELS = 2
"""So few output channels of a group are not worth a panel of them."""
LINE = 12
"""Lines of so many places are long enough to be loaded as they are."""
LARGE = 4
"""Windows of more elements than this are long enough to be loaded along themselves."""


def tile_convolution(func: Func, op: tensor.Convolve, choose: Chooser) -> Stages:
    """A convolution on the tile floor."""
    names = _Names()
    geometry = geometry_of(op, names.named)
    schedule = choose(KernelShape("convolve", geometry.dtype, geometry.wide))
    made = _branches(func, geometry, schedule)
    return Stages(func, (Within(made, (X, KERNEL, RESULT), names.known),))


@dataclass(slots=True)
class _Names:
    """Symbols for sizes that are none, so that other sizes may follow from them."""

    known: dict[Symbol, Size] = field(default_factory=dict[Symbol, Size])

    def named(self, size: Size) -> Size:
        """A size that is known, or a symbol."""
        if not isinstance(size, Dim) or isinstance(size, Symbol):
            return size
        for symbol, known in self.known.items():
            if known is size:
                return symbol
        low, high = interval(size)
        symbol = Symbol(f"size_{len(self.known)}", max(low, 0), min(high, MAX_SIZE))
        self.known[symbol] = size
        return symbol


def _branches(func: Func, geometry: Geometry, schedule: Schedule) -> Stages:
    """The stages, or where lines may be short and windows long, both kinds of them."""
    last, outputs = geometry.axes[-1], geometry.outputs
    few = isinstance(outputs, int) and outputs <= FEW_CHANNELS
    wide, deep = (_Plan.along, _Plan.deep) if few else (_Plan.blocks, _Plan.turned)
    places, window = last.places.size, last.window.size
    shortest, longest = interval(places)
    large = interval(window)[1] > LARGE and (longest < LINE or not isinstance(window, int))
    apart = geometry.groups > 1 and not few
    if apart or shortest >= LINE or not large:
        return _stages(func, geometry, schedule, wide)
    below = _stages(func, geometry, schedule, deep)
    if longest < LINE:
        return below
    enough = _stages(func, geometry, schedule, wide)
    return Stages(func, (Choice(places, LINE, enough, below),))


def _stages(
    func: Func,
    geometry: Geometry,
    schedule: Schedule,
    make: Callable[["_Plan", Geometry, Schedule], None],
) -> Stages:
    plan = _Plan(func)
    for number, phase in enumerate(phases(geometry)):
        plan.name = f"{func.name}_{number}" if number else func.name
        make(plan, phase, schedule)
    return Stages(func, tuple(plan.stages), tuple(plan.rooms))


@dataclass(slots=True)
class _Plan:
    """Stages that are being made."""

    func: Func
    name: str = ""
    stages: list[Stage] = field(default_factory=list[Stage])
    rooms: list[Tensor] = field(default_factory=list[Tensor])

    def along(self, geometry: Geometry, schedule: Schedule) -> None:
        """Nothing is packed."""
        made = along_func(self.name, self.func.location, geometry, schedule)
        reads = [Part(X, geometry.x_shape), Part(KERNEL, geometry.kernel_shape)]
        self._launch(made, reads, Part(RESULT, geometry.result_shape))

    def deep(self, geometry: Geometry, schedule: Schedule) -> None:
        """Nothing is packed."""
        made = deep_func(f"{self.name}_deep", self.func.location, geometry, schedule)
        reads = [Part(X, geometry.x_shape), Part(KERNEL, geometry.kernel_shape)]
        self._launch(made, reads, Part(RESULT, geometry.result_shape))

    def blocks(self, geometry: Geometry, schedule: Schedule) -> None:
        """The weights are packed once, for all programs."""
        name, location = self.name, self.func.location
        weights = self._taken(geometry, schedule)
        order = (Role.BATCH, Role.FREE, Role.CONTRACT)
        count = summed(geometry.taken_shape)
        lengths = dict(zip(order, (geometry.groups, geometry.outputs, count), strict=True))
        matrix = Matrix(weights, geometry.dtype, order, lengths)
        panels = Panels(matrix, schedule["m"], schedule["k"], False, geometry.wide)
        packed = self._room(panels.shape, panels.wide)
        packing = packing_func(f"{name}_pack", location, panels, schedule)
        self._launch(packing, [Part(weights, matrix.shape)], packed)
        reads = [Part(X, geometry.x_shape), packed]
        reads += [Part(KERNEL, param.shape) for param in told(geometry)]
        made = blocks_func(name, location, geometry, panels, schedule)
        self._launch(made, reads, Part(RESULT, geometry.result_shape))

    def turned(self, geometry: Geometry, schedule: Schedule) -> None:
        """Windows are packed one input channel at a time, and so are their weights."""
        name, location = self.name, self.func.location
        order = (Role.FREE, Role.BATCH, Role.CONTRACT)
        windows = prod([axis.window.count for axis in geometry.axes])
        sizes = dict(zip(order, (geometry.outputs, geometry.inputs, windows), strict=True))
        matrix = Matrix(self._taken(geometry, schedule), geometry.dtype, order, sizes)
        panels = Panels(matrix, schedule["m"], schedule["k"], False, geometry.wide)
        packed = self._room(panels.shape, panels.wide)
        packing = packing_func(f"{name}_pack_turned", location, panels, schedule)
        self._launch(packing, [Part(matrix.array, matrix.shape)], packed)
        reads = [Part(X, geometry.x_shape), packed, Part(KERNEL, geometry.kernel_shape)]
        made = turned_func(f"{name}_turned", location, geometry, panels, schedule)
        self._launch(made, reads, Part(RESULT, geometry.result_shape))

    def _taken(self, geometry: Geometry, schedule: Schedule) -> int:
        """The number of the array that has the elements which are taken, and no others."""
        if geometry.taken_shape == geometry.kernel_shape:
            return KERNEL
        name, location = f"{self.name}_taken", self.func.location
        room = self._room(geometry.taken_shape, geometry.dtype)
        made = taking_func(name, location, geometry, schedule)
        self._launch(made, [Part(KERNEL, geometry.kernel_shape)], room)
        return room.array

    def _room(self, shape: Shape, dtype: DType) -> Part:
        """A new array."""
        self.rooms.append(Tensor(shape, dtype))
        return Part(ROOMS + len(self.rooms) - 1, shape)

    def _launch(self, made: tuple[Func, Shape], reads: list[Part], written: Part) -> None:
        """Launch a func on its grid."""
        func, grid = made
        self.stages.append(Stage(func, tuple(reads), (written,), grid))
