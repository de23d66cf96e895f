"""Linear equations: elimination, and rows of solutions one after the other.

Comes in: a kernel of one `tensor.solve` or `tensor.triangular_solve`. Goes out: its stages, with a
program for each matrix, and a check whether one was singular; large matrices stay with the host.
Never: right sides that are copied: they are read in the order in which the matrix's rows are.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from ...ir import tensor
from ...ir.dtypes import i64
from ...ir.func import Func
from ...ir.tensor.factor import LARGE
from ...ir.tensor.solve import SINGULAR, SOLVED_AS_ONE, Equations
from ...ir.tile import CompareKind
from ...ir.values import AnyValue
from .draft import Draft
from .eliminate import factors_of
from .kernel import Param
from .parts import Check, Stage, Stages
from .schedule import Chooser, KernelShape
from .staging import Staging, as_it_is, by_size

MATRIX, RIGHT, RESULT = range(3)


class Triangle(NamedTuple):
    """Which part of a matrix it is, and whether its diagonal counts as ones."""

    lower: bool
    unit: bool


def solve(func: Func, op: tensor.Solve, choose: Chooser) -> Stages:
    """Elimination, and the solutions for both triangles; or for large matrices the op as it is."""

    def alone() -> Stages:
        staging, matrix = Staging.of(func), op.matrix.type
        factors, rows = staging.hold(matrix), staging.room(matrix.shape[:-1], i64)
        made = factors_of(func, matrix, choose)
        staging.launch_all(made, [MATRIX, factors.array, rows.array])
        flags = staging.room(matrix.shape[:-2], i64)
        program = _Substitution(func, op, choose, checked=True, ordered=True)
        lower, upper = Triangle(lower=True, unit=True), Triangle(lower=False, unit=False)
        arrays = [factors.array, rows.array, RIGHT, RESULT, flags.array]
        stage = program.stage([lower, upper], arrays)
        staging.steps += [stage, Check(flags, op.name, SINGULAR)]
        return staging.done()

    size = prod(op.matrix.type.shape[-2:])
    return by_size(func, size, SOLVED_AS_ONE, lambda: as_it_is(func), alone)


def solve_triangle(func: Func, op: tensor.TriangularSolve, choose: Chooser) -> Stages:
    """The solutions for a triangle; or for large ones the op as it is."""
    triangle = Triangle(op.lower, op.unit)

    def alone() -> Stages:
        staging = Staging.of(func)
        program = _Substitution(func, op, choose, checked=not op.unit)
        if op.unit:
            staging.steps.append(program.stage([triangle], [MATRIX, RIGHT, RESULT]))
            return staging.done()
        flags = staging.room(op.matrix.type.shape[:-2], i64)
        stage = program.stage([triangle], [MATRIX, RIGHT, RESULT, flags.array])
        staging.steps += [stage, Check(flags, op.name, SINGULAR)]
        return staging.done()

    size = prod(op.matrix.type.shape[-2:])
    return by_size(func, size, LARGE, lambda: as_it_is(func), alone)


class _Substitution:
    """The program of a matrix, while it is being written; `ordered`: with the order in which right
    sides are read, and `checked`: with a flag of a 0 that something is divided by."""

    def __init__(
        self, func: Func, op: Equations, choose: Chooser, *, checked: bool, ordered: bool = False
    ) -> None:
        self.dtype, self.checked = op.right.dtype, checked
        schedule = choose(KernelShape("map", self.dtype, self.dtype, live=3, single=True))
        *stack, side, count = op.right.type.shape
        self.width = 1 if count == 1 else schedule.get("n", 1)
        params = _params(func, op, checked, ordered)
        self.draft = draft = Draft(func, params, [(prod(stack), 1)], schedule)
        draft.func.name = f"{func.name}_solved"
        self.zero, self.side, self.count = draft.size(0), draft.size(side), draft.size(count)
        of_matrices = zip(draft.views, params[: 4 if ordered else 3], strict=False)
        self.matrix, *rows, self.right, self.result = [self._own(*each) for each in of_matrices]
        self.rows = rows[0] if rows else None

    def _own(self, view: AnyValue, param: Param) -> AnyValue:
        """What a program has of an array."""
        sizes = [self.draft.size(size) for size in param.shape[1:]]
        return self.draft.part(view, [*self.draft.starts, *[self.zero] * len(sizes)], sizes)

    def stage(self, triangles: Sequence[Triangle], arrays: Sequence[int]) -> Stage:
        """All of it, for one triangle after the other."""
        draft = self.draft
        singular = draft.number(0, i64)
        for triangle in triangles:
            singular = self._solve(triangle, singular)
            self.right, self.rows = self.result, None
        if self.checked:
            flag = draft.part(draft.views[-1], draft.starts, [draft.size(1)])
            draft.put(flag, singular, self.zero)
        return draft.stage(arrays)

    def _solve(self, triangle: Triangle, singular: AnyValue) -> AnyValue:
        """All rows of solutions, and whether there is a 0 on the diagonal, or was before."""
        draft = self.draft
        last = draft.subtract(self.side, 1)

        def body(step: AnyValue, singular: AnyValue) -> list[AnyValue]:
            row = step if triangle.lower else draft.subtract(last, step)
            source = row if self.rows is None else draft.element(self.rows, row)
            pivot = None if triangle.unit else draft.element(self.matrix, row, row)

            def columns(at: AnyValue) -> None:
                self._row(triangle, (source, row, step, at), pivot)

            draft.loop("column", (self.zero, self.count, self.width), columns)
            if pivot is None:
                return [singular]
            is_none = draft.compare(CompareKind.EQUAL, pivot, draft.number(0.0, self.dtype))
            return [draft.select(is_none, draft.number(1, i64), singular)]

        (found,) = draft.loop("row", (self.zero, self.side, 1), body, [singular])
        return found

    def _row(
        self, triangle: Triangle, places: tuple[AnyValue, ...], pivot: AnyValue | None
    ) -> None:
        """Part of a row of solutions: its right sides, less what the rows before it make of it."""
        draft, (source, row, step, at) = self.draft, places
        last = draft.subtract(self.side, 1)

        def less(before: AnyValue, rest: AnyValue) -> list[AnyValue]:
            other = before if triangle.lower else draft.subtract(last, before)
            factor = draft.full(draft.element(self.matrix, row, other), 1, self.width)
            known = draft.load(self.result, [other, at], 1, self.width)
            return [draft.subtract(rest, draft.multiply(factor, known))]

        rest = draft.load(self.right, [source, at], 1, self.width)
        (rest,) = draft.loop("before", (self.zero, step, 1), less, [rest])
        if pivot is not None:
            rest = draft.divide(rest, draft.full(pivot, 1, self.width))
        draft.store(self.result, rest, [row, at])


def _params(func: Func, op: Equations, checked: bool, ordered: bool) -> list[Param]:
    """The matrix, the order of its rows, right sides, solutions, and flags."""
    *stack, side, count = op.right.type.shape
    programs, dtype = prod(stack), op.right.dtype
    matrix, right = [each.name for each in func.arguments]
    params = [Param(0, (programs, side, side), dtype, matrix)]
    if ordered:
        params.append(Param(1, (programs, side), i64, "rows"))
    params.append(Param(2, (programs, side, count), dtype, right))
    result = func.results[0].name
    params.append(Param(0, (programs, side, count), dtype, result, written=True))
    if checked:
        params.append(Param(1, (programs,), i64, "flags", written=True))
    return params
