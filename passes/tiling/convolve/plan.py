"""Which kernels a convolution becomes.

Comes in: a kernel func that consists of one convolution, and the target's chooser. Goes out:
`Stages`, of kernels that depend on how many output channels a group has:

                                     many      few
    usually                          blocks    along
    windows are large, lines short   turned    deep

Never: a decision about a size that is not known yet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod

from ....ir import tensor
from ....ir.dims import MAX_SIZE, Dim, Size, Symbol, interval
from ....ir.func import Func
from ..contract.matrix import Matrix, Role
from ..contract.packing import Panels, packing_func
from ..late import Made
from ..opening import Heading
from ..parts import Part, Stages, Within
from ..schedule import Chooser, KernelShape, Schedule
from ..staging import Staging, by_size
from .along import along_func
from .blocks import blocks_func, kernel_for_sizes
from .deep import deep_func
from .geometry import Geometry, geometry_of, summed
from .phases import MANY, phases
from .taking import room_shape, taking_func
from .turned import turned_func

X, KERNEL, RESULT = range(3)
"""The numbers of arrays."""
FEW_CHANNELS = 2
"""So few output channels of a group are not worth a panel of them."""
LINE = 12
"""Lines of so many places are long enough to be loaded as they are."""
LARGE = 4
"""Windows of more elements than this are long enough to be loaded along themselves."""


def tile_convolution(func: Func, op: tensor.Convolve, choose: Chooser) -> Stages:
    """A convolution on the tile floor."""
    names = _Names({symbol.name for symbol in func.symbols}, prod(op.input_dilation) > MANY)
    geometry = geometry_of(op, names.named)
    schedule = choose(KernelShape("convolve", geometry.dtype, geometry.wide))
    made = _branches(func, geometry, schedule)
    return Stages(func, (Within(made, (X, KERNEL, RESULT), names.known),))


@dataclass(slots=True)
class _Names:
    """Symbols for sizes that are none, so that other sizes may follow from them; `multiples`: it
    counts what they are multiples of, since then phases are alike."""

    taken: set[str]
    multiples: bool
    known: dict[Symbol, Size] = field(default_factory=lambda: {})

    def named(self, size: Size) -> Size:
        """A size that is known, or a symbol."""
        if not isinstance(size, Dim) or isinstance(size, Symbol):
            return size
        for symbol, known in self.known.items():
            if known is size:
                return symbol
        low, high = interval(size)
        multiple = max(size.multiple, 1) if self.multiples else 1
        name = f"size_{len(self.known)}"
        while name in self.taken:
            name += "_"
        symbol = Symbol(name, max(low, 0), min(high, MAX_SIZE), multiple)
        self.known[symbol] = size
        return symbol


def _branches(func: Func, geometry: Geometry, schedule: Schedule) -> Stages:
    """The stages, or where lines may be short and windows long, both kinds of them."""
    last, outputs = geometry.axes[-1], geometry.outputs
    few = isinstance(outputs, int) and outputs <= FEW_CHANNELS
    wide, deep = (_Plan.along, _Plan.deep) if few else (_Plan.blocks, _Plan.turned)
    places, window = last.places.size, last.window.size
    surely_short = interval(places)[1] < LINE
    large = interval(window)[1] > LARGE and (surely_short or not isinstance(window, int))
    made = partial(_stages, func, geometry, schedule)
    if not large or (geometry.groups > 1 and not few):
        return made(wide)
    return by_size(func, places, LINE, lambda: made(wide), lambda: made(deep))


def _stages(
    func: Func, geometry: Geometry, schedule: Schedule, make: Callable[["_Plan"], None]
) -> Stages:
    """The stages of all phases, each of which is made in the same way."""
    staging = Staging.of(func)
    for number, phase in enumerate(phases(geometry)):
        name = f"{func.name}_{number}" if number else func.name
        make(_Plan(staging, phase, Heading(name, func.location, schedule)))
    return staging.done()


@dataclass(frozen=True, slots=True)
class _Plan:
    """The stages of one geometry."""

    staging: Staging
    geometry: Geometry
    heading: Heading

    def along(self) -> None:
        """Nothing is packed, vectors run along lines of pixels."""
        self._finish(along_func(self.heading, self.geometry), [self._x, self._kernel])

    def deep(self) -> None:
        """Nothing is packed, vectors run along windows."""
        made = deep_func(self.heading.plus("deep"), self.geometry)
        self._finish(made, [self._x, self._kernel])

    def blocks(self) -> None:
        """The weights are packed once, for all programs."""
        geometry = self.geometry
        order = (Role.BATCH, Role.FREE, Role.CONTRACT)
        lengths = (geometry.turns * geometry.groups, geometry.outputs, summed(geometry.taken_shape))
        panels, packed = self._packed(order, lengths, "pack")
        sizes = [Part(KERNEL, param.shape) for param in kernel_for_sizes(geometry)]
        made = blocks_func(self.heading, geometry, panels)
        self._finish(made, [self._x, packed, *sizes])

    def turned(self) -> None:
        """Windows are packed one input channel at a time, and so are their weights."""
        geometry = self.geometry
        windows = prod([axis.window.count for axis in geometry.axes])
        order = (Role.FREE, Role.BATCH, Role.CONTRACT)
        lengths = (geometry.outputs, geometry.turns * geometry.inputs, windows)
        panels, packed = self._packed(order, lengths, "pack_turned")
        made = turned_func(self.heading.plus("turned"), geometry, panels)
        self._finish(made, [self._x, packed, self._kernel])

    @property
    def _x(self) -> Part:
        return Part(X, self.geometry.x_shape)

    @property
    def _kernel(self) -> Part:
        return Part(KERNEL, self.geometry.kernel_shape)

    def _finish(self, made: Made, reads: Sequence[Part]) -> None:
        """Launch the kernel that makes the result."""
        self.staging.launch(made, reads, [Part(RESULT, self.geometry.result_shape)])

    def _packed(
        self, order: tuple[Role, Role, Role], lengths: Sequence[Size], name: str
    ) -> tuple[Panels, Part]:
        """The weights in panels, as a matrix with these axes."""
        geometry, schedule = self.geometry, self.heading.schedule
        sizes = dict(zip(order, lengths, strict=True))
        matrix = Matrix(self._taken(order[0] is Role.FREE), geometry.dtype, order, sizes)
        panels = Panels(matrix, schedule["m"], schedule["k"], geometry.wide, beside=False)
        packed = self.staging.room(panels.shape, panels.wide)
        made = packing_func(self.heading.plus(name), panels)
        self.staging.launch(made, matrix.parts, [packed])
        return panels, packed

    def _taken(self, inside: bool) -> int:
        """The number of the array that has the elements which are taken, and no others; `inside`:
        what all turns take of an output channel stands together."""
        geometry = self.geometry
        if geometry.turns == 1 and geometry.taken_shape == geometry.kernel_shape:
            return KERNEL
        room = self.staging.room(room_shape(geometry, inside), geometry.dtype)
        made = taking_func(self.heading.plus("taken"), geometry, inside)
        self.staging.launch(made, [self._kernel], [room])
        return room.array
