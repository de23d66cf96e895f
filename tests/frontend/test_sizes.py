"""Sizes that a traced function computes with: integers, as long as somebody looks at them."""

# What is done with a size is written as users may write it.
# ruff: noqa: RUF005

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from brimstone.runtime.steps import STATISTICS

COUNTS = (6, 9, 4, 3, 2, 1, 7)
"""Two axes behind are of 4 and 8; 1 is a fact."""


def examples(count: int) -> Any:
    """As many, of 4 rows of 8 numbers."""
    drawn = np.random.default_rng(count).standard_normal((count, 4, 8), np.float32)
    return bs.asarray(drawn)


def weight() -> Any:
    return bs.asarray(np.random.default_rng(0).standard_normal((8, 8), np.float32))


def weight32() -> Any:
    return bs.asarray(np.random.default_rng(0).standard_normal((32, 3), np.float32))


def heads(x: Any) -> Any:
    count, length, width = x.shape
    scores = bs.permute_dims(x.reshape(count, length, 2, width // 2), (0, 2, 1, 3))
    weighted = bs.softmax(scores @ scores.mT / math.sqrt(width // 2)) @ scores
    return bs.permute_dims(weighted, (0, 2, 1, 3)).reshape(count, length, width) @ weight()


def recurrent(x: Any) -> Any:
    count, length, width = x.shape
    state = bs.zeros((count, width))
    for at in range(length):
        state = bs.tanh(x[:, at] + state @ weight())
    return state


def with_token(x: Any) -> Any:
    return bs.concat([bs.broadcast_to(weight()[:1], (x.shape[0], 1, x.shape[2])), x], axis=1)


def masked(x: Any) -> Any:
    count, length, _ = x.shape
    lengths = bs.arange(count) % length + 1
    return (x * (bs.arange(length) < lengths[:, None])[..., None]).sum(1) / lengths[:, None]


def checked(x: Any) -> Any:
    count, length, width = x.shape
    assert x.shape == (x + 1).shape
    assert count > 0
    assert count != 0
    assert count <= 2**40
    assert not count < 1
    assert count * width % 8 == 0
    return x.reshape(count * length, width) if count else x


def of_pairs(x: Any) -> Any:
    scores = x.reshape(x.shape[0], -1) @ x.reshape(x.shape[0], -1).T
    places = bs.arange(scores.shape[0])
    return bs.log_softmax(scores)[places, places].mean()


def chosen(x: Any) -> Any:
    """Of a size that data decide, beside one at which nobody looks."""
    found = x[:, x.sum((0, 2)) > 0, 0]
    count, few = found.shape
    return (bs.zeros((count, few)) + found).sum() / (count * few) + bs.arange(few).sum() * count


def counted(x: Any) -> Any:
    return bs.fori_loop(0, x.shape[0], lambda at, total: total * 1.1 + x[at], x[0])


OPEN: dict[str, Callable[[Any], Any]] = {
    "flattened": lambda x: x.reshape(x.shape[0], -1).sum(1),
    "flattened to a list": lambda x: x.reshape([x.shape[0], x.shape[1] * x.shape[2]]),
    "parts": lambda x: x.reshape(x.shape[0], x.shape[1] // 2, 2, -1).max(2),
    "a product": lambda x: x.reshape(math.prod(x.shape[:2]), x.shape[2]) @ weight(),
    "all but the last": lambda x: (x.reshape(-1, 8) @ weight()).reshape(*x.shape[:-1], 8),
    "joined shapes": lambda x: (x.reshape(-1, 8) @ weight()).reshape(x.shape[:-1] + (2, 4)),
    "heads": heads,
    "recurrent": recurrent,
    "with a token": with_token,
    "masked": masked,
    "checked": checked,
    "of pairs": of_pairs,
    "mean": lambda x: (x**2).sum() / x.shape[0] + (x**2).sum() / x.size,
    "unbiased": lambda x: ((x - x.mean(0)) ** 2).sum(0) / (x.shape[0] - 1),
    "average": lambda x: x * x.shape[0] / (x.shape[0] + 5),
    "identity": lambda x: bs.eye(x.shape[0]) @ x.reshape(x.shape[0], -1),
    "drawn": lambda x: x + bs.random.normal(bs.random.key(3), (x.shape[0], 1, 8)),
    "filled": lambda x: x + bs.full((x.shape[0], 1, 1), 3.0),
    "slices": lambda x: [bs.concat([x, x])[: x.shape[0]], bs.concat([x, x])[x.shape[0] :]],
    "places": lambda x: bs.zeros((2 * x.shape[0], 4, 8)).at[: x.shape[0]].set(x),
    "gradient": lambda x: bs.grad(
        lambda w: (x.reshape(x.shape[0] * x.shape[1], -1) @ w).sum() / x.shape[0]
    )(weight()),
    "lanes": bs.vmap(lambda rows: rows.reshape(rows.shape[0] * rows.shape[1])),
    "scanned": lambda x: bs.scan(
        lambda state, row: (bs.tanh(state @ weight() + row), state.sum()),
        bs.zeros((x.shape[0], x.shape[2])),
        bs.permute_dims(x, (1, 0, 2)),
    ),
    "branches": lambda x: bs.cond(x.sum() > 0, lambda y: y * y.shape[0], lambda y: -y, x),
    "counted": counted,
    "least": lambda x: bs.where(x > 0, bs.minimum(x, x.shape[0]), x) * max(x.shape[0], 1),
    "pairs": lambda x: (x**2).sum() / (x.shape[0] * (x.shape[0] - 1) + 1) / x.shape[0] ** 2,
    "pieces": lambda x: bs.concat([x, 2 * x]).chunk(2)[0] - bs.split(x, [x.shape[0]])[0],
    "pieces of its size": lambda x: bs.concat([x, 2 * x]).split(x.shape[0])[1],
    "jacobian": lambda x: bs.jacrev(lambda w: x[:, 0] @ w)(weight()),
    "numbers": lambda x: x * bs.full((), x.shape[0]) - bs.asarray(x.shape[0], dtype="float32"),
    "last": lambda x: x[x.shape[0] - 1],
    "one place": lambda x: bs.concat([x, x])[x.shape[0]],
    "matrices": lambda x: bs.linalg.inv(x @ x.mT + 4 * bs.eye(4)) + bs.linalg.det(x @ x.mT)[0],
    "other weights": lambda x: bs.jit(lambda w, y: y.reshape(-1, 32) @ w)(weight32(), x),
    "inner": lambda x: bs.jit(lambda y, n: y.reshape(n, -1) / n, static="n")(x, n=x.shape[0]),
}
LOOKING: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: sum([x[at] for at in range(x.shape[0])]),
    "narrow": lambda x: [x.astype("float16") / x.shape[0], (x * 3).astype("int8") + x.shape[0]],
    "returned": lambda x: (x, x.shape[0], {"twice": 2 * x.shape[0], "shape": x.shape}),
    "argument": lambda x: bs.jit(lambda y, n: y / n)(x, x.shape[0]),
    "lists": lambda x: bs.asarray([x.shape[0], 2]) + bs.asarray(x.shape[0], dtype="int8"),
    "backwards": lambda x: x * bs.arange(x.shape[0] - 1, -1, -1)[:, None, None],
    "transformed": lambda x: bs.abs(bs.fft.fft(x, axis=0)),
    "halves": lambda x: x.reshape(2, -1, 8) if x.shape[0] % 2 == 0 else x,
    "too large": lambda x: (x * 0 + 1) * ((x.shape[0] - 2) * 2**60) / x.shape[0] ** 3,
    "chosen by numpy": lambda x: x * np.where(np.ones(8, bool), np.float32(2), x.shape[0]),
    "numpy": lambda x: x * np.ones((x.shape[0], 1, 1), np.float32) * np.sqrt(x.shape[0]),
    "chosen": chosen,
    "power": lambda x: bs.abs(x) ** x.shape[0],
    "less": lambda x: x[: x.shape[0] - 3] if x.shape[0] > 3 else x,
    "half": lambda x: x.reshape(x.shape[0] // 2, 2, -1) if x.shape[0] % 2 == 0 else x,
    "refused": lambda x: x.reshape(x.shape[0] - 2, -1),
}


def outcome(function: Callable[..., Any], *given: Any) -> Any:
    """What a function gives, or what it refuses, in words."""
    try:
        return bs.tree_leaves(function(*given))
    except bs.BrimstoneError as problem:
        return str(problem).splitlines()[0]


def assert_same(found: Any, expected: Any) -> None:
    """Two outcomes are one."""
    assert isinstance(found, str) == isinstance(expected, str)
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        if isinstance(one, bs.Tensor):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=2e-5, atol=2e-5)
        else:
            assert one == other


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("name", [*OPEN, *LOOKING])
def test_all_sizes_give_what_they_give_alone(name: str, device: str) -> None:
    traced: list[int] = []
    function = (OPEN | LOOKING)[name]

    @bs.jit
    def compiled(x: Any) -> Any:
        traced.append(1)
        return function(x)

    with bs.device(device):
        for count in COUNTS:
            found, expected = outcome(compiled, examples(count)), outcome(function, examples(count))
            assert_same(found, expected)
    assert (len(traced) == 2) == (name in OPEN)


def test_a_new_batch_compiles_nothing_and_is_not_traced() -> None:
    class Flat(nn.Module):
        def __init__(self, key: Any) -> None:
            self.inner = nn.Linear(32, 3, key=key)

        def __call__(self, x: Any) -> Any:
            return self.inner(x.reshape(x.shape[0], -1))

    step = bs.jit(bs.grad(lambda model, x: (model(x) ** 2).sum() / x.shape[0]))
    model = Flat(bs.random.key(0))
    bs.sync(step(model, examples(9)))
    compiled = STATISTICS.compiled
    for count in (8, 5, 100):
        bs.sync(step(model, examples(count)))
    assert STATISTICS.compiled == compiled
