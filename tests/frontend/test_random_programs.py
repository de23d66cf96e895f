"""Random programs of the frontend: run eagerly, compiled, with open sizes, batched, differentiated,
they agree."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import brimstone as bs

PROGRAMS = 60
ROWS, COLUMNS = 3, 4

Step = Callable[[list[bs.Tensor], Random], bs.Tensor]

# Each makes a tensor [n, 4] of tensors [n, 4]; values stay small, and away from kinks.
STEPS: dict[str, Step] = {
    "add": lambda v, r: r.choice(v) + r.choice(v),
    "multiply": lambda v, r: r.choice(v) * r.choice(v) * 0.5,
    "divide": lambda v, r: r.choice(v) / (1.5 + bs.square(r.choice(v))),
    "number": lambda v, r: r.choice(v) * r.choice([0.25, -1.0, 2.0]) + r.choice([0.0, 0.125]),
    "tanh": lambda v, r: bs.tanh(r.choice(v)),
    "sin": lambda v, r: bs.sin(r.choice(v)),
    "exp": lambda v, r: bs.exp(-bs.square(r.choice(v))),
    "softmax": lambda v, r: bs.softmax(r.choice(v), axis=r.choice([0, 1])),
    "mean": lambda v, r: r.choice(v) - r.choice(v).mean(axis=0, keepdims=True),
    "sum": lambda v, r: r.choice(v) + bs.tanh(r.choice(v).sum(axis=1))[:, None],
    "matmul": lambda v, r: bs.tanh(r.choice(v) @ (r.choice(v).mT @ r.choice(v))),
    "flip": lambda v, r: bs.flip(r.choice(v), axis=r.choice([0, 1])),
    "slice": lambda v, r: bs.concat([r.choice(v)[:, 2:], r.choice(v)[:, :2]], axis=1),
    "roll": lambda v, r: bs.concat([r.choice(v)[1:], r.choice(v)[:1]], axis=0),
    "cumulative": lambda v, r: bs.tanh(bs.cumulative_sum(r.choice(v), axis=1)),
    "where": lambda v, r: bs.where(bs.stop_gradient(r.choice(v)) > 5.0, r.choice(v), r.choice(v)),
    "take": lambda v, r: bs.take(r.choice(v), np.array([3, 0, 0, 1]), axis=1),
    "update": lambda v, r: r.choice(v).at[:, 1].add(r.choice(v)[:, 2]),
    "scan": lambda v, r: bs.scan(lambda c, row: (bs.tanh(c + row), c), r.choice(v)[0], r.choice(v))[
        1
    ],
    "cond": lambda v, r: bs.cond(
        bs.stop_gradient(r.choice(v)).sum() > 1.0, bs.sin, bs.tanh, r.choice(v)
    ),
    "vmap": lambda v, r: bs.vmap(lambda row: bs.softmax(row) * row)(r.choice(v)),
    "checkpoint": lambda v, r: bs.checkpoint(lambda x: bs.tanh(x) * x)(r.choice(v)),
}


def program(seed: int) -> Callable[[bs.Tensor, bs.Tensor], bs.Tensor]:
    """The same random steps each time it is called."""

    def run(x: bs.Tensor, y: bs.Tensor) -> bs.Tensor:
        random = Random(seed)
        values = [x, y]
        for _ in range(random.randint(2, 12)):
            values.append(STEPS[random.choice(list(STEPS))](values, random))
        return bs.tanh(values[-1] + values[-2] + x * 0.125)

    return run


def inputs(seed: int, *batch: int) -> tuple[bs.Tensor, bs.Tensor]:
    rng = np.random.default_rng(seed)
    shape = (*batch, ROWS, COLUMNS)
    x, y = rng.uniform(-1, 1, shape), rng.uniform(-1, 1, shape)
    return bs.asarray(x), bs.asarray(y)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-11)


def scalar(seed: int) -> Callable[[bs.Tensor, bs.Tensor], bs.Tensor]:
    f = program(seed)
    return lambda x, y: f(x, y).sum()


def test_every_step_occurs() -> None:
    used: set[str] = set()
    for seed in range(PROGRAMS):
        random = Random(seed)
        for _ in range(random.randint(2, 12)):
            used.add(random.choice(list(STEPS)))
    assert used == set(STEPS)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_compiled_is_eager(seed: int) -> None:
    f, (x, y) = program(seed), inputs(seed)
    eager = f(x, y)
    np.testing.assert_array_equal(bs.jit(f)(x, y).numpy(), eager.numpy())


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_open_sizes_are_plain_ones(seed: int) -> None:
    f, (x, y) = program(seed), inputs(seed)
    opened = bs.jit(f, dynamic={"x": {0: "n"}, "y": {0: "n"}})
    close(opened(x, y), f(x, y))
    x, y = bs.concat([x, y]), bs.concat([y, x])
    close(opened(x, y), f(x, y))


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_batched_is_stacked(seed: int) -> None:
    f, (x, y) = program(seed), inputs(seed, 2)
    close(bs.vmap(f)(x, y), bs.stack([f(x[at], y[at]) for at in range(2)]))
    shared = bs.vmap(f, in_axes=(0, None))(x, y[0])
    close(shared, bs.stack([f(x[at], y[0]) for at in range(2)]))


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_gradients_agree(seed: int) -> None:
    f, (x, y) = scalar(seed), inputs(seed)
    gradient = bs.grad(f)(x, y)
    close(bs.jit(bs.grad(f))(x, y), gradient)
    direction = inputs(seed + 1000)[0]
    _, slope = bs.jvp(lambda x: f(x, y), (x,), (direction,))
    close(slope, (gradient * direction).sum())
    parameter = bs.tensor(x, requires_grad=True)
    loss = f(parameter, y)
    close(loss.backward()[parameter], gradient)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_gradients_are_slopes(seed: int) -> None:
    f, (x, y) = scalar(seed), inputs(seed)
    direction = inputs(seed + 1000)[0]
    step = 1e-5
    ends = [f(x + sign * step * direction, y) for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2 * step)
    found = (bs.grad(f)(x, y) * direction).sum()
    np.testing.assert_allclose(float(found), float(expected), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 4))
def test_batched_gradients_are_those_of_each(seed: int) -> None:
    f, (x, y) = scalar(seed), inputs(seed, 2)
    expected = bs.stack([bs.grad(f)(x[at], y[at]) for at in range(2)])
    close(bs.vmap(bs.grad(f))(x, y), expected)
    close(bs.grad(lambda x, y: bs.vmap(f)(x, y).sum())(x, y), expected)
