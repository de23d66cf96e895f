"""What the demo trains: a network of two layers, which learns to tell two spirals apart.

Comes in: how many points. Goes out: points, first weights, and functions that score and train.
Never: a library but Brimstone that computes; numpy only throws the dice.
"""

from typing import Any, NamedTuple

import numpy as np

from ... import softplus, sqrt, tanh, tree_map, value_and_grad, zeros_like

POINTS = 1024
HIDDEN = 64
TURNS = 1.6
RATE, MEAN_DECAY, SQUARE_DECAY, SMALL = 0.02, 0.9, 0.99, 1e-8
"""What Adam is run with."""

Array = np.ndarray[Any, np.dtype[Any]]
Weights = dict[str, Any]


class State(NamedTuple):
    """What a step of training changes: the weights, and what Adam remembers of their gradients."""

    weights: Weights
    mean: Weights
    square: Weights
    count: Any


def spirals(count: int = POINTS, seed: int = 0) -> tuple[Array, Array]:
    """Points of two spirals in each other, and for each its side: 1 or -1."""
    random = np.random.default_rng(seed)
    sides = np.where(np.arange(count) % 2, 1.0, -1.0)
    way = np.sqrt(random.uniform(0.01, 1, count))
    angles = TURNS * 2 * np.pi * way + np.where(sides > 0, 0, np.pi)
    points = np.stack([way * np.cos(angles), way * np.sin(angles)], axis=1)
    points += random.normal(0, 0.015, points.shape)
    return points.astype(np.float32), sides.astype(np.float32)


def first_weights(hidden: int = HIDDEN, seed: int = 1) -> dict[str, Array]:
    """Random weights, whose first layer is steep enough to follow the turns."""
    random = np.random.default_rng(seed)
    weights = {
        "inner": random.normal(0, 4, (2, hidden)),
        "shift": random.normal(0, 3, hidden),
        "outer": random.normal(0, hidden**-0.5, hidden),
        "level": np.zeros(()),
    }
    return {name: value.astype(np.float32) for name, value in weights.items()}


def first_state(weights: Weights) -> State:
    """The state before the first step."""
    return State(
        weights,
        tree_map(zeros_like, weights),
        tree_map(zeros_like, weights),
        zeros_like(weights["level"]),
    )


def scores(weights: Weights, points: Any) -> Any:
    """Above zero where a point seems to be of the first spiral."""
    hidden = tanh(points @ weights["inner"] + weights["shift"])
    return hidden @ weights["outer"] + weights["level"]


def loss(weights: Weights, points: Any, sides: Any) -> Any:
    """How surprising the sides are, on average."""
    return softplus(-sides * scores(weights, points)).mean()


def step(state: State, points: Any, sides: Any) -> tuple[State, Any]:
    """One step of Adam on all points; the new state, and the loss before."""
    value, slopes = value_and_grad(loss)(state.weights, points, sides)
    count = state.count + 1
    rate = RATE * sqrt(1 - SQUARE_DECAY**count) / (1 - MEAN_DECAY**count)
    mean = tree_map(lambda m, g: MEAN_DECAY * m + (1 - MEAN_DECAY) * g, state.mean, slopes)
    square = tree_map(
        lambda s, g: SQUARE_DECAY * s + (1 - SQUARE_DECAY) * g * g, state.square, slopes
    )
    weights = tree_map(
        lambda w, m, s: w - rate * m / (sqrt(s) + SMALL), state.weights, mean, square
    )
    return State(weights, mean, square, count), value
