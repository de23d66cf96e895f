"""What a checkpoint saves: memory that a compiled step plans; and no value changes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn, train

RNG = np.random.default_rng(4)
SIZE, WIDE, BLOCKS = 16, 96, 4
ON_CPU: Any = {"device": "cpu"}  # which plans its memory; the plans are made, and nothing runs


def floats(*shape: int, **options: Any) -> Any:
    return bs.asarray((0.2 * RNG.normal(size=shape)).astype(np.float32), **options)


def weights(blocks: int, **options: Any) -> list[Any]:
    return [(floats(SIZE, WIDE, **options), floats(WIDE, SIZE, **options)) for _ in range(blocks)]


WEIGHTS, X = weights(BLOCKS, device="reference"), floats(64, SIZE, device="reference")

Around = Callable[[Callable[..., Any]], Callable[..., Any]]


def same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def block(x: Any, weights: Any) -> Any:
    return x + bs.tanh(x @ weights[0]) @ weights[1]


def rough(x: Any, weights: Any) -> Any:
    """Many values of one size, each of which the way back needs."""
    for place in range(4):
        x = bs.tanh(bs.sort(x, axis=0) * weights[0][:, place])
    return x


def deep(around: Around) -> Callable[..., Any]:
    """Pairs of blocks, each of which is a checkpoint of checkpoints."""

    def pair(x: Any, one: Any, other: Any) -> Any:
        return around(block)(around(block)(x, one), other)

    def loss(weights: Any, x: Any) -> Any:
        for at in range(0, BLOCKS, 2):
            x = around(pair)(x, weights[at], weights[at + 1])
        return (x**2).mean()

    return loss


def chain(step: Callable[..., Any]) -> Callable[[Around], Callable[..., Any]]:
    """One block after the other."""

    def chained(around: Around) -> Callable[..., Any]:
        def loss(weights: Any, x: Any) -> Any:
            for each in weights:
                x = around(step)(x, each)
            return (x**2).mean()

        return loss

    return chained


def scanned(around: Around) -> Callable[..., Any]:
    """The same blocks as steps of a loop."""

    def loss(weights: Any, x: Any) -> Any:
        stacked = tuple(bs.stack(each) for each in zip(*weights, strict=True))
        last, _ = bs.scan(lambda x, each: (around(block)(x, each), None), x, stacked)
        return (last**2).mean()

    return loss


LOSSES: dict[str, Callable[[Around], Callable[..., Any]]] = {
    "blocks": chain(block),
    "values of one size": chain(rough),
    "checkpoints of checkpoints": deep,
    "steps of a loop": scanned,
}


def peak(function: Any, blocks: int) -> int:
    """The bytes that are planned for what is computed in between."""
    arguments = weights(blocks, **ON_CPU), floats(64, SIZE, **ON_CPU)
    memory = bs.explain(function)(*arguments).parts[0].memory
    assert memory is not None
    return memory.between


def slopes(name: str, around: Around, weights: Any, x: Any) -> list[Any]:
    """A loss and its gradients, as host arrays."""
    compiled = bs.jit(bs.value_and_grad(LOSSES[name](around)))
    return [each.numpy() for each in bs.tree_leaves(compiled(weights, x))]


@pytest.mark.parametrize("name", LOSSES)
def test_the_same_bits(name: str) -> None:
    found, expected = (slopes(name, each, WEIGHTS, X) for each in (bs.checkpoint, same))
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]


@pytest.mark.parametrize("name", LOSSES)
def test_the_same_but_for_the_order_of_sums(name: str) -> None:
    given = weights(BLOCKS, **ON_CPU), floats(64, SIZE, **ON_CPU)
    found, expected = (slopes(name, each, *given) for each in (bs.checkpoint, same))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6 * np.max(np.abs(other)))


@pytest.mark.slow
@pytest.mark.parametrize("step", [block, rough])
def test_memory_grows_by_what_a_block_takes_alone(step: Any) -> None:
    made = bs.jit(bs.grad(chain(step)(bs.checkpoint)))
    few, many = (peak(made, count) for count in (2, 4))
    assert many - few <= 2 * 64 * SIZE * 4


def test_derivatives_of_derivatives() -> None:
    def curved(around: Around) -> Any:
        first = bs.grad(chain(block)(around), argnums=1)
        return bs.jit(bs.grad(lambda x: (first(WEIGHTS[:2], x) ** 2).sum()))

    np.testing.assert_allclose(
        curved(bs.checkpoint)(X).numpy(), curved(same)(X).numpy(), rtol=1e-5, atol=1e-6
    )


class Block(nn.Module):
    """With a norm, and with randomness."""

    def __init__(self, seed: int) -> None:
        self.norm = nn.LayerNorm(SIZE)
        self.inner = nn.Linear(SIZE, WIDE, key=bs.random.key(seed))
        self.dropout = nn.Dropout(0.5)
        self.outer = nn.Linear(WIDE, SIZE, key=bs.random.key(seed + 1))

    def forward(self, x: Any) -> Any:
        return x + self.outer(self.dropout(bs.tanh(self.inner(self.norm(x)))))


def test_a_learner_trains_to_the_same_bits() -> None:
    model, x = [Block(seed) for seed in range(0, 4, 2)], floats(64, SIZE)
    learners: dict[str, train.Learner] = {}
    for name, around in (("plain", same), ("saving", bs.checkpoint)):

        def loss(model: Any, batch: Any, around: Any = around) -> Any:
            for each in model:
                batch = around(each)(batch)
            return (batch**2).mean()

        learners[name] = train.Learner(loss, train.AdamW(lr=0.01))
    runs = {name: each.fit(model, [x, x + 1.0]) for name, each in learners.items()}
    found, expected = (
        [leaf.tolist() for leaf in bs.tree_leaves(runs[name].state)] for name in ("saving", "plain")
    )
    assert found == expected
