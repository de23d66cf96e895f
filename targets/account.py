"""What a target makes of a module, for people: its kernels, their launches, and why they are so.

Comes in: what was fused, and what was made of each kernel. Goes out: an `Account` of plain values,
whose sizes are in the symbols of the module's main func.
Never: a machine, or code; what a target does not compile has no kernels here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..ir import step
from ..ir.attributes import Shape
from ..ir.dims import Size, Symbol
from ..ir.func import Func, Module
from ..ir.locations import Location
from ..ir.values import Block, Op

if TYPE_CHECKING:  # passes that not every target loads
    from ..passes.fuse import Fused, KernelReport
    from ..passes.tiling import Tiled

MAIN = "main"
"""What the stage is called that has the name of its kernel."""
MANY = Symbol("many")
"""How often a loop on a condition goes round: nobody knows before."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A launch is made where a size is `at_least` so much; without `enough`, where it is less."""

    size: Size
    at_least: int
    enough: bool

    def __str__(self) -> str:
        return f"{self.size} {'≥' if self.enough else '<'} {self.at_least}"


@dataclass(frozen=True, slots=True)
class Stage:
    """One launch of a kernel, or of a part of one: its grid, the schedule of its tiles, when it is
    made, and how many kernels it runs `together` with others; `interpreted` says why it is no
    machine code, where it is none, and `version` what another version of it is for, if there is
    one."""

    name: str
    grid: Shape
    tile: Mapping[str, int]
    conditions: tuple[Condition, ...]
    interpreted: str
    together: int = 1
    version: str = ""


@dataclass(frozen=True, slots=True)
class KernelAccount:
    """A kernel: what was fused into it, and the launches that it consists of; without any, the host
    does it by itself. All of it is done `times` times."""

    fused: KernelReport
    stages: tuple[Stage, ...]
    times: Size = 1

    @property
    def interpreted(self) -> tuple[str, ...]:
        """Why the interpreter runs it, or parts of it."""
        return tuple(dict.fromkeys(each.interpreted for each in self.stages if each.interpreted))


@dataclass(frozen=True, slots=True)
class Held:
    """An array that is alive where most memory is used; which kernel makes it, of which lines."""

    kernel: str
    type: str
    bytes: int
    location: Location


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of a step: of what it is `given`, of what it `makes`, and what arrays in `between`
    take, of which `alive` are there at once where they are most."""

    given: int
    makes: int
    between: int
    alive: tuple[Held, ...]

    @property
    def total(self) -> int:
        """All of them."""
        return self.given + self.makes + self.between


@dataclass(frozen=True, slots=True)
class Account:
    """How a module runs, in a few words, its kernels in order, and the memory that it takes where
    its symbols are certain numbers, if that can be told."""

    runs: str
    kernels: tuple[KernelAccount, ...] = ()
    memory: Callable[[Mapping[str, int]], Memory | None] = field(default=lambda _: None)


def make_account(
    runs: str,
    fused: Fused,
    tiled: Tiled,
    together: Mapping[str, int],
    interpreted: Mapping[str, str],
    names: Sequence[str],
    versions: Mapping[str, str],
) -> Account:
    """The account of a step of kernels, some of which are launched `together` with others, and some
    have other `versions`; `names` are what people call its arguments."""
    _name(fused.part.clusters.graph.func, names)
    stages: dict[str, list[Stage]] = {}
    times: dict[str, Size] = {}
    for launch, conditions, repeated in _launches(tiled.module.main.body, (), 1):
        name = tiled.kernels.get(launch.kernel, launch.kernel)
        times[name] = repeated
        reason = interpreted.get(launch.kernel, "")
        made = Stage(
            launch.kernel.removeprefix(name).strip("_") or MAIN,
            launch.grid,
            _schedule(tiled.module, launch.kernel),
            conditions,
            reason,
            together.get(launch.kernel, 1),
            versions.get(launch.kernel, ""),
        )
        known = stages.setdefault(name, [])
        known += [made] if made not in known else []
    return Account(
        runs,
        tuple(
            KernelAccount(each, tuple(stages.get(each.name, ())), times.get(each.name, 1))
            for each in fused.report.kernels
        ),
    )


def _name(func: Func, names: Sequence[str]) -> None:
    """Name what a func takes and returns, now that it is lowered and the names are for the report
    alone: those of kernels would make them other kernels."""
    for value, name in zip(func.arguments, names, strict=True):
        value.name = name
    for place, value in enumerate(func.results):
        if value.op is not None:
            value.name = "the result" if len(func.results) == 1 else f"result {place}"


def _schedule(module: Module, name: str) -> Mapping[str, int]:
    """The schedule of a tile func; none of a func that has no tiles."""
    found: Any = module[name].attributes.get("tile", {})
    return dict(found)


def _launches(
    block: Block, conditions: tuple[Condition, ...], times: Size
) -> Iterator[tuple[step.Launch, tuple[Condition, ...], Size]]:
    """Each launch of a block, with the conditions and the loops that it stands in."""
    for op in block:
        if isinstance(op, step.Launch):
            yield op, conditions, times
        elif isinstance(op, step.When):
            for region, enough in ((op.enough, True), (op.below, False)):
                met = Condition(op.size, op.at_least, enough)
                yield from _launches(region, (*conditions, met), times)
        else:
            for region in op.regions:
                yield from _launches(region, conditions, times * _often(op))


def _often(op: Op) -> Size:
    """How often the regions of an op run."""
    if isinstance(op, step.While):
        return MANY
    return op.trip if isinstance(op, step.Loop) else 1
