"""Attention, forward: a block of queries sees the keys once, and never all scores at a time.

Comes in: queries, and keys and values in panels. Goes out: what a program does. For the columns
that are near it keeps the scores of a block of rows in memory of its own: it makes them, finds the
largest, takes powers, and adds rows of values to what it has, which shrinks as the largest grows.
Never: a score in memory that programs share.
"""

from collections.abc import Callable
from math import inf

from ....ir import tile
from ....ir.values import AnyValue
from .program import Kind, Program
from .scores import Bounds, Scores
from .sums import Sums

EXP = tile.UnaryKind.EXP
Panel = Callable[[AnyValue, AnyValue, AnyValue], AnyValue]
"""From a column, its place in memory and what is carried to what is carried on."""


class Forward:
    """One program; of each of its rows it knows the largest score and the sum of powers so far."""

    def __init__(self, program: Program, scores: Scores, values: Sums) -> None:
        self.program, self.scores, self.values = program, scores, values
        self.writer, self.zero = program.writer, program.writer.size(0)
        self.largest, self.sums, self.shrink = (program.scratch(program.lines) for _ in range(3))
        self.block = program.block()

    def write(self, output: AnyValue, log_sum_exp: AnyValue) -> None:
        """All of it."""
        program, writer = self.program, self.writer
        program.each_block(self._begin)

        def near(first: AnyValue) -> list[AnyValue]:
            program.each_block(lambda block, row: self._see(block, row, first))
            return []

        bounds = writer.size(0), self.scores.end(program.bottom), program.near
        writer.loop("near", bounds, near)
        program.each_block(lambda block, row: self._finish(block, row, output, log_sum_exp))

    def _begin(self, block: AnyValue, row: AnyValue) -> None:
        lines = self.program.lines
        self._keep(self.largest, block, self.program.full(-inf, lines))
        self._keep(self.sums, block, self.program.full(0.0, lines))
        self.values.clear(block)

    def _see(self, block: AnyValue, row: AnyValue, first: AnyValue) -> None:
        """One block of rows sees the columns from `first` on."""
        program, end = self.program, self.scores.end_of_block(row, first)
        bounds = first, first, end
        self.scores.put(self.block, self.scores.side, block, bounds)
        program.each_few(lambda line: self._weigh(block, line, row, bounds))
        shrink = self._kept(self.shrink, block)
        self.values.add(block, self.block, (self.scores.group, *bounds), shrink)

    def _weigh(self, block: AnyValue, line: AnyValue, row: AnyValue, bounds: Bounds) -> None:
        """Put powers in the place of products, for a few rows."""
        program, few = self.program, self.program.few
        before = self._kept(self.largest, block, line)
        found = self._change(line, self.writer.add(row, line), bounds)
        largest = program.binary(Kind.MAXIMUM, before, found)
        shift = program.finite(largest)
        shrink = program.unary(EXP, program.binary(Kind.SUBTRACT, before, shift))
        sums = program.binary(Kind.MULTIPLY, self._kept(self.sums, block, line), shrink)
        sums = program.binary(Kind.ADD, sums, self._take_powers(line, shift, bounds))
        kept = (self.largest, largest), (self.sums, sums), (self.shrink, shrink)
        for view, value in kept:
            program.put(view, program.reshape(value, 1, few), [block, line])

    def _change(self, line: AnyValue, row: AnyValue, bounds: Bounds) -> AnyValue:
        """Put changed scores in the place of products; the largest of each row."""
        program, scores = self.program, self.scores

        def panel(at: AnyValue, place: AnyValue, largest: AnyValue) -> AnyValue:
            scored = scores.changed(row, at, scores.scaled(self._load(place)))
            unseen = program.full(-inf, *scored.type.shape)
            counted = program.select(scores.seen(row, at), scored, unseen)
            program.put(place, counted, [self.zero, self.zero])
            return program.binary(Kind.MAXIMUM, largest, counted)

        return self._along(line, bounds, -inf, tile.ReduceKind.MAXIMUM, panel)

    def _take_powers(self, line: AnyValue, shift: AnyValue, bounds: Bounds) -> AnyValue:
        """Put powers in the place of scores; the sum of each row."""
        program = self.program

        def panel(at: AnyValue, place: AnyValue, sums: AnyValue) -> AnyValue:
            scored = self._load(place)
            shifts = program.spread(shift, (program.few, program.beside), 0)
            powers = program.unary(EXP, program.binary(Kind.SUBTRACT, scored, shifts))
            program.put(place, powers, [self.zero, self.zero])
            return program.binary(Kind.ADD, sums, powers)

        return self._along(line, bounds, 0.0, tile.ReduceKind.SUM, panel)

    def _along(
        self, line: AnyValue, bounds: Bounds, start: float, kind: tile.ReduceKind, panel: Panel
    ) -> AnyValue:
        """Run `panel` for all columns of a few rows; reduce what it carries."""
        program, writer = self.program, self.writer
        first, begin, end = bounds

        def body(at: AnyValue, carried: AnyValue) -> list[AnyValue]:
            column = writer.subtract(at, first)
            place = program.columns_of(self.block, line, column, program.few)
            return [panel(at, place, carried)]

        none = program.full(start, program.few, program.beside)
        (found,) = writer.loop(kind.value, (begin, end, program.beside), body, [none])
        return writer.emit(tile.Reduce, found, axis=1, kind=kind)

    def _load(self, place: AnyValue) -> AnyValue:
        """A few rows of the block."""
        program = self.program
        return program.load(place, [self.zero, self.zero], program.few, program.beside)

    def _finish(
        self, block: AnyValue, row: AnyValue, output: AnyValue, log_sum_exp: AnyValue
    ) -> None:
        """Divide by the sums, and store."""
        program = self.program
        lines = program.lines
        largest, sums = self._kept(self.largest, block), self._kept(self.sums, block)
        none = program.equals(sums, 0.0)
        divisor = program.select(none, program.full(1.0, lines), sums)
        logarithm = program.unary(tile.UnaryKind.LOG, sums)
        made = program.binary(Kind.ADD, program.finite(largest), logarithm)
        program.put(program.of_head(log_sum_exp, program.rows), made, [row])

        def divided(total: AnyValue) -> AnyValue:
            shape = total.type.shape
            whole = program.binary(Kind.DIVIDE, total, program.spread(divisor, shape, 1))
            nothing_seen = program.spread(none, shape, 1)
            return program.select(nothing_seen, program.full(0.0, *shape), whole)

        self.values.store(output, block, row, divided)

    def _kept(self, view: AnyValue, block: AnyValue, line: AnyValue | None = None) -> AnyValue:
        """What is known of the rows of a block, or of a few of them."""
        program = self.program
        count, start = (program.lines, self.zero) if line is None else (program.few, line)
        return program.reshape(program.load(view, [block, start], 1, count), count)

    def _keep(self, view: AnyValue, block: AnyValue, value: AnyValue) -> None:
        row = self.program.reshape(value, 1, self.program.lines)
        self.program.put(view, row, [block, self.zero])
