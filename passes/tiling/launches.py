"""Launches of kernels of tiles, in the place of launches of kernels of tensors.

Comes in: a step module, and the target's schedules. Goes out: a module in which each kernel that
has a form of tiles is a tile func, or several, launched on its grid; the other kernels, each with
the reason.
Never: a change to the module that came in, unless it is given away.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile

from ...ir import step, tensor
from ...ir.attributes import Shape
from ...ir.builder import Builder
from ...ir.dims import MAX_SIZE, Size, Symbol, substitute
from ...ir.func import Func, Module, Yield
from ...ir.shared.signature import match
from ...ir.tensor.indexing import Outside
from ...ir.types import Array, Scalar, Tensor
from ...ir.values import AnyValue, Block, Op
from ..copying import copy_func, repeat
from ..meaning import named_by_meaning, structure_of
from ..touched import owner_of
from .contract import contraction_of, tile_contraction
from .parts import Check, Choice, Part, Stage, Stages, Within
from .schedule import Chooser
from .sizes import Unnamed
from .space import Refused
from .stages import tile_kernel
from .staging import is_at_least
from .told import telling, told_by


@dataclass(frozen=True, slots=True)
class Tiled:
    """The module, for each kernel that stays on the tensor floor the reason, and for each func that
    is launched in the place of another kernel, most of them tile funcs, which one that is."""

    module: Module
    refused: Mapping[str, str]
    kernels: Mapping[str, str] = field(default_factory=lambda: {})


def tile(module: Module, choose: Chooser, *, shared: bool = False, given: bool = False) -> Tiled:
    """Turn kernels of tensors into kernels of tiles, where they have such a form; if `shared`, each
    with the tile funcs of the first that does the same; `given`: nobody wants the module."""
    found: dict[str, Stages] = {}
    refused: dict[str, str] = {}
    alike: dict[Hashable, Stages] = {}
    for name, launches in _launches(module).items():
        func = module[name]
        if not all(isinstance(each.type, Tensor) for each in (*func.arguments, *func.results)):
            continue  # of the tile floor already
        try:
            stages = _shared(func, choose, alike) if shared else _tiled(func, choose)
            for launch in launches:
                _check_launch(launch, stages)
            found[name] = stages
        except Refused as reason:
            refused[name] = str(reason)
    tiled = _module(module, found, given)
    others = [func for func in tiled if func.name in module.funcs and func.name not in found]
    launcher = _Launcher()
    for name, launches in _launches(others).items():
        for launch in launches if name in found else ():
            launcher.replace(launch, module[name], found[name])
    kernels: dict[str, str] = {}
    for name, stages in found.items():
        for each in stages.funcs:
            kernels.setdefault(each.name, name)
    return Tiled(tiled, refused, kernels)


def _module(module: Module, found: Mapping[str, Stages], given: bool) -> Module:
    """The tile funcs of all kernels, and the other funcs, or copies of them."""
    tiled, added = Module(), set[Func]()
    for func in module:
        stages = found.get(func.name)
        for each in stages.funcs if stages else [func if given else copy_func(func)]:
            if each in added:
                continue
            while each.name != func.name and (
                each.name in module.funcs or each.name in tiled.funcs
            ):
                each.name += "_"
            tiled.add(each)
            added.add(each)
    return tiled


def _tiled(func: Func, choose: Chooser) -> Stages:
    """The stages of a kernel, by whoever writes such kernels."""
    op = contraction_of(func)
    make = tile_kernel if op is None else partial(_around, op)
    try:
        return make(func, choose)
    except Unnamed:
        return make(func, telling(choose))


def _around(op: tensor.Contract, func: Func, choose: Chooser) -> Stages:
    """The stages of a kernel that is made around a contraction."""
    return tile_contraction(func, op, choose)


def _shared(func: Func, choose: Chooser, alike: dict[Hashable, Stages]) -> Stages:
    """The stages of the first kernel that does the same; `alike` has them by what tells that."""
    meaning = structure_of(func) or named_by_meaning(func)
    if meaning not in alike:
        alike[meaning] = _tiled(func, choose)
    return alike[meaning]


def _launches(funcs: Iterable[Func]) -> dict[str, list[step.Launch]]:
    """The launches of each kernel in some funcs."""
    found: dict[str, list[step.Launch]] = {}
    for func in funcs:
        for op in func.walk():
            if isinstance(op, step.Launch):
                found.setdefault(op.kernel, []).append(op)
    return found


def _check_launch(launch: step.Launch, stages: Stages) -> None:
    """Refuse what a tensor kernel may be handed and a tile kernel may not."""
    if any(isinstance(read.type, Scalar) for read in launch.reads):
        raise Refused("it reads a size of the host")
    writes = [owner_of(write) for write in launch.writes]
    for number, read in enumerate(launch.reads):
        owner = owner_of(read)
        if owner in writes and (number, writes.index(owner)) not in stages.in_place:
            raise Refused("it works in place, and reads again what it has written")


class _Launcher:
    """Launches tile funcs in the place of kernels; what has been written for one launch is copied
    for another one of the same kernel on arrays of the same types."""

    def __init__(self) -> None:
        self.written: dict[object, tuple[list[AnyValue], list[Op]]] = {}

    def replace(self, launch: step.Launch, func: Func, stages: Stages) -> None:
        """Launch stages, which may be those of a func like this one, in the place of the func."""
        arrays = [*launch.reads, *launch.writes]
        same = [arrays.index(each) for each in arrays]
        key = (stages.source, *[each.type for each in arrays], *same)
        assert launch.block is not None
        builder = Builder(launch.block, launch, launch.location)
        _check_indices(builder, func, launch)
        if key in self.written:
            others, ops = self.written[key]
            repeat(ops, builder, dict(zip(others, arrays, strict=True)))
        else:
            before = launch.previous
            _launch_all(builder, stages, arrays, _sizes_of(launch, stages))
            first = launch.block.first if before is None else before.next
            self.written[key] = arrays, list(takewhile(lambda op: op is not launch, _from(first)))
        launch.detach()


def _sizes_of(launch: step.Launch, stages: Stages) -> "_Resize":
    """What the sizes of a kernel are where it is launched."""
    reads = [_as_tensor(read.type) for read in launch.reads]
    writes = [_as_tensor(write.type) for write in launch.writes]
    return _Resize(match(stages.source, reads, writes, through_results=True))


def _from(op: Op | None) -> Iterator[Op]:
    """An op and those that follow it."""
    while op is not None:
        yield op
        op = op.next


def _check_indices(builder: Builder, func: Func, launch: step.Launch) -> None:
    """Ask for the errors of indices, of which a kernel of tiles has none."""
    for op in func.body:
        if isinstance(op, tensor.Gather | tensor.Scatter) and op.outside is Outside.ERROR:
            array, indices = (launch.reads[each.index] for each in (op.x, op.indices))
            builder.location = op.location
            builder.emit_all(step.Inside, array, indices, axes=op.axes, by=op.name)
    builder.location = launch.location


class _Resize:
    """What the sizes of stages are where they are launched, each worked out once; `limits` has what
    the choices around them leave of the bounds of symbols."""

    def __init__(
        self, sizes: Mapping[Symbol, Size], limits: Mapping[Symbol, Symbol] | None = None
    ) -> None:
        self.sizes, self.limits = sizes, limits or {}
        self.found: dict[Size, Size] = {}
        self.shapes: dict[Shape, Shape] = {}

    def __call__(self, size: Size) -> Size:
        if isinstance(size, int):
            return size
        if size not in self.found:
            self.found[size] = substitute(size, self.sizes)
        return self.found[size]

    def shape(self, shape: Shape) -> Shape:
        """What a shape is there."""
        if shape not in self.shapes:
            self.shapes[shape] = tuple(map(self, shape))
        return self.shapes[shape]

    def also(self, known: Mapping[Symbol, Size]) -> "_Resize":
        """The same, where more symbols are known."""
        more = {each: self(size) for each, size in known.items()}
        return _Resize({**self.sizes, **more}, self.limits) if more else self

    def is_at_least(self, size: Size, number: int) -> bool | None:
        """Whether a size, as it is there, is so much; None where only the step will know."""
        return is_at_least(substitute(size, self.limits) if self.limits else size, number)

    def within(self, size: Size, least: int, most: int) -> "_Resize":
        """The same, where a size, as it is there, is known to lie in between."""
        if not isinstance(size, Symbol):
            return self
        before = self.limits.get(size, size)
        least, most = max(least, before.minimum), min(most, before.maximum)
        made = _Resize(
            self.sizes, {**self.limits, size: Symbol(size.name, least, most, size.multiple)}
        )
        made.found, made.shapes = self.found, self.shapes
        return made


def _launch_all(builder: Builder, stages: Stages, arrays: list[AnyValue], resize: _Resize) -> None:
    """Launch stages on arrays, with rooms that live as long as that takes."""
    rooms = [_allocate(builder, each, resize) for each in stages.rooms]
    for stage in stages.stages:
        if isinstance(stage, Choice):
            _choose(builder, stage, [*arrays, *rooms], resize)
            continue
        if isinstance(stage, Within):
            every = [*arrays, *rooms]
            inner = [every[array] for array in stage.arrays]
            _launch_all(builder, stage.stages, inner, resize.also(stage.known))
            continue
        _launch_or_check(builder, stage, [*arrays, *rooms], resize)
    _free(builder, rooms)


def _told(builder: Builder, stage: Stage, resize: _Resize) -> list[AnyValue]:
    """Empty arrays for the sizes that a stage has to be told; one of tensors, which has no grid, is
    told none."""
    types = told_by(stage.func, len(stage.reads) + len(stage.writes)) if stage.grid else []
    return [_allocate(builder, each, resize) for each in types]


def _allocate(builder: Builder, type_: Tensor, resize: _Resize) -> AnyValue:
    return builder.emit_all(step.Allocate, Array(resize.shape(type_.shape), type_.dtype))[0]


def _free(builder: Builder, arrays: Iterable[AnyValue]) -> None:
    for each in arrays:
        builder.emit_all(step.Free, each)


def _launch_or_check(
    builder: Builder, stage: Stage | Check, arrays: list[AnyValue], resize: _Resize
) -> None:
    """Launch a func, or ask for the error that one has told of."""
    if isinstance(stage, Check):
        (flags,) = _views(builder, (stage.flags,), arrays, resize)
        builder.emit_all(step.Expect, flags, by=stage.by, problem=stage.problem)
        return
    told = _told(builder, stage, resize)
    taken = [*told, *_views(builder, stage.reads, arrays, resize)]
    given = _views(builder, stage.writes, arrays, resize)
    grid = resize.shape(stage.grid)
    builder.emit_all(step.Launch, taken, given, kernel=stage.func.name, grid=grid)
    _free(builder, told)


def _choose(builder: Builder, choice: Choice, arrays: list[AnyValue], resize: _Resize) -> None:
    """One lot of stages or the other; what is known by now is decided now."""
    size, at_least = resize(choice.size), choice.at_least
    known = resize.is_at_least(size, at_least)
    if known is not None:
        _launch_all(builder, choice.enough if known else choice.below, arrays, resize)
        return
    regions: list[Block] = []
    branches = (choice.enough, at_least, MAX_SIZE), (choice.below, 0, at_least - 1)
    for stages, least, most in branches:
        inner = builder.nest([])
        _launch_all(inner, stages, arrays, resize.within(size, least, most))
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
        shape = resize.shape(part.shape)
        same = offset == 0 and array.type.shape == shape
        made.append(array if same else builder.emit(step.View, array, offset=offset, shape=shape))
    return made


def _as_tensor(type_: Array | Scalar) -> Tensor:
    return Tensor(type_.shape if isinstance(type_, Array) else (), type_.dtype)
