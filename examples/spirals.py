"""A network of two layers learns to tell two spirals apart, with a step written by hand."""

import numpy as np

import brimstone as bs


def scores(weights, points):
    return bs.tanh(points @ weights["inner"] + weights["shift"]) @ weights["outer"]


def loss(weights, points, sides):
    return bs.softplus(-sides * scores(weights, points)).mean()


@bs.jit(donate=("weights", "mean", "square"))
def step(weights, mean, square, points, sides):
    value, slopes = bs.value_and_grad(loss)(weights, points, sides)
    mean = bs.tree_map(lambda m, g: 0.9 * m + 0.1 * g, mean, slopes)
    square = bs.tree_map(lambda s, g: 0.99 * s + 0.01 * g * g, square, slopes)
    moves = bs.tree_map(lambda m, s: 0.02 * m / (bs.sqrt(s) + 1e-8), mean, square)
    return bs.tree_map(bs.subtract, weights, moves), mean, square, value


random = np.random.default_rng(0)
way, side = np.sqrt(random.uniform(0.01, 1, 1024)), random.choice([-1, 1], 1024)
angle = 10 * way + np.pi / 2 * side
with bs.device("cpu"):
    points = bs.asarray(np.stack([way * np.cos(angle), way * np.sin(angle)], 1), bs.float32)
    sides = bs.asarray(side, bs.float32)
    weights = {"inner": 4 * bs.randn(2, 64), "shift": 3 * bs.randn(64), "outer": bs.zeros(64)}
    mean, square = (bs.tree_map(bs.zeros_like, weights) for _ in range(2))
for _ in range(600):
    weights, mean, square, value = step(weights, mean, square, points, sides)
right = (scores(weights, points) > 0) == (sides > 0)
print(f"loss {value:.4f}, {bs.mean(right, dtype=bs.float32):.1%} right")
