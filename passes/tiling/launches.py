"""Launches of kernels of tiles, in the place of launches of kernels of tensors.

Comes in: a step module, and the target's schedules. Goes out: a module in which each kernel that
has a form of tiles is a tile func, or several, launched on its grid; the other kernels, each with
the reason.
Never: a change to the module that came in.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...ir import step, tensor
from ...ir.builder import Builder
from ...ir.dims import Size, Symbol, interval, substitute
from ...ir.func import Func, Module, Yield
from ...ir.shared.signature import match
from ...ir.tensor.indexing import Outside
from ...ir.types import Array, Scalar, Tensor
from ...ir.values import AnyValue, Block
from ..copying import copy_func
from ..meaning import named_by_meaning
from .contract import contraction_of, tile_contraction
from .parts import Choice, Part, Stages, Within
from .schedule import Chooser
from .space import Refused
from .stages import tile_kernel


@dataclass(frozen=True, slots=True)
class Tiled:
    """The module, for each kernel that stays on the tensor floor the reason, and for each tile func
    the kernel that it is a stage of."""

    module: Module
    refused: Mapping[str, str]
    kernels: Mapping[str, str] = field(default_factory=dict[str, str])


def tile(module: Module, choose: Chooser, *, shared: bool = False) -> Tiled:
    """Turn kernels of tensors into kernels of tiles, where they have such a form; if `shared`, each
    with the tile funcs of the first that does the same."""
    found: dict[str, Stages] = {}
    refused: dict[str, str] = {}
    alike: dict[str, Stages] = {}
    for name, launches in _launches(module).items():
        func = module[name]
        if not all(isinstance(each.type, Tensor) for each in (*func.arguments, *func.results)):
            continue  # of the tile floor already
        try:
            meaning = named_by_meaning(func) if shared else name
            stages = alike.get(meaning) or _tiled(func, choose)
            alike[meaning] = stages
            for launch in launches:
                _check_launch(launch, stages)
            found[name] = stages
        except Refused as reason:
            refused[name] = str(reason)
    tiled = _module(module, found)
    for name, launches in _launches(tiled).items():
        for launch in launches if name in found else ():
            _relaunch(launch, found[name])
    kernels: dict[str, str] = {}
    for name, stages in found.items():
        for each in stages.funcs:
            kernels.setdefault(each.name, name)
    return Tiled(tiled, refused, kernels)


def _module(module: Module, found: Mapping[str, Stages]) -> Module:
    """The tile funcs of all kernels, and copies of the other funcs."""
    tiled, added = Module(), set[Func]()
    for func in module:
        stages = found.get(func.name)
        for each in stages.funcs if stages else [copy_func(func)]:
            if each in added:
                continue
            while each.name != func.name and each.name in {*module.funcs, *tiled.funcs}:
                each.name += "_"
            tiled.add(each)
            added.add(each)
    return tiled


def _tiled(func: Func, choose: Chooser) -> Stages:
    """The stages of a kernel, by whoever writes such kernels."""
    op = contraction_of(func)
    return tile_kernel(func, choose) if op is None else tile_contraction(func, op, choose)


def _launches(module: Module) -> dict[str, list[step.Launch]]:
    """The launches of each kernel."""
    found: dict[str, list[step.Launch]] = {}
    for func in module:
        for op in func.walk():
            if isinstance(op, step.Launch):
                found.setdefault(op.kernel, []).append(op)
    return found


def _check_launch(launch: step.Launch, stages: Stages) -> None:
    """Refuse what a tensor kernel may be handed and a tile kernel may not."""
    if any(isinstance(read.type, Scalar) for read in launch.reads):
        raise Refused("it reads a size of the host")
    writes = [_owner(write) for write in launch.writes]
    for number, read in enumerate(launch.reads):
        owner = _owner(read)
        if owner in writes and (number, writes.index(owner)) not in stages.in_place:
            raise Refused("it works in place, and reads again what it has written")


def _owner(array: AnyValue) -> AnyValue:
    """The array of which this is a part."""
    while isinstance(array.op, step.View | step.Row):
        array = array.op.array
    return array


def _relaunch(launch: step.Launch, stages: Stages) -> None:
    """Launch the tile funcs instead, on views in the shapes that they want."""
    reads = [_as_tensor(read.type) for read in launch.reads]
    writes = [_as_tensor(write.type) for write in launch.writes]
    sizes = match(stages.source, reads, writes, through_results=True)
    assert launch.block is not None
    builder = Builder(launch.block, launch, launch.location)
    _check_indices(builder, stages, launch)
    _launch_all(builder, stages, [*launch.reads, *launch.writes], _Resize(sizes))
    launch.detach()


def _check_indices(builder: Builder, stages: Stages, launch: step.Launch) -> None:
    """Ask for the errors of indices, of which a kernel of tiles has none."""
    for op in stages.source.body:
        if isinstance(op, tensor.Gather | tensor.Scatter) and op.outside is Outside.ERROR:
            array, indices = (launch.reads[each.index] for each in (op.x, op.indices))
            builder.location = op.location
            builder.emit_all(step.Inside, array, indices, axes=op.axes, by=op.name)
    builder.location = launch.location


class _Resize:
    """What the sizes of stages are where they are launched, each worked out once."""

    def __init__(self, sizes: Mapping[Symbol, Size]) -> None:
        self.sizes, self.found = sizes, dict[Size, Size]()

    def __call__(self, size: Size) -> Size:
        if isinstance(size, int):
            return size
        if size not in self.found:
            self.found[size] = substitute(size, self.sizes)
        return self.found[size]


def _launch_all(builder: Builder, stages: Stages, arrays: list[AnyValue], resize: _Resize) -> None:
    """Launch stages on arrays, with rooms that live as long as that takes."""
    rooms: list[AnyValue] = []
    for type_ in stages.rooms:
        shape = tuple(map(resize, type_.shape))
        rooms.append(builder.emit_all(step.Allocate, Array(shape, type_.dtype))[0])
    for stage in stages.stages:
        if isinstance(stage, Choice):
            _choose(builder, stage, [*arrays, *rooms], resize)
            continue
        if isinstance(stage, Within):
            every = [*arrays, *rooms]
            known = {each: resize(size) for each, size in stage.known.items()}
            inner = [every[array] for array in stage.arrays]
            _launch_all(builder, stage.stages, inner, _Resize({**resize.sizes, **known}))
            continue
        taken = _views(builder, stage.reads, [*arrays, *rooms], resize)
        given = _views(builder, stage.writes, [*arrays, *rooms], resize)
        grid = tuple(map(resize, stage.grid))
        builder.emit_all(step.Launch, taken, given, kernel=stage.func.name, grid=grid)
    for room in rooms:
        builder.emit_all(step.Free, room)


def _choose(builder: Builder, choice: Choice, arrays: list[AnyValue], resize: _Resize) -> None:
    """One lot of stages or the other; what is known by now is decided now."""
    size, at_least = resize(choice.size), choice.at_least
    low, high = interval(size)
    if low >= at_least or high < at_least:
        stages = choice.enough if low >= at_least else choice.below
        _launch_all(builder, stages, arrays, resize)
        return
    regions: list[Block] = []
    for stages in (choice.enough, choice.below):
        inner = builder.nest([])
        _launch_all(inner, stages, arrays, resize)
        inner.emit_all(Yield, [])
        regions.append(inner.block)
    enough, below = regions
    builder.emit_all(step.When, size=size, at_least=at_least, enough=enough, below=below)


def _views(
    builder: Builder, parts: Iterable[Part], arrays: list[AnyValue], resize: _Resize
) -> list[AnyValue]:
    """The parts of arrays, in the shapes that are wanted."""
    made: list[AnyValue] = []
    for part in parts:
        array, offset = arrays[part.array], resize(part.offset)
        shape = tuple(map(resize, part.shape))
        same = offset == 0 and array.type.shape == shape
        made.append(array if same else builder.emit(step.View, array, offset=offset, shape=shape))
    return made


def _as_tensor(type_: Array | Scalar) -> Tensor:
    return Tensor(type_.shape if isinstance(type_, Array) else (), type_.dtype)
