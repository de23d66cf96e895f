"""Attention, forward: a block of queries sees the keys once, and never all scores at a time.

Comes in: queries, and keys and values in panels. Goes out: what a program does. For the columns
that are near it keeps the scores of a block of rows in memory of its own: it makes them, finds the
largest, takes powers, and adds rows of values to what it has, which shrinks as the largest grows:

    largest' = max(largest, max(scores))           shrink = exp(largest - largest')
    powers   = exp(scores - largest')              sums'  = sums * shrink + Σ powers
                                                   total' = total * shrink + powers · values
    output = total / sums, and log_sum_exp = largest + log(sums)
    rest   = (largest - log_sum_exp) + log(sums), which is what rounding took

Never: a score in memory that programs share.
"""

from collections.abc import Callable, Sequence
from math import inf

from ....ir import tile
from ....ir.values import AnyValue
from .program import Program
from .reach import Bounds
from .scores import Scores
from .sums import Sums

EXP = tile.UnaryKind.EXP
Panel = Callable[[AnyValue, AnyValue, AnyValue], AnyValue]
"""From a column, its place in memory and what is carried to what is carried on."""


class Forward:
    """One program; of each of its rows it knows the largest score and the sum of powers so far."""

    def __init__(self, program: Program, scores: Scores, values: Sums) -> None:
        self.program, self.scores, self.values = program, scores, values
        self.zero = program.size(0)
        self.largest, self.sums, self.shrink = (program.kept(program.lines) for _ in range(3))
        self.block = program.block()

    def write(self, output: AnyValue, *numbers: AnyValue) -> None:
        """All of it; the numbers are the log-sum-exp and its rest."""
        program = self.program
        program.each_block(self._begin)

        def near(first: AnyValue) -> None:
            program.each_block(lambda block, row: self._see(block, row, first))

        bounds = program.size(0), self.scores.reach.end(program.bottom), program.near
        program.loop("near", bounds, near)
        program.each_block(lambda block, row: self._finish(block, row, output, numbers))

    def _begin(self, block: AnyValue, row: AnyValue) -> None:
        lines = self.program.lines
        self._keep(self.largest, block, self.program.constant(-inf, lines))
        self._keep(self.sums, block, self.program.constant(0.0, lines))
        self.values.clear(block)

    def _see(self, block: AnyValue, row: AnyValue, first: AnyValue) -> None:
        """One block of rows sees the columns from `first` on."""
        program, end = self.program, self.scores.reach.end_of_block(row, first)
        bounds = Bounds(first, first, end)
        self.scores.put(self.block, self.scores.side, block, bounds)
        program.each_few(lambda line: self._weigh(block, line, row, bounds))
        shrink = self._kept(self.shrink, block)
        self.values.add(block, self.block, self.scores.group, bounds, shrink)

    def _weigh(self, block: AnyValue, line: AnyValue, row: AnyValue, bounds: Bounds) -> None:
        """Put powers in the place of products, for a few rows."""
        program, few = self.program, self.program.few
        before = self._kept(self.largest, block, line)
        found = self._change(line, self.program.add(row, line), bounds)
        largest = program.greatest(before, found)
        shift = program.finite(largest)
        shrink = program.unary(EXP, program.subtract(before, shift))
        sums = program.multiply(self._kept(self.sums, block, line), shrink)
        sums = program.add(sums, self._take_powers(line, shift, bounds))
        kept = (self.largest, largest), (self.sums, sums), (self.shrink, shrink)
        for view, value in kept:
            program.store(view, program.reshape(value, 1, few), [block, line])

    def _change(self, line: AnyValue, row: AnyValue, bounds: Bounds) -> AnyValue:
        """Put changed scores in the place of products; the largest of each row."""
        program, scores = self.program, self.scores

        def panel(at: AnyValue, place: AnyValue, largest: AnyValue) -> AnyValue:
            scored = scores.changed(row, at, scores.scaled(self._load(place)))
            unseen = program.constant(-inf, *scored.type.shape)
            counted = program.select(scores.reach.seen(row, at), scored, unseen)
            program.store(place, counted, [self.zero, self.zero])
            return program.greatest(largest, counted)

        return self._along(line, bounds, -inf, tile.ReduceKind.MAXIMUM, panel)

    def _take_powers(self, line: AnyValue, shift: AnyValue, bounds: Bounds) -> AnyValue:
        """Put powers in the place of scores; the sum of each row."""
        program = self.program

        def panel(at: AnyValue, place: AnyValue, sums: AnyValue) -> AnyValue:
            scored = self._load(place)
            shifts = program.spread(shift, 0, program.few, program.beside)
            powers = program.unary(EXP, program.subtract(scored, shifts))
            program.store(place, powers, [self.zero, self.zero])
            return program.add(sums, powers)

        return self._along(line, bounds, 0.0, tile.ReduceKind.SUM, panel)

    def _along(
        self, line: AnyValue, bounds: Bounds, start: float, kind: tile.ReduceKind, panel: Panel
    ) -> AnyValue:
        """Run `panel` for all columns of a few rows; reduce what it carries."""
        program = self.program

        def body(at: AnyValue, carried: AnyValue) -> list[AnyValue]:
            column = program.subtract(at, bounds.first)
            place = program.columns_of(self.block, line, column, program.few)
            return [panel(at, place, carried)]

        none = program.constant(start, program.few, program.beside)
        steps = bounds.begin, bounds.end, program.beside
        (found,) = program.loop(kind.value, steps, body, [none])
        return program.reduce(kind, found, axis=1)

    def _load(self, place: AnyValue) -> AnyValue:
        """A few rows of the block."""
        program = self.program
        return program.load(place, [self.zero, self.zero], program.few, program.beside)

    def _finish(
        self, block: AnyValue, row: AnyValue, output: AnyValue, numbers: Sequence[AnyValue]
    ) -> None:
        """Divide by the sums, and store."""
        program = self.program
        lines = program.lines
        largest, sums = self._kept(self.largest, block), self._kept(self.sums, block)
        none, zeros = program.equals(sums, 0.0), program.constant(0.0, lines)
        divisor = program.select(none, program.constant(1.0, lines), sums)
        logarithm, shift = program.unary(tile.UnaryKind.LOG, sums), program.finite(largest)
        made = program.add(shift, logarithm)
        rest = program.add(program.subtract(shift, made), logarithm)
        for view, each in zip(numbers, (made, program.select(none, zeros, rest)), strict=True):
            program.store(program.of_head(view, program.rows), each, [row])

        def divided(total: AnyValue) -> AnyValue:
            shape = total.type.shape
            whole = program.divide(total, program.spread(divisor, 1, *shape))
            nothing_seen = program.spread(none, 1, *shape)
            return program.select(nothing_seen, program.constant(0.0, *shape), whole)

        self.values.store(output, block, row, divided)

    def _kept(self, view: AnyValue, block: AnyValue, line: AnyValue | None = None) -> AnyValue:
        """What is known of the rows of a block, or of a few of them."""
        program = self.program
        count, start = (program.lines, self.zero) if line is None else (program.few, line)
        return program.reshape(program.load(view, [block, start], 1, count), count)

    def _keep(self, view: AnyValue, block: AnyValue, value: AnyValue) -> None:
        row = self.program.reshape(value, 1, self.program.lines)
        self.program.store(view, row, [block, self.zero])
