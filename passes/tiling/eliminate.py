"""Gaussian elimination: a program for each matrix.

Comes in: a kernel of one `tensor.lu`. Goes out: its stage, whose program works in the memory of the
factors; large matrices stay with the host, who has products of blocks for them.
Never: a pivot that is looked for in a run of its own: the run before has seen its column.
"""

from math import prod
from typing import NamedTuple

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dtypes import i64
from ...ir.func import Func, Return
from ...ir.tensor.factor import LARGE
from ...ir.tile import BinaryKind, CompareKind, UnaryKind
from ...ir.types import Tensor
from ...ir.values import AnyValue
from .draft import Draft
from .kernel import Param
from .parts import Stage, Stages
from .schedule import Chooser, KernelShape
from .staging import as_it_is, by_size

X, FACTORS, ROWS = range(3)


class Best(NamedTuple):
    """The largest number of a column so far, or the first NaN, and its row."""

    size: AnyValue
    row: AnyValue


def eliminate(func: Func, op: tensor.Lu, choose: Chooser) -> Stages:
    """One stage, or for large matrices the op as it is."""

    def alone() -> Stages:
        return Stages(func, (_Elimination(func, op, choose).stage(),))

    return by_size(func, prod(op.x.type.shape[-2:]), LARGE, lambda: as_it_is(func), alone)


def factors_of(func: Func, x: Tensor, choose: Chooser) -> Stages:
    """Elimination of matrices of this type as a part of another kernel."""
    inner = Func(f"{func.name}_factors", [x], func.symbols, location=func.location)
    builder = Builder(inner.body, location=func.location)
    builder.emit_all(Return, builder.emit_all(tensor.Lu, inner.arguments[0]))
    op = inner.results[0].op
    assert isinstance(op, tensor.Lu)
    return Stages(inner, (_Elimination(inner, op, choose).stage(),))


class _Elimination:
    """The program of a matrix, while it is being written."""

    def __init__(self, func: Func, op: tensor.Lu, choose: Chooser) -> None:
        *stack, tall, wide = op.x.type.shape
        self.dtype = op.x.dtype
        schedule = choose(KernelShape("map", self.dtype, self.dtype, live=2, single=True))
        count = prod(stack)
        params = [
            Param(0, (count, tall, wide), self.dtype, func.arguments[0].name),
            Param(0, (count, tall, wide), self.dtype, func.results[0].name, written=True),
            Param(1, (count, tall), i64, func.results[1].name, written=True),
        ]
        self.draft = draft = Draft(func, params, [(count, 1)], schedule)
        draft.func.name = f"{func.name}_alone"
        self.width = schedule.get("n", 1)
        self.tall, self.wide = draft.size(tall), draft.size(wide)
        (start,), zero, one = draft.starts, draft.size(0), draft.size(1)
        self.zero, self.one = zero, one
        sizes = [self.tall, self.wide]
        self.source, self.factors = [
            draft.part(view, [start, zero, zero], sizes) for view in draft.views[:ROWS]
        ]
        self.rows = draft.part(draft.views[ROWS], [start, zero], [self.tall])

    def stage(self) -> Stage:
        """All of it."""
        draft = self.draft
        none = Best(draft.number(-1.0, self.dtype), self.zero)
        best = draft.loop("row", (self.zero, self.tall, 1), self._copy, none)
        steps = draft.least(self.tall, self.wide)
        draft.loop("step", (self.zero, steps, 1), self._step, best)
        return draft.stage([X, FACTORS, ROWS])

    def _copy(self, row: AnyValue, *best: AnyValue) -> Best:
        """A row of x, and its number."""
        draft = self.draft

        def body(at: AnyValue) -> None:
            draft.store(self.factors, draft.load(self.source, [row, at], 1, self.width), [row, at])

        draft.loop("copied", (self.zero, self.wide, self.width), body)
        draft.put(self.rows, row, row)
        return self._better(Best(*best), row, self.zero)

    def _step(self, step: AnyValue, size: AnyValue, chosen: AnyValue) -> Best:
        """The row of the pivot comes where it belongs, and times something off each below."""
        draft = self.draft
        self._exchange(step, chosen)
        pivot = draft.element(self.factors, step, step)
        none, behind = draft.number(0.0, self.dtype), draft.add(step, self.one)
        is_none = draft.compare(CompareKind.EQUAL, pivot, none)

        def below(row: AnyValue, *best: AnyValue) -> Best:
            there = draft.element(self.factors, row, step)
            factor = draft.select(is_none, there, draft.divide(there, pivot))
            draft.put(self.factors, factor, row, step)
            factors = draft.full(factor, 1, self.width)

            def body(at: AnyValue) -> None:
                first, mine = [
                    draft.load(self.factors, [each, at], 1, self.width) for each in (step, row)
                ]
                less = draft.subtract(mine, draft.multiply(factors, first))
                draft.store(self.factors, less, [row, at])

            draft.loop("column", (behind, self.wide, self.width), body)
            return self._better(Best(*best), row, behind)

        begin = Best(draft.number(-1.0, self.dtype), behind)
        return Best(*draft.loop("below", (behind, self.tall, 1), below, begin))

    def _exchange(self, step: AnyValue, chosen: AnyValue) -> None:
        """Exchange two rows, if they are two."""
        draft, rows = self.draft, (step, chosen)

        def body(at: AnyValue) -> None:
            tiles = [draft.load(self.factors, [row, at], 1, self.width) for row in rows]
            for row, each in zip(rows, reversed(tiles), strict=True):
                draft.store(self.factors, each, [row, at])

        same = draft.compare(CompareKind.EQUAL, step, chosen)
        end = draft.select(same, self.zero, self.wide)
        draft.loop("exchanged", (self.zero, end, self.width), body)
        numbers = [draft.element(self.rows, row) for row in rows]
        for row, each in zip(rows, reversed(numbers), strict=True):
            draft.put(self.rows, each, row)

    def _better(self, best: Best, row: AnyValue, column: AnyValue) -> Best:
        """This row's number of a column, if it is larger than the best one, or the first NaN."""
        draft = self.draft
        size = draft.unary(UnaryKind.ABSOLUTE, draft.element(self.factors, row, column))
        stays = draft.binary(
            BinaryKind.BIT_OR,
            draft.compare(CompareKind.LESS_EQUAL, size, best.size),
            draft.compare(CompareKind.NOT_EQUAL, best.size, best.size),
        )
        made = zip(best, (size, row), strict=True)
        return Best(*[draft.select(stays, old, new) for old, new in made])
