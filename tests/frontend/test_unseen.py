"""Sizes at which a function does not look: traced once, the same as if traced for each."""

# Ways to look at a shape are written as users may write them.
# ruff: noqa: PLW0108, RUF005, UP031

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.runtime.steps import STATISTICS

SIZES = (6, 128, 7, 5, 3, 2, 1, 0, 4)
"""Those that may be left open, a size of one axis behind, and those that are facts."""


def rows(count: int) -> Any:
    """As many rows of four numbers."""
    return bs.asarray(np.random.default_rng(count).normal(size=(count, 4)).astype(np.float32))


WEIGHT = bs.asarray(np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32))
TABLE = bs.asarray(np.random.default_rng(2).normal(size=(6, 4)).astype(np.float32))


def _summed(x: Any) -> Any:
    return bs.scan(lambda total, row: (total + row, total.sum()), x[0] * 0, x)


def _caught(x: Any) -> Any:
    try:
        return x.reshape(3, -1)
    except bs.ShapeError:
        return x


def _printed(x: Any) -> Any:
    is_known = any(f"{count}, 4" in repr(x) for count in SIZES) or x.node.trace is None
    return x if is_known else x * 0


def _looked(x: Any) -> Any:
    count, width = x.shape
    return x.reshape(count * 2, width // 2) if count > 4 else x


def _attending(x: Any, **options: Any) -> Any:
    return bs.attention(*[x.reshape(-1, 1, 2, 2) * by for by in (1.0, 0.5, 2.0)], **options)


REFUSING: list[Callable[[Any], Any]] = [
    lambda x: bs.median(x, axis=0),
    lambda x: bs.sort(x, axis=0),
    lambda x: bs.unfold(x, 0, 3),
    lambda x: bs.pad(x, ((2, 1), (0, 0)), mode="circular"),
    lambda x: bs.fft.fftshift(x),
    lambda x: bs.split(x, 3),
    lambda x: bs.unstack(x),
    lambda x: bs.roll(x, 5, axis=0),
    lambda x: bs.topk(x.T, 3),
]


def _or_zero(function: Callable[[Any], Any], x: Any) -> Any:
    try:
        return function(x)
    except Exception:  # whatever it is, a user may catch it
        return x * 0


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "maps": lambda x: bs.tanh(x * 2 + 1) - bs.where(x > 0, x, -x),
    "mean": lambda x: (x.mean(), x.mean(0), x.mean(1)),
    "std": lambda x: (x.std(0), x.std()),
    "softmax": lambda x: (bs.softmax(x, axis=0), bs.softmax(x, axis=1)),
    "largest": lambda x: x.max(0),
    "place of the largest": lambda x: (bs.argmax(x, axis=0), bs.argmax(x, axis=1)),
    "matmul": lambda x: x @ WEIGHT,
    "gram": lambda x: (x @ x.T, x.T @ x),
    "einsum": lambda x: bs.einsum("ij,kj->ik", x, x),
    "gradient": lambda x: bs.grad(lambda w: bs.tanh(x @ w).mean())(WEIGHT),
    "gradient of it": bs.grad(lambda x: (bs.log_softmax(x) ** 2).sum()),
    "with a table": lambda x: x + TABLE,
    "one row of a table": lambda x: x + TABLE[0],
    "first": lambda x: x[0],
    "last": lambda x: x[-1],
    "third": lambda x: x[2],
    "hundredth": lambda x: x[100],
    "beginning": lambda x: x[:5],
    "without the ends": lambda x: x[1:-1],
    "every third": lambda x: x[::3],
    "backwards": lambda x: x[::-1],
    "chosen rows": lambda x: x[bs.asarray([0, 2, 4])],
    "taken rows": lambda x: bs.take(x, bs.asarray([1, 3]), axis=0),
    "written row": lambda x: x.at[3].set(0.0),
    "written last": lambda x: x.at[-1].add(1.0),
    "reshaped": lambda x: (x.reshape(-1), x.reshape(-1, 2), x.T.reshape(4, -1)),
    "reshaped in threes": lambda x: x.reshape(3, -1),
    "reshaped by numbers": lambda x: x.reshape(6, 4),
    "reshaped as it is": lambda x: x.reshape(x.shape) + bs.zeros(x.shape),
    "flattened by its size": lambda x: x.reshape(x.shape[0] * x.shape[1]),
    "split": lambda x: bs.split(x, 3)[0],
    "sorted": lambda x: (bs.sort(x, axis=0), bs.argsort(x, axis=1)),
    "top": lambda x: bs.topk(x.T, 4),
    "median": lambda x: (bs.median(x, axis=0), bs.quantile(x, 0.3)),
    "sums so far": lambda x: bs.cumulative_sum(x, axis=0),
    "differences": lambda x: bs.diff(x, axis=0),
    "rolled": lambda x: bs.roll(x, 5, axis=0),
    "padded": lambda x: bs.pad(x, ((2, 3), (0, 0))),
    "joined": lambda x: bs.concat([x, TABLE, x]),
    "stacked": lambda x: bs.stack([x, x], axis=1),
    "repeated": lambda x: bs.repeat(x, 3, axis=0),
    "tiled": lambda x: bs.tile(x, (2, 1)),
    "triangle": lambda x: bs.tril(x @ x.T),
    "numbered": lambda x: x + bs.arange(x.shape[0])[:, None],
    "one by one": lambda x: sum(list(x), start=0.0),
    "looked at": _looked,
    "count": lambda x: x.sum() / len(x),
    "size": lambda x: x.sum() / x.size,
    "caught": _caught,
    "printed": _printed,
    "scanned": _summed,
    "mapped": bs.vmap(lambda row: row / row.sum()),
    "fourier": lambda x: bs.abs(bs.fft.fft(x, axis=0)),
    "norm": lambda x: bs.linalg.norm(x, axis=0),
    "shape": lambda x: (x.shape, x.shape[0], x.shape[1:], x.ndim, x),
    "known rows": lambda x: x[x[:, 0] > 0].sum(),
    "checkpoint": bs.grad(lambda y: bs.checkpoint(bs.sin)(y).sum()),
    "gathered": lambda x: TABLE[bs.argmax(x, axis=1)],
    "inner step": lambda x: bs.jit(lambda y: y - y.mean(0))(x) * 2,
    "without single axes": lambda x: (x[1:].squeeze().sum(0), x[::2].squeeze()),
    "windows of six": lambda x: bs.max_pool(x.T[None], (6,)),
    "convolved along it": lambda x: bs.convolve(x.reshape(1, 1, -1), bs.ones((1, 1, 8))),
    "unfolded": lambda x: bs.unfold(x, 0, 3),
    "reflected": lambda x: bs.pad(x, ((2, 1), (0, 0)), mode="reflect"),
    "shifted": lambda x: (bs.fft.fftshift(x, axes=0), bs.fft.ifftshift(x)),
    "caught all": lambda x: [_or_zero(each, x) for each in REFUSING],
    "equal to a table": lambda x: bs.array_equal(x * 0 + 1, bs.ones((6, 4))),
    "stretched": lambda x: (x, bs.broadcast_shapes(x.shape, (1, 1))),
    "described": lambda x: x * (2 if bs.ShapeDtype(x.shape, x.dtype).shape == (6, 4) else 3),
    "formatted": lambda x: x * int("%d%d" % x.shape),
    "attention along it": lambda x: bs.attention(x, x, x, causal=True),
    "attention of each": lambda x: _attending(x, bias=TABLE[:2, :2]),
    "masked attention of each": lambda x: _attending(x, mask=TABLE[:2, :2] > -2, causal=True),
    "gradient of attention": bs.grad(lambda x: (_attending(x) ** 2).sum()),
    "drawn": lambda x: x + bs.random.normal(bs.random.key(1), (4,)),
}


def outcome(function: Callable[..., Any], *given: Any) -> Any:
    """The numbers that a function gives, or what it refuses."""
    try:
        leaves = bs.tree_leaves(function(*given))
        return [each.numpy() if isinstance(each, bs.Tensor) else each for each in leaves]
    except (bs.BrimstoneError, ValueError) as problem:
        return type(problem)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_sizes_make_no_difference(name: str, device: str) -> None:
    with bs.device(device):
        function = FUNCTIONS[name]
        compiled = bs.jit(function)
        for count in SIZES:
            x = rows(count)
            found, expected = outcome(compiled, x), outcome(function, x)
            if isinstance(expected, type):
                assert found is expected, count
                continue
            assert len(found) == len(expected)
            for pair in zip(found, expected, strict=True):
                np.testing.assert_allclose(*pair, rtol=2e-5, atol=1e-5, err_msg=str(count))


def test_a_size_that_nobody_looks_at_is_traced_once() -> None:
    traced: list[int] = []

    @bs.jit
    def f(x: bs.Tensor, weight: bs.Tensor) -> bs.Tensor:
        traced.append(1)
        return bs.softmax(bs.tanh(x @ weight) / 3).mean(0)

    f(rows(9), WEIGHT)
    compiled = STATISTICS.compiled
    for count in (8, 3, 4, 100):
        np.testing.assert_allclose(f(rows(count), WEIGHT).numpy().sum(), 1, rtol=1e-5)
    assert len(traced) == 1
    assert STATISTICS.compiled == compiled


def test_what_is_kept_from_a_trace_has_been_looked_at() -> None:
    kept: list[Any] = []

    @bs.jit
    def f(x: bs.Tensor) -> bs.Tensor:
        kept.append(x.shape)
        return x + 1

    for count in (6, 6, 7, 6):
        assert f(rows(count)).shape == (count, 4)
    assert kept == [(6, 4), (7, 4)]


def test_a_batch_may_come_to_have_the_size_of_another_axis() -> None:
    """It may come to be that of another axis: of 4 rows with 4 numbers."""
    traced: list[int] = []

    @bs.jit
    def f(weights: dict[str, bs.Tensor], batch: tuple[bs.Tensor, bs.Tensor]) -> bs.Tensor:
        traced.append(1)
        x, y = batch
        return (((x @ weights["w"] + weights["b"]) - y) ** 2).mean()

    weights = {"w": WEIGHT, "b": bs.ones(3)}
    for count in (5, 3, 4, 64):
        found = f(weights, (rows(count), bs.zeros((count, 3))))
        expected = (rows(count).numpy() @ WEIGHT.numpy() + 1) ** 2
        np.testing.assert_allclose(found.numpy(), expected.mean(), rtol=1e-5)
    assert len(traced) == 1


def test_a_history_is_kept_at_plain_sizes() -> None:
    weight = bs.ones((4, 2)).requires_grad_()
    f = bs.jit(lambda x: (x @ weight).mean())
    for count in (5, 9):
        loss = f(rows(count))
        found = loss.backward()[weight]
        expected = rows(count).numpy().sum(0) / (2 * count)
        np.testing.assert_allclose(found.numpy(), np.stack([expected] * 2, 1), rtol=1e-4)


def test_looks_after_a_gradient_reach_into_it() -> None:
    @bs.jit
    def f(x: bs.Tensor) -> bs.Tensor:
        slopes = bs.grad(lambda y: bs.tanh(y).sum())(x)
        return slopes / x.shape[0] + bs.ones(x.shape)

    for count in (5, 9):
        expected = (1 - np.tanh(rows(count).numpy()) ** 2) / count + 1
        np.testing.assert_allclose(f(rows(count)).numpy(), expected, rtol=1e-5)


def test_shapes_behave_as_tuples() -> None:
    """Each look by itself, in a trace of its own."""
    looks: list[Callable[[Any], Any]] = [
        lambda s: [*s],
        lambda s: s == (5, 4),
        lambda s: s == (5, 4),
        lambda s: s != (5, 4),
        lambda s: {(5, 4): 1}.get(s),
        lambda s: 5 in s,
        lambda s: s + (1,),
        lambda s: (1,) + s,
        lambda s: s * 2,
        lambda s: 2 * s,
        lambda s: s[0],
        lambda s: s[-2],
        lambda s: s[:],
        lambda s: s[1:],
        lambda s: s < (6,),
        lambda s: sorted(s),
        lambda s: s.index(5),
        lambda s: s.count(4),
        lambda s: f"{s}",
        lambda s: "%d by %d" % s,
        lambda s: np.zeros(s).shape,
        lambda s: int(np.prod(s)),
        lambda s: max(s),
        lambda s: tuple(s),
        lambda s: len(s),
        lambda s: pickle.loads(pickle.dumps(s)),
        lambda s: isinstance(s, tuple),
    ]
    for look in looks:
        found = list[Any]()
        bs.jit(lambda x, look=look, found=found: (found.append(look(x.shape)), x)[1])(rows(5))
        assert found == [look((5, 4))]


def test_two_sizes_may_come_to_be_one() -> None:
    f = bs.jit(lambda x, y: bs.array_equal(x, y))
    pairs = (6, 5), (7, 7), (2, 3), (5, 5), (1, 1)
    assert [bool(f(bs.ones(one), bs.ones(two))) for one, two in pairs] == [
        one == two for one, two in pairs
    ]


def test_what_outlives_its_trace_has_plain_sizes() -> None:
    kept: list[bs.Tensor] = []

    @bs.jit
    def f(x: bs.Tensor) -> bs.Tensor:
        kept.append(x.exp())
        return x + 1

    f(rows(6))
    (found,) = kept
    assert (found.shape, found.shape[0], found.size, found.nbytes, len(found)) == (
        (6, 4), 6, 24, 96, 6,
    )  # fmt: skip
    assert "float32[6, 4]" in repr(found)


def test_another_thread_may_look() -> None:
    with ThreadPoolExecutor(1) as pool:

        @bs.jit
        def f(x: bs.Tensor) -> bs.Tensor:
            doubled = pool.submit(lambda: x * 2).result()
            count = pool.submit(lambda: x.size + len(x)).result()
            return doubled * count

        for count in (6, 7, 2):
            np.testing.assert_array_equal(
                f(rows(count)).numpy(), rows(count).numpy() * 2 * (5 * count)
            )


def test_threads_may_trace_at_once() -> None:
    f = bs.jit(lambda x: bs.softmax(x * 2, axis=0).sum(1))
    with ThreadPoolExecutor(5) as pool:
        made = [*pool.map(lambda count: f(rows(count)).numpy().sum(), [3, 4, 5, 6, 7] * 4)]
    np.testing.assert_allclose(made, 4, rtol=1e-5)


def test_what_is_refused_with_open_sizes_is_not_tried_with_them_again() -> None:
    traced: list[int] = []

    @bs.jit
    def f(x: bs.Tensor) -> bs.Tensor:
        traced.append(1)
        return x.reshape(len(json.dumps([x.shape[0]] * 2)), -1)

    for count in (6, 3, 9):  # "[6, 6]" has 6 characters
        assert f(rows(count)).shape == (6, count * 4 // 6)
    assert len(traced) == 4
    with pytest.raises(bs.ShapeError, match=r"20 elements do not fit the shape \[3, -1\]"):
        bs.jit(lambda x: x.reshape(3, -1))(rows(5))


def test_two_shapes_are_compared_by_their_numbers() -> None:
    def compared(x: Any, y: Any) -> Any:
        one, other = x.shape, y.shape
        found = [one == other, one != other, one < other, one <= other, one > other, other in [one]]
        return x + y, [*found, {one: 1}.get(other), one + other]

    for other in ((7, 3), (7, 1), (7, 4)):
        x, y = bs.ones((7, 3))[:, :1], bs.ones(other)
        expected = compared(x, y)[1]
        assert bs.jit(compared)(x, y)[1] == expected
