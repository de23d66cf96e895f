"""Stages: a function with bound dims, split where the host must read a count.

Comes in: what was recorded, and its bound dims. Goes out: funcs to run one after another. Each
returns what later ones read or the function returns, and last the counts that end it.
Never: a second stage where no size depends on values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from ..ir import tensor as ops
from ..ir.dims import DEFAULT_MAXIMUM, Size, Symbol, substitute
from ..ir.errors import IRError
from ..ir.func import Func
from ..passes.copying import copy_func
from ..runtime.device import Device
from ..runtime.steps import Plan, contents, plan
from .bounds import Bound, declare, symbols_of
from .errors import OperationFailed, failure
from .node import Node, record
from .outside import step_failure
from .recording import Recording, gather, lower

Run = Callable[[Plan, Sequence[Sequence[Any]], Mapping[str, int]], Sequence[Any]]
_ANYWHERE = (ops.Constant, ops.Iota, ops.Broadcast, ops.Dim)
"""Ops that are made anew in each stage, where nothing but constants goes in."""


class Stage(NamedTuple):
    """One func: the values that it reads, by number, and the bounds whose counts it ends with.

    Values are numbered: first what the function takes, then what each stage returns but the counts.
    """

    func: Func
    reads: tuple[int, ...]
    ends: tuple[Bound, ...]


class Stages(NamedTuple):
    """The stages in order, and the numbers of the values that the function returns."""

    steps: tuple[Stage, ...]
    outputs: tuple[int, ...]


def split(recording: Recording, outputs: Sequence[Node], counts: Mapping[Bound, Node]) -> Stages:
    """The stages of a recording, which computes the outputs and the counts of bound dims."""
    return _Splitting(recording, counts).stages(outputs)


class _Splitting:
    """A recording while it is split; `levels` says in which stage each node is computed first."""

    def __init__(self, recording: Recording, counts: Mapping[Bound, Node]) -> None:
        self.given = dict.fromkeys(recording.inputs)
        self.counts = counts
        self.levels: dict[Node, int] = dict.fromkeys(recording.inputs, 0)
        self.anywhere: set[Node] = set()
        self._place(recording.nodes)

    def _place(self, nodes: Iterable[Node]) -> None:
        """A node is computed when all that it reads is, and all its sizes are known."""
        counts = {bound.symbol: count for bound, count in self.counts.items()}
        for node in nodes:
            if node.cls in _ANYWHERE and all([each in self.anywhere for each in node.operands]):
                self.anywhere.add(node)
            before = [self.levels[each] for each in node.operands]
            sizes = [self.levels[counts[each]] + 1 for each in symbols_of(node) if each in counts]
            self.levels[node] = max([*before, *sizes], default=0)

    def stages(self, outputs: Sequence[Node]) -> Stages:
        """The stages, made from the last to the first: each must know what later ones read."""
        last = max([self.levels[node] for node in (*outputs, *self.counts.values())])
        read = dict[Node, None]()
        made: list[tuple[Func, list[Node], list[Node], tuple[Bound, ...]]] = []
        for level in range(last, -1, -1):
            ends = [bound for bound in self.counts if self.levels[self.counts[bound]] == level]
            kept = [*dict.fromkeys([*outputs, *read])]
            kept = [node for node in kept if self.levels[node] == level]
            recording = self._stage(level, kept, ends)
            read.update({each: None for each in recording.inputs if each not in self.given})
            func = declare(lower(recording, _name(level, ends)))
            made.append((func, recording.inputs, kept, tuple(ends)))
        return self._numbered(made[::-1], outputs)

    def _stage(self, level: int, kept: Sequence[Node], ends: Sequence[Bound]) -> Recording:
        """What one stage computes: its values, and its counts as one vector."""
        counts = [_vector([self.counts[bound] for bound in ends])] if ends else []

        def comes_from_before(node: Node) -> bool:
            if node in self.given:
                return True
            return self.levels.get(node, level) < level and node not in self.anywhere

        return gather([*kept, *counts], (), comes_from_before)

    def _numbered(self, made: Sequence[Any], outputs: Sequence[Node]) -> Stages:
        """The stages with their values by number."""
        numbers = {node: place for place, node in enumerate(self.given)}
        returned = dict[Node, int]()
        steps: list[Stage] = []
        for func, reads, kept, ends in made:
            steps.append(Stage(func, tuple([numbers[node] for node in reads]), ends))
            first = len(self.given) + len(returned)
            returned.update({node: place for place, node in enumerate(kept, first)})
            numbers = returned | numbers
        return Stages(tuple(steps), tuple([returned[node] for node in outputs]))


def _vector(counts: Sequence[Node]) -> Node:
    """Counts side by side, so that the host reads once."""
    if len(counts) == 1:
        return counts[0]
    rows = [record(ops.Reshape, (count,), ((1,),)) for count in counts]
    return record(ops.Concat, tuple(rows), (0,))


def _name(level: int, ends: Sequence[Bound]) -> str:
    """What a stage is called: its number, and for whom it counts."""
    operations = dict.fromkeys([bound.operation.replace(".", "_") for bound in ends])
    does = f"counts_for_{'_and_'.join(operations)}" if ends else "returns"
    return f"stage_{level}_{does}"


def plan_stages(stages: Stages, device: Device) -> tuple[Plan, ...]:
    """The stages made ready to run."""
    return tuple([plan(func, device, by_lines=True) for func in funcs_of(stages)])


def funcs_of(stages: Stages) -> list[Func]:
    """The funcs that are compiled for stages."""
    return [_widened(stage.func, stages) for stage in stages.steps]


def _widened(func: Func, stages: Stages) -> Func:
    """A func whose bound dims are as large as any: one compiled step serves all maxima."""
    wide: dict[Symbol, Size] = {}
    for stage in stages.steps:
        for symbol in [bound.symbol for bound in stage.ends]:
            wide[symbol] = Symbol(symbol.name, 0, max(DEFAULT_MAXIMUM, symbol.maximum))
    if not any([symbol in wide for symbol in func.symbols]):
        return func
    return declare(copy_func(func, lambda size: substitute(size, wide)))


def run_stages(
    stages: Stages, plans: Sequence[Plan], given: Sequence[Sequence[Any]], device: Device, run: Run,
    sizes: Mapping[str, int] | None,
) -> tuple[list[Any], dict[str, int]]:  # fmt: skip
    """The buffers of the results, and all sizes of this call, those that were counted too."""
    values, known = [*chain.from_iterable(given)], dict(sizes or {})
    for stage, compiled in zip(stages.steps, plans, strict=True):
        made = [*run(compiled, [[values[each] for each in stage.reads]], known)]
        if stage.ends:
            counts = _read(made.pop(), device)
            for bound, count in zip(stage.ends, counts, strict=True):
                known[bound.symbol.name] = _checked(bound, count)
        values += made
    return [values[each] for each in stages.outputs], known


def _read(buffer: Any, device: Device) -> list[int]:
    """The counts that a stage ends with."""
    try:
        return contents(buffer, device).reshape(-1).tolist()
    except IRError as problem:
        raise step_failure(problem, None) from None


def _checked(bound: Bound, count: int) -> int:
    """A count that its symbol may stand for."""
    if bound.symbol.admits(count):
        return count
    problem = f"the size {bound.symbol} is {count}, and not within 0..{bound.symbol.maximum}"
    raise failure(OperationFailed, bound.operation, problem, location=bound.location) from None
