"""One layer in one direction, through all steps of its inputs.

Comes in: a kind of recurrence, its weights, inputs [length, batch, size], a state to begin with.
Goes out: the output of each step and the last state.
Never: a product with the inputs inside the loop: all steps' are one before it.
"""

from __future__ import annotations

from typing import NamedTuple

from ...frontend.control import scan
from ...frontend.functions.creation import zeros_like
from ...frontend.functions.logic import where
from ...frontend.tensor import Tensor
from ..functions.linear import linear
from .recurrence import Recurrence, State, Weights


class Direction(NamedTuple):
    """A loop over steps, from the first on, or from the last."""

    recurrence: Recurrence
    weights: Weights
    reverse: bool

    def run(self, x: Tensor, state: State | None, active: Tensor | None) -> tuple[Tensor, State]:
        """Outputs [length, batch, size] and the last state; without a state zeros come before.

        Where `active`, [length, batch, 1], is false, a step keeps the state and its output is 0.
        """
        projected = linear(x, self.weights.weight_ih, self.weights.bias_ih)
        begin = state or self._nothing(projected)
        last, outputs = scan(self._step, begin, (projected, active), reverse=self.reverse)
        return outputs, last

    def _step(self, before: State, inputs: tuple[Tensor, Tensor | None]) -> tuple[State, Tensor]:
        projected, active = inputs
        after = self.recurrence.advance(projected, before, self.weights)
        if active is None:
            return after, after[0]
        kept = tuple([where(active, new, old) for new, old in zip(after, before, strict=True)])
        return kept, where(active, after[0], 0.0)

    def _nothing(self, projected: Tensor) -> State:
        """Zeros for a state, [batch, size] each; nobody looks at how many there are in a batch."""
        output, hidden = self.weights.weight_hh.shape[-1], self.weights.weight_ih.shape[0]
        like = zeros_like(projected.sum(axis=0))  # of no steps, too
        sizes = (output, hidden // self.recurrence.gates)[: self.recurrence.states]
        return tuple([like[:, :size] for size in sizes])
