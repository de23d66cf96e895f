"""L-BFGS: steps of Newton's kind, by a curvature that is learned from the last gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ... import abs as size_of
from ... import (
    asarray,
    concat,
    int32,
    minimum,
    result_type,
    scan,
    value_and_grad,
    where,
    while_loop,
    zeros,
    zeros_like,
)  # fmt: skip
from ...frontend.errors import ArgumentError, fail
from ...frontend.paths import aligned, paths_of
from ...frontend.tree import Structure, flatten
from ..checks import expect_among, expect_at_least, expect_whole
from ..schedules.schedule import Rate, expect_rate, rate_at
from .line_search import Line, Point
from .optimiser import Optimiser, check_gradients, device_of, trained_places, widened

CURVED = 1e-10
"""How much a gradient must change along a move, for the pair to be remembered."""


@dataclass(frozen=True)
class LBFGSState:
    """What L-BFGS remembers, with all leaves at `paths` as one vector.

    The last direction, how far it was followed, the gradient before; the last changes of gradients
    and the moves that brought them, the newest last; for each one over their product.
    """

    step: Any
    direction: Any
    length: Any
    gradient: Any
    changes: Any
    moves: Any
    inverses: Any
    diagonal: Any
    paths: tuple[str, ...] = field(metadata={"static": True})


class Descent(NamedTuple):
    """A minimisation on its way: where it is, and what it took so far."""

    vector: Any
    value: Any
    gradient: Any
    state: LBFGSState
    turns: Any
    evaluations: Any
    is_done: Any


@dataclass(frozen=True)
class LBFGS(Optimiser):
    """Limited-memory BFGS (Liu and Nocedal, 1989), for small models and losses without noise.

    `update` makes one step of length `lr`. `minimise` takes the loss itself and makes up to
    `max_iter` steps, with `line_search_fn="strong_wolfe"` each as long as it should be. The state
    has 2 * `history_size` times the size of what is trained.
    """

    lr: Rate = 1.0
    max_iter: int = 20
    max_eval: int | None = None
    tolerance_grad: float = 1e-7
    tolerance_change: float = 1e-9
    history_size: int = 100
    line_search_fn: str | None = None

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_whole(self, 1, max_iter=self.max_iter, history_size=self.history_size)
        if self.max_eval is not None:
            expect_whole(self, 1, max_eval=self.max_eval)
        expect_at_least(self, 0, tolerance_grad=self.tolerance_grad)
        expect_at_least(self, 0, tolerance_change=self.tolerance_change)
        expect_among(self, (None, "strong_wolfe"), line_search_fn=self.line_search_fn)

    def initial(self, model: Any) -> LBFGSState:
        """The state before the first step, of all leaves that are trained."""
        leaves, structure = flatten(model)
        places, paths = trained_places(leaves, structure), paths_of(structure)
        vector = zeros_like(_joined([leaves[at] for at in places]))
        place: dict[str, Any] = {"dtype": vector.dtype, "device": device_of(leaves)}
        history = (self.history_size, vector.size)
        return LBFGSState(
            step=asarray(0, dtype=int32, device=place["device"]),
            direction=vector,
            length=zeros((), **place),
            gradient=zeros_like(vector),
            changes=zeros(history, **place),
            moves=zeros(history, **place),
            inverses=zeros(self.history_size, **place),
            diagonal=zeros((), **place) + 1.0,
            paths=tuple(paths[at] for at in places),
        )

    def update(
        self, model: Any, gradients: Any, state: LBFGSState, *, scale: Any = 1.0
    ) -> tuple[Any, LBFGSState]:
        """The next model and state; `scale`, a number or tensor, multiplies the rate."""
        leaves, structure = flatten(model)
        given = aligned(structure, gradients, "LBFGS.update")
        paths = paths_of(structure)
        check_gradients("LBFGS.update", paths, leaves, given)
        places = _places("LBFGS.update", structure, state)
        for path, gradient in zip(paths, given, strict=True):
            if gradient is not None and path not in state.paths:
                fail(ArgumentError, "LBFGS.update", f"{path} has a gradient and no state")
        slopes = [zeros_like(leaves[at]) if given[at] is None else given[at] for at in places]
        state = self._aimed(_joined(slopes), state, scale)
        moves = _split(state.direction * state.length, [leaves[at] for at in places])
        for at, move in zip(places, moves, strict=True):
            if given[at] is not None:
                leaves[at] = (widened(leaves[at]) + move).astype(leaves[at].dtype)
        return structure.build(leaves), state

    def minimise(
        self, loss: Callable[[Any], Any], model: Any, state: LBFGSState, *, scale: Any = 1.0
    ) -> tuple[Any, LBFGSState, Any]:
        """The model after up to `max_iter` steps down `loss(model)`, the state, and that loss."""
        leaves, structure = flatten(model)
        places = _places("LBFGS.minimise", structure, state)
        ours = [leaves[at] for at in places]

        def rebuilt(vector: Any) -> Any:
            parts = zip(places, _split(vector, ours), strict=True)
            made = {at: part.astype(leaves[at].dtype) for at, part in parts}
            return structure.build([made.get(at, leaf) for at, leaf in enumerate(leaves)])

        def evaluate(vector: Any) -> tuple[Any, Any]:
            value, gradient = value_and_grad(lambda each: loss(rebuilt(each)))(vector)
            return value.astype(vector.dtype), gradient

        start = _joined(ours)
        value, gradient = evaluate(start)
        zero = asarray(0, device=start.device)
        is_done = size_of(gradient).max() <= self.tolerance_grad
        descent = Descent(start, value, gradient, state, zero, zero + 1, is_done)
        step = partial(self._step, evaluate, scale)
        descent = while_loop(lambda each: ~each.is_done, step, descent)
        return rebuilt(descent.vector), descent.state, descent.value

    def _aimed(self, gradient: Any, state: LBFGSState, scale: Any) -> LBFGSState:
        """The state that knows where to go next and how far; nowhere, if that is not down."""
        state = _remembering(gradient, state)
        direction = _direction(gradient, state)
        rate = rate_at(self.lr, state.step.astype(gradient.dtype)) * scale
        first = minimum(1.0 / size_of(gradient).sum(), 1.0)
        length = where(state.step == 0, first, 1.0).astype(gradient.dtype) * rate
        is_down = (gradient * direction).sum() <= -self.tolerance_change
        is_steep = size_of(gradient).max() > self.tolerance_grad
        length = where(is_down & is_steep, length, 0.0).astype(gradient.dtype)
        return replace(
            state, step=state.step + 1, direction=direction, length=length, gradient=gradient
        )

    def _step(self, evaluate: Callable[[Any], Any], scale: Any, descent: Descent) -> Descent:
        """One step of a minimisation, and whether it was the last."""
        state = self._aimed(descent.gradient, descent.state, scale)
        most = self.max_iter * 5 // 4 if self.max_eval is None else self.max_eval
        begin = Point(
            zeros_like(state.length), descent.value, (descent.gradient * state.direction).sum(),
            descent.gradient,
        )  # fmt: skip

        def at(length: Any) -> Point:
            value, gradient = evaluate(descent.vector + length * state.direction)
            return Point(length, value, (gradient * state.direction).sum(), gradient)

        if self.line_search_fn is None:
            point, count = at(state.length), 1
        else:
            narrow = self.tolerance_change / size_of(state.direction).max()
            line = Line(begin, at, most - descent.evaluations, narrow)
            point, count = line.search(state.length)
        move = point.length * state.direction
        turns, evaluations = descent.turns + 1, descent.evaluations + count
        is_done = (turns >= self.max_iter) | (evaluations >= most)
        is_done = is_done | (size_of(point.gradient).max() <= self.tolerance_grad)
        is_done = is_done | (size_of(move).max() <= self.tolerance_change)
        is_done = is_done | (size_of(point.value - descent.value) < self.tolerance_change)
        return Descent(
            descent.vector + move, point.value, point.gradient,
            replace(state, length=point.length), turns, evaluations, is_done,
        )  # fmt: skip


def _remembering(gradient: Any, state: LBFGSState) -> LBFGSState:
    """The state with the last move and what it changed, if the loss is curved along it."""
    change, move = gradient - state.gradient, state.direction * state.length
    product = (change * move).sum()
    is_curved = product > CURVED
    inverse = 1.0 / where(is_curved, product, 1.0)
    squares = where(is_curved, (change * change).sum(), 1.0)

    def pushed(rows: Any, row: Any) -> Any:
        return where(is_curved, concat([rows[1:], row[None]]), rows)

    return replace(
        state,
        changes=pushed(state.changes, change),
        moves=pushed(state.moves, move),
        inverses=pushed(state.inverses, inverse),
        diagonal=where(is_curved, product / squares, state.diagonal),
    )


def _direction(gradient: Any, state: LBFGSState) -> Any:
    """Down the gradient, times the inverse of the curvature that is remembered.

    A row that is still empty has an inverse of 0, and changes nothing.
    """
    rows = (state.changes, state.moves, state.inverses)

    def backward(vector: Any, row: Any) -> tuple[Any, Any]:
        change, move, inverse = row
        share = inverse * (move * vector).sum()
        return vector - share * change, share

    def forward(vector: Any, row: Any) -> tuple[Any, None]:
        (change, move, inverse), share = row
        return vector + move * (share - inverse * (change * vector).sum()), None

    vector, shares = scan(backward, -gradient, rows, reverse=True)
    return scan(forward, vector * state.diagonal, (rows, shares))[0]


def _places(operation: str, structure: Structure, state: LBFGSState) -> list[int]:
    """Where in the model the leaves of a state are."""
    paths = paths_of(structure)
    for path in state.paths:
        if path not in paths:
            fail(ArgumentError, operation, f"the model has no {path}, which the state knows")
    return [paths.index(path) for path in state.paths]


def _joined(leaves: list[Any]) -> Any:
    """Leaves as one vector, in a dtype that is wide enough for all."""
    if not leaves:
        fail(ArgumentError, "LBFGS", "the model has no leaf of floats, which could be trained")
    dtype = result_type(*[widened(leaf).dtype for leaf in leaves])
    return concat([leaf.astype(dtype).reshape(-1) for leaf in leaves])


def _split(vector: Any, leaves: list[Any]) -> list[Any]:
    """The parts of a vector, in the shapes of the leaves."""
    ends = [0, *np.cumsum([leaf.size for leaf in leaves]).tolist()]
    pairs = zip(pairwise(ends), leaves, strict=True)
    return [vector[start:stop].reshape(leaf.shape) for (start, stop), leaf in pairs]
