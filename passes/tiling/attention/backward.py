"""Attention, backward: weights are made anew from the log-sum-exp, block by block.

Comes in: blocks of scores, the cotangent of the output as rows and panels, three numbers for each
query. Goes out: what a program does: its rows are queries, and it sums what they get; or they are
keys, and it sums what these and their values get, from all heads of queries that share them:

    weights = exp(score(scores) - log_sum_exp - rest)
    change  = weights * (cotangent · valueᵀ - delta)
    slopes  = scale * pull(scores, change)
    query gets Σ slopes · key, key gets Σ slopesᵀ · query, value gets Σ weightsᵀ · cotangent

Never: a sum that two programs add to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....ir import tile
from ....ir.values import AnyValue
from .change import Changing
from .program import Program
from .reach import Bounds
from .scores import Scores, Side
from .sums import Sums


@dataclass(slots=True)
class Pull:
    """How the gradient of a changed score becomes that of the score; `others` are where those of
    captures are stored, by programs of queries."""

    change: Changing
    others: Sequence[AnyValue] = ()


@dataclass(slots=True)
class Backward:
    """One program. `rows` has of each query the log-sum-exp, its rest and delta: packed, where the
    program's own rows are queries. `cotangents` are rows of values times those of the cotangent.
    `by_scores` sums rows weighted by gradients of scores, `by_weights` those weighted by weights.
    """

    program: Program
    scores: Scores
    pull: Pull
    cotangents: Side
    rows: tuple[AnyValue, ...]
    by_scores: Sums
    by_weights: Sums | None = None

    def write(self, heads: Callable[[Callable[[], None]], None]) -> None:
        """Sum all up; `heads` runs what it is given for each head of the columns."""
        program = self.program
        blocks = program.block(), program.block()

        def begin(block: AnyValue, row: AnyValue) -> None:
            for sums in self._all:
                sums.clear(block)

        def near(first: AnyValue) -> None:
            program.each_block(lambda block, row: self._see(block, row, first, blocks))

        def head() -> None:
            reach = self.scores.reach
            bounds = reach.begin(program.top), reach.end(program.bottom), program.near
            program.loop("near", bounds, near)

        program.each_block(begin)
        heads(head)

    def store(self, *targets: AnyValue) -> None:
        """Store the sums."""

        def finish(block: AnyValue, row: AnyValue) -> None:
            for sums, target in zip(self._all, targets, strict=True):
                sums.store(target, block, row)

        self.program.each_block(finish)

    @property
    def _all(self) -> list[Sums]:
        return [self.by_scores, *([self.by_weights] if self.by_weights is not None else [])]

    def _see(
        self, block: AnyValue, row: AnyValue, first: AnyValue, blocks: tuple[AnyValue, AnyValue]
    ) -> None:
        """One block of rows sees the columns from `first` on."""
        program, scores = self.program, self.scores
        begin = scores.reach.begin_of_block(row, first)
        end = scores.reach.end_of_block(row, first)
        bounds = Bounds(first, begin, program.greatest(end, begin))
        for target, side in zip(blocks, (scores.side, self.cotangents), strict=True):
            scores.put(target, side, block, bounds)
        program.each_few(lambda line: self._weigh(block, line, row, bounds, blocks))
        for sums, weights in zip(self._all, blocks, strict=False):
            sums.add(block, weights, scores.group, bounds)

    def _weigh(
        self,
        block: AnyValue,
        line: AnyValue,
        row: AnyValue,
        bounds: Bounds,
        blocks: tuple[AnyValue, AnyValue],
    ) -> None:
        """Put gradients and weights in the place of products, for a few rows."""
        program = self.program
        first, begin, end = bounds
        zero = program.size(0)

        def panel(at: AnyValue) -> None:
            column = program.subtract(at, first)
            places = [program.columns_of(each, line, column, program.few) for each in blocks]
            shape = program.few, program.beside
            products = [program.load(place, [zero, zero], *shape) for place in places]
            numbers = [self._of_queries(view, block, line, at) for view in self.rows]
            made = self._gradients(program.add(row, line), at, products, numbers)
            for place, value in zip(places, made, strict=True):
                program.store(place, value, [zero, zero])

        program.loop("column", (begin, end, program.beside), panel)

    def _gradients(
        self, row: AnyValue, at: AnyValue, products: Sequence[AnyValue], numbers: Sequence[AnyValue]
    ) -> tuple[AnyValue, AnyValue]:
        """Of a few rows of scores the gradients, and the weights."""
        program, scores, pull = self.program, self.scores, self.pull
        scaled, seen = scores.scaled(products[0]), scores.reach.seen(row, at)
        none = program.constant(0.0, *scaled.type.shape)
        scored = scores.changed(row, at, scaled)
        log_sum_exp, rest, delta = numbers
        less = program.subtract(program.subtract(scored, program.finite(log_sum_exp)), rest)
        weights = program.select(seen, program.unary(tile.UnaryKind.EXP, less), none)
        change = program.subtract(products[1], delta)
        change = program.multiply(weights, change)
        spot = scores.spot(row, at)
        made = pull.change.emit(program, spot, [scaled, change])
        for target, other in zip(pull.others, made[1:], strict=False):
            mine = program.of_head(target, program.rows, program.columns)
            program.store(mine, other, [row, at])
        return program.select(seen, scores.scaled(made[0]), none), weights

    def _of_queries(
        self, view: AnyValue, block: AnyValue, line: AnyValue, at: AnyValue
    ) -> AnyValue:
        """The numbers of the queries of a few rows, along all columns of a panel."""
        program = self.program
        shape = (program.few, program.beside)
        if self.scores.reach.turned:
            mine = program.inner(view, [program.sample, self.scores.head], program.columns)
            return program.spread(program.load(mine, [at], program.beside), 1, *shape)
        numbers = program.load(view, [block, line], 1, program.few)
        return program.spread(program.reshape(numbers, program.few), 0, *shape)
