"""The triangle L with L @ Lᵀ = x: a program for each matrix.

Comes in: a kernel of one `tensor.cholesky`. Goes out: its stages, and a check whether a matrix was
not positive; large matrices stay with the host, who has products of blocks for them.
Never: a tile that runs along a column: the program makes Lᵀ, in the memory of L, and turns it then.
"""

from math import prod

from ...ir import tensor
from ...ir.dtypes import i64
from ...ir.func import Func
from ...ir.tensor.factor import FACTORED_AS_ONE, NOT_POSITIVE
from ...ir.tile import CompareKind, UnaryKind
from ...ir.values import AnyValue
from .draft import Draft
from .kernel import Param
from .parts import Check, Stage, Stages
from .schedule import Chooser, KernelShape
from .staging import Staging, as_it_is, by_size

X, RESULT = range(2)


def cholesky(func: Func, op: tensor.Cholesky, choose: Chooser) -> Stages:
    """One stage and its check, or for large matrices the op as it is."""
    shape = op.x.type.shape

    def alone() -> Stages:
        staging = Staging.of(func)
        flags = staging.room(shape[:-2], i64)
        stage = _Cholesky(func, op, choose).stage([X, RESULT, flags.array])
        staging.steps += [stage, Check(flags, op.name, NOT_POSITIVE)]
        return staging.done()

    return by_size(func, prod(shape[-2:]), FACTORED_AS_ONE, lambda: as_it_is(func), alone)


class _Cholesky:
    """The program of a matrix, while it is being written."""

    def __init__(self, func: Func, op: tensor.Cholesky, choose: Chooser) -> None:
        *stack, side, _ = op.x.type.shape
        self.dtype = dtype = op.x.dtype
        schedule = choose(KernelShape("map", dtype, dtype, live=2, single=True))
        count = prod(stack)
        params = [
            Param(0, (count, side, side), dtype, func.arguments[0].name),
            Param(0, (count, side, side), dtype, func.results[0].name, written=True),
            Param(1, (count,), i64, "flags", written=True),
        ]
        self.draft = draft = Draft(func, params, [(count, 1)], schedule)
        draft.func.name = f"{func.name}_factored"
        self.width = schedule.get("n", 1)
        self.zero, self.one, self.side = draft.size(0), draft.size(1), draft.size(side)
        (start,), sizes = draft.starts, [self.side, self.side]
        self.source, self.work = [
            draft.part(view, [start, self.zero, self.zero], sizes) for view in draft.views[:2]
        ]
        self.flag = draft.part(draft.views[-1], [start], [self.one])

    def stage(self, arrays: list[int]) -> Stage:
        """All of it."""
        draft, rows = self.draft, (self.zero, self.side, 1)
        draft.loop("row", rows, self._turn_in)
        (flag,) = draft.loop("step", rows, self._step, [draft.number(0, i64)])
        draft.loop("row", rows, self._turn_back)
        draft.put(self.flag, flag, self.zero)
        return draft.stage(arrays)

    def _turn_in(self, row: AnyValue) -> None:
        """A row of x, up to the diagonal, becomes a column."""
        draft = self.draft

        def body(at: AnyValue) -> None:
            draft.put(self.work, draft.element(self.source, row, at), at, row)

        draft.loop("column", (self.zero, draft.add(row, self.one), 1), body)

    def _turn_back(self, row: AnyValue) -> None:
        """A column, down to the diagonal, becomes a row, and leaves zeros."""
        draft = self.draft

        def body(at: AnyValue) -> None:
            draft.put(self.work, draft.element(self.work, at, row), row, at)
            draft.put(self.work, draft.number(0.0, self.dtype), at, row)

        draft.loop("column", (self.zero, row, 1), body)

    def _step(self, step: AnyValue, flag: AnyValue) -> list[AnyValue]:
        """A row of Lᵀ, and what it makes of those below."""
        draft = self.draft
        pivot, behind = draft.element(self.work, step, step), draft.add(step, self.one)
        root = draft.unary(UnaryKind.SQUARE_ROOT, pivot)
        draft.put(self.work, root, step, step)
        roots = draft.full(root, 1, self.width)

        def scale(at: AnyValue) -> None:
            tile = draft.load(self.work, [step, at], 1, self.width)
            draft.store(self.work, draft.divide(tile, roots), [step, at])

        def below(row: AnyValue) -> None:
            self._less(step, row)

        draft.loop("column", (behind, self.side, self.width), scale)
        draft.loop("below", (behind, self.side, 1), below)
        is_none = draft.compare(CompareKind.LESS_EQUAL, pivot, draft.number(0.0, self.dtype))
        return [draft.select(is_none, draft.number(1, i64), flag)]

    def _less(self, step: AnyValue, row: AnyValue) -> None:
        """A row from its diagonal on, less what a row of Lᵀ makes of it."""
        draft = self.draft
        factors = draft.full(draft.element(self.work, step, row), 1, self.width)

        def body(at: AnyValue) -> None:
            known, mine = [draft.load(self.work, [each, at], 1, self.width) for each in (step, row)]
            less = draft.subtract(mine, draft.multiply(factors, known))
            draft.store(self.work, less, [row, at])

        draft.loop("column", (row, self.side, self.width), body)
