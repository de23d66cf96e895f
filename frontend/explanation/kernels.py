"""The kernels of a step, seen at the sizes of one call.

Comes in: a target's account, in symbols, and what the symbols are. Goes out: `ExplainedKernel`s,
whose numbers are the call's; a number that nobody knows before the call is None.
Never: how it is shown.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...ir.dims import Size, evaluate, symbols
from ...ir.locations import Location, Place
from ...targets.account import KernelAccount, Stage

if TYPE_CHECKING:
    from ...passes.fuse import KernelReport, Moved

Sizes = Mapping[str, int]
UNITS = ("B", "kB", "MB", "GB", "TB")
CODE, INTERPRETED, HOST = "machine code", "interpreted", "done by the host"


class SourceLine(NamedTuple):
    """A line of the user's program; the text is empty where it cannot be read."""

    file: str
    number: int
    text: str

    @property
    def place(self) -> str:
        """`file:line`, as short as it can be from the current folder."""
        path = Path(self.file)
        inside = path.is_absolute() and path.is_relative_to(Path.cwd())
        return f"{path.relative_to(Path.cwd()) if inside else self.file}:{self.number}"


class Amount(NamedTuple):
    """So many bytes: as a formula in sizes, and as a number."""

    formula: Size
    number: int | None

    def __str__(self) -> str:
        return "?" if self.number is None else readable(self.number)

    @property
    def is_formula(self) -> bool:
        """Whether it is another number at other sizes."""
        return not isinstance(self.formula, int)


class ExplainedArray(NamedTuple):
    """An array that a kernel reads or writes, and which kernel it comes from."""

    name: str
    type: str
    bytes: Amount
    source: str


class ExplainedStage(NamedTuple):
    """A launch: is it made at these sizes (None if nobody knows yet), and else at which; how many
    kernels it runs `together`; and what another `version` is for, if there is one."""

    name: str
    grid: str
    tile: Mapping[str, int]
    is_made: bool | None
    conditions: str
    interpreted: str
    together: int
    version: str


@dataclass(frozen=True, slots=True)
class ExplainedKernel:
    """A kernel at the sizes of a call; `apart` has the kernels that read from it, and why they are
    not one with it; `does` says what runs, and `reasons` why it is not machine code."""

    name: str
    does: str
    reasons: tuple[str, ...]
    lines: tuple[SourceLine, ...]
    ops: tuple[str, ...]
    reads: tuple[ExplainedArray, ...]
    writes: tuple[ExplainedArray, ...]
    moved: Amount
    saved: Amount
    times: Amount
    stages: tuple[ExplainedStage, ...]
    apart: Mapping[str, str]


def explained_kernels(
    kernels: Sequence[KernelAccount], sizes: Sizes, asked: Location
) -> tuple[ExplainedKernel, ...]:
    """The kernels of a step, in order; `asked` is the line that wants to know."""
    reports = [each.fused for each in kernels]
    common = _common(reports)
    return tuple(
        [
            _explained(
                each,
                sizes,
                _sources(each.fused, reports),
                _telling(each.fused.location, asked, common),
            )
            for each in kernels
        ]
    )


def source_lines(location: Location) -> tuple[SourceLine, ...]:
    """The lines of a location, with their texts."""
    return tuple([SourceLine(*place, linecache.getline(*place).strip()) for place in location])


def number_of(size: Size, sizes: Sizes) -> int | None:
    """What a size is, if all its symbols are known."""
    if isinstance(size, int):
        return size
    found = symbols(size)
    if any(each.name not in sizes for each in found):
        return None
    return evaluate(size, {each: sizes[each.name] for each in found})


def array_text(type_: Any, sizes: Sizes) -> str:
    """`f32[64, n]`: a dtype and a shape, with numbers where they are known."""
    found = [(number_of(size, sizes), size) for size in type_.shape]
    return f"{type_.dtype}[{', '.join(str(s if n is None else n) for n, s in found)}]"


def readable(number: int) -> str:
    """A number of bytes in three digits."""
    amount, unit = float(number), 0
    while amount >= 999.5 and unit < len(UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.3g} {UNITS[unit]}"


def _sources(reader: KernelReport, reports: Sequence[KernelReport]) -> list[str]:
    """For each array that a kernel reads, the kernel that wrote it; empty for what is given."""
    written = [
        (moved, each.name)
        for each in reports
        if reader.name in each.boundaries
        for moved in each.writes
    ]
    found: list[str] = []
    for read in reader.reads:
        place = next((at for at, (moved, _) in enumerate(written) if moved == read), None)
        found.append("" if place is None else written.pop(place)[1])
    return found


def _common(reports: Sequence[KernelReport]) -> frozenset[Place]:
    """Lines that all kernels have, such as that of the call of a gradient."""
    lines = [frozenset(each.location) for each in reports]
    return frozenset[Place]().union(*lines).intersection(*lines)


def _telling(location: Location, asked: Location, common: frozenset[Place]) -> Location:
    """The lines of a kernel without those that tell nothing beside others."""
    own = Location(*[each for each in location if each not in asked]) or location
    return Location(*[each for each in own if each not in common]) or own


def _explained(
    kernel: KernelAccount, sizes: Sizes, sources: Sequence[str], lines: Location
) -> ExplainedKernel:
    fused, times = kernel.fused, kernel.times
    reads = zip(fused.reads, sources, strict=True)
    read, written = fused.bytes
    does = CODE if kernel.stages else HOST
    if kernel.interpreted:
        whole = all(each.interpreted for each in kernel.stages)
        does = INTERPRETED if whole else f"in parts {INTERPRETED}"
    return ExplainedKernel(
        fused.name,
        does,
        kernel.interpreted,
        source_lines(lines),
        fused.ops,
        tuple([_array(each, sizes, source) for each, source in reads]),
        tuple([_array(each, sizes, "") for each in fused.writes]),
        _amount((read + written) * times, sizes),
        _amount(fused.saved * times, sizes),
        _amount(times, sizes),
        tuple([_stage(each, sizes) for each in kernel.stages]),
        {name: str(why) for name, why in fused.boundaries.items()},
    )


def _amount(formula: Size, sizes: Sizes) -> Amount:
    return Amount(formula, number_of(formula, sizes))


def _array(moved: Moved, sizes: Sizes, source: str) -> ExplainedArray:
    return ExplainedArray(moved.name, array_text(moved, sizes), _amount(moved.bytes, sizes), source)


def _stage(stage: Stage, sizes: Sizes) -> ExplainedStage:
    found = [(number_of(each.size, sizes), each) for each in stage.conditions]
    known = [(n >= each.at_least) is each.enough for n, each in found if n is not None]
    is_made = False if not all(known) else None if len(known) < len(found) else True
    grid = [number_of(size, sizes) for size in stage.grid]
    return ExplainedStage(
        stage.name,
        " × ".join("?" if count is None else str(count) for count in grid),
        stage.tile,
        is_made,
        ", ".join(map(str, stage.conditions)),
        stage.interpreted,
        stage.together,
        stage.version,
    )
