"""A training run of the demo's network on a device, and whether a step of it is right.

Comes in: the name of a device. Goes out: losses, scores, differences.
Never: what is shown of them.
"""

from typing import Any

import numpy as np

from ... import asarray, jit, sync, tree_leaves, tree_map
from .spirals import Array, first_state, first_weights, scores, spirals, step

TOLERANCE = 1e-4
"""How far a step may be from the interpreter's, relative to max(1, |x|): sums are reordered."""


class Training:
    """A network that learns."""

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        self.points, self.sides = spirals()
        self.step, self.scores = jit(step, donate=("state",)), jit(scores)
        self.batch = self.placed(self.points), self.placed(self.sides)
        self.state = first_state(tree_map(self.placed, first_weights()))
        sync(self.state)

    def placed(self, array: Any) -> Any:
        """An array as a tensor of the device."""
        return asarray(array, device=self.device)

    def advance(self) -> Any:
        """Train one step; the loss before it, computed."""
        self.state, loss = self.step(self.state, *self.batch)
        sync(loss)
        return loss

    def scores_at(self, points: Array) -> Array:
        """What the network says of points."""
        return np.asarray(self.scores(self.state.weights, self.placed(points)))

    def right(self) -> float:
        """The part of the points whose side is found."""
        return float(np.mean((self.scores_at(self.points) > 0) == (self.sides > 0)))


def difference(training: Training) -> tuple[int, float]:
    """One step from here, and the same by the interpreter: how many tensors, how far apart.

    The greatest difference is relative to max(1, |x|).
    """
    judge = Training("reference")
    judge.state = tree_map(lambda each: judge.placed(np.array(each)), training.state)
    made = (training.advance(), training.state)
    expected = (judge.advance(), judge.state)
    pairs = list(zip(tree_leaves(made), tree_leaves(expected), strict=True))
    return len(pairs), max(_apart(np.asarray(one), np.asarray(other)) for one, other in pairs)


def _apart(one: Array, other: Array) -> float:
    return float(np.max(np.abs(one - other) / np.maximum(1, np.abs(other)), initial=0))
