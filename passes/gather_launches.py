"""Launches that do the same to other arrays become one launch.

Comes in: a step module whose kernels are final, and whose main func is the pass's to change. Goes
out: `Gathered`: a module in which launches of kernels of equal meaning, none of which touches what
another one writes, stand as the groups of one launch, where the last of them stood.
Never: a kernel that is changed, or an order that memory would notice. Memory is not kept for longer
than pays: what waits to be freed is at most as much as what is allocated the later for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import gcd, prod
from typing import Any

from ..ir import step
from ..ir.builder import Builder
from ..ir.dims import Size, Symbol, interval, substitute
from ..ir.func import Func, Module
from ..ir.locations import UNKNOWN
from ..ir.types import Array, View
from ..ir.values import AnyValue, Block, Op
from .copying import copy_func
from .meaning import named_by_meaning
from .touched import PARTS, blocks_in, owner_of, touched

Key = tuple[str, int]
"""What a kernel means, and how many numbers its grid has."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The module, and for each kernel that is launched with others, how many they are at once."""

    module: Module
    together: Mapping[str, int]


def gather_launches(module: Module) -> Gathered:
    """Launch at once what does the same to arrays that have nothing to do with each other."""
    kinds, main = _Kinds(module), module.main
    together: dict[str, int] = {}
    stand_for: dict[str, dict[str, None]] = {}
    for block in list(blocks_in(main.body)):
        meanings = kinds.alike(block)
        for group in _Gatherer(block, meanings).gather() if meanings else ():
            names = [each.kernel for each in group.launches]
            together.update(dict.fromkeys(names, len(names)))
            stand_for.setdefault(names[0], {}).update(dict.fromkeys(names))
    if not together:
        return Gathered(module, {})
    launched = {op.kernel for op in main.walk() if isinstance(op, step.Launch)}
    kept = [
        _widened(func, [module[name] for name in stand_for.get(func.name, ())])
        for func in module
        if func.name in launched or (func is not module.main and func.name not in together)
    ]
    return Gathered(Module([main, *kept]), together)


@dataclass(eq=False, slots=True)
class _Group:
    """Launches that may be one, up to here; what moves to where the last one stands, and what waits
    until it is done. `later` counts, for each size in bytes, how many more arrays are allocated
    later for it than are freed later; `owed` are the sizes of which they are fewer."""

    launches: list[step.Launch] = field(default_factory=lambda: [])
    moved: list[Op] = field(default_factory=lambda: [])
    freed: list[step.Free] = field(default_factory=lambda: [])
    later: dict[Size, int] = field(default_factory=lambda: {})
    owed: int = 0
    is_open: bool = True

    @property
    def pays(self) -> bool:
        """Whether it may wait for one launch more."""
        if not self.owed:
            return True
        total = sum((size * count for size, count in self.later.items()), start=0)
        return interval(total)[0] >= 0

    def count(self, array: AnyValue, by: int) -> None:
        """So many more arrays of such a size are allocated later."""
        size = _bytes_of(array.type)
        before = self.later.get(size, 0)
        self.later[size] = before + by
        self.owed += (before + by < 0) - (before < 0)


class _Gatherer:
    """Reads a block in order, with the groups that may still grow."""

    def __init__(self, block: Block, meanings: Mapping[str, str]) -> None:
        self.block, self.meanings = block, meanings
        self.groups: list[_Group] = []
        self.open: dict[Key, _Group] = {}
        self.readers: dict[AnyValue, list[_Group]] = {}
        self.writers: dict[AnyValue, list[_Group]] = {}
        self.fresh: dict[AnyValue, list[Op]] = {}
        self.waiting: dict[AnyValue, _Group] = {}

    def gather(self) -> list[_Group]:
        """Make the launches; return the groups that they are of."""
        for op in self.block:
            self._see(op)
        groups = [group for group in self.groups if len(group.launches) > 1]
        last: dict[step.Free, step.Launch] = {}
        for group in groups:
            for free in group.freed:
                final = group.launches[-1]
                if final.order > max(free.order, last.get(free, free).order):
                    last[free] = final
        for group in groups:
            self._join(group)
        for free, final in last.items():
            self.block.move(free, final)
        for group in groups:
            for launch in group.launches:
                launch.detach()
        return groups

    def _see(self, op: Op) -> None:
        if isinstance(op, step.Allocate):
            self.fresh[op.array] = [op]
        elif isinstance(op, PARTS):
            self._view(op)
        elif isinstance(op, step.Free):
            self._free(op)
        else:
            self._act(op)

    def _view(self, op: step.View | step.Row) -> None:
        """A view goes wherever the allocation goes."""
        owner = owner_of(op.array)
        if owner in self.fresh:
            self.fresh[owner].append(op)
        elif owner in self.waiting and self.waiting[owner].is_open:
            self.waiting[owner].moved.append(op)

    def _free(self, op: step.Free) -> None:
        """What is freed is kept for the groups that touch it."""
        for group in (*self.readers.get(op.array, ()), *self.writers.get(op.array, ())):
            if group.is_open and op not in group.freed[-1:]:
                group.freed.append(op)
                group.count(op.array, -1)

    def _act(self, op: Op) -> None:
        reads, writes = touched(op)
        for owner in reads:
            self._close(self.writers.get(owner, ()))
        for owner in writes:
            self._close(self.writers.get(owner, ()))
            self._close(self.readers.get(owner, ()))
        if isinstance(op, step.Launch) and op.kernel in self.meanings and op.count == 1:
            group = self._grown(op)
            for owner in reads:
                self.readers.setdefault(owner, []).append(group)
            for owner in writes:
                self.writers.setdefault(owner, []).append(group)
                self._defer(group, owner)
        for owner in (*reads, *writes):
            self.fresh.pop(owner, None)

    def _close(self, groups: Iterable[_Group]) -> None:
        for group in groups:
            group.is_open = False

    def _grown(self, launch: step.Launch) -> _Group:
        """The open group of the launch's kind, or a new one, with the launch in it."""
        key = self.meanings[launch.kernel], len(launch.grid)
        group = self.open.get(key)
        if group is None or not group.is_open or not group.pays:
            self._close([group] if group else ())
            group = self.open[key] = _Group()
            self.groups.append(group)
        group.launches.append(launch)
        return group

    def _defer(self, group: _Group, owner: AnyValue) -> None:
        """Allocate when the group is launched what nobody has touched before."""
        ops = self.fresh.get(owner)
        if ops:
            group.moved += ops
            group.count(owner, 1)
            self.waiting[owner] = group

    def _join(self, group: _Group) -> None:
        """One launch, before the last one of the group, which is still there."""
        final = group.launches[-1]
        for op in sorted(group.moved, key=lambda op: op.order):
            if op.order < final.order:
                self.block.move(op, final)
        builder = Builder(self.block, final, UNKNOWN)
        builder.covers(*group.launches)
        builder.emit_all(
            step.Launch,
            [read for each in group.launches for read in each.reads],
            [write for each in group.launches for write in each.writes],
            kernel=group.launches[0].kernel,
            grid=tuple(size for each in group.launches for size in each.grid),
            groups=len(group.launches),
        )


class _Kinds:
    """Which kernels of tiles do the same. What a kernel is in full is asked only where another one
    that looks like it is launched in the same block."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.outlines: dict[str, object] = {}
        self.meanings: dict[str, str] = {}

    def alike(self, block: Block) -> dict[str, str]:
        """What kernels mean that may do the same as another launch of a block does."""
        launched: dict[object, list[str]] = {}
        for op in block:
            if isinstance(op, step.Launch) and op.count == 1:
                launched.setdefault(self._outline(op.kernel), []).append(op.kernel)
        found: dict[str, str] = {}
        for outline, names in launched.items():
            if outline is not None and len(names) > 1:
                apart = len({*names}) > 1
                found |= {name: self._meaning(name) if apart else name for name in names}
        return found

    def _outline(self, name: str) -> object:
        """What is quickly told, and differs where meanings do; None of what is no kernel of
        tiles."""
        if name not in self.outlines:
            func = self.module[name]
            self.outlines[name] = _outline(func) if _of_tiles(func) else None
        return self.outlines[name]

    def _meaning(self, name: str) -> str:
        if name not in self.meanings:
            self.meanings[name] = named_by_meaning(self.module[name], bounded=False)
        return self.meanings[name]


def _of_tiles(func: Func) -> bool:
    return any(isinstance(argument.type, View) for argument in func.arguments)


def _outline(func: Func) -> object:
    """The schedule, and of each argument the dtype and the sizes that are numbers."""
    arguments: list[object] = []
    for argument in func.arguments:
        facts: Mapping[str, Any] = getattr(argument.type, "facts", {})
        sizes = [size if isinstance(size, int) else None for size in facts.get("size", ())]
        arguments.append((argument.type.dtype, *sizes))
    return func.attributes.get("tile"), *arguments


@cache
def _bytes_of(type_: Array) -> Size:
    """How much memory an array needs."""
    return prod(type_.shape) * type_.dtype.itemsize


def _widened(func: Func, others: Sequence[Func]) -> Func:
    """The kernel, for all sizes that it or one of the others may have."""
    if not others:
        return func
    wide: dict[Symbol, Symbol] = {}
    for place, symbol in enumerate(func.symbols):
        alike = [symbol, *[each.symbols[place] for each in others]]
        wide[symbol] = Symbol(
            symbol.name,
            min(each.minimum for each in alike),
            max(each.maximum for each in alike),
            gcd(*[each.multiple for each in alike]),
        )
    if all(one is other for one, other in wide.items()):
        return func
    made = copy_func(func, lambda size: substitute(size, wide))
    made.symbols = tuple(wide.values())
    return made
