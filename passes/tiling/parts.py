"""What launches are made of: tile funcs, the arrays that they are handed, and their grids.

Comes in: tile funcs, from whoever writes them. Goes out: `Stages`, from which `launches` makes ops.
Never: a size of a call: all sizes are in the symbols of the kernel func.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...ir.attributes import Shape
from ...ir.dims import Size, Symbol
from ...ir.func import Func
from ...ir.types import Tensor


@dataclass(frozen=True, slots=True)
class Part:
    """What a stage is handed of array number `array`: of the kernel's reads, then its writes, then
    the rooms that stages have for each other."""

    array: int
    shape: Shape
    offset: Size = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """One launch of a tile func, or of a func that stays one of tensors, which has no grid."""

    func: Func
    reads: tuple[Part, ...]
    writes: tuple[Part, ...]
    grid: Shape


@dataclass(frozen=True, slots=True)
class Check:
    """An error of the op called `by`, unless a kernel has left all flags 0."""

    flags: Part
    by: str
    problem: str


@dataclass(frozen=True, slots=True)
class Choice:
    """`enough` where the size is `at_least` so much when the step runs, else `below`; their rooms
    are numbered on from those around them."""

    size: Size
    at_least: int
    enough: "Stages"
    below: "Stages"


@dataclass(frozen=True, slots=True)
class Within:
    """Stages of another func, which are handed these arrays of those around them; `known` says
    what symbols are that those around do not have."""

    stages: "Stages"
    arrays: tuple[int, ...]
    known: Mapping[Symbol, Size] = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True)
class Stages:
    """All launches; `in_place` has the numbers of reads and writes that may be one array."""

    source: Func
    stages: tuple[Stage | Check | Choice | Within, ...]
    rooms: tuple[Tensor, ...] = ()
    in_place: frozenset[tuple[int, int]] = frozenset()

    @property
    def funcs(self) -> list[Func]:
        """The funcs of all branches, each once."""
        found: dict[Func, None] = {}
        for stage in self.stages:
            if isinstance(stage, Choice):
                found.update(dict.fromkeys([*stage.enough.funcs, *stage.below.funcs]))
            elif isinstance(stage, Within):
                found.update(dict.fromkeys(stage.stages.funcs))
            elif isinstance(stage, Stage):
                found[stage.func] = None
        return list(found)
