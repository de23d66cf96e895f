"""Sizes that the data decide, inside `jit`: what comes out is what numpy has."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.runtime.steps import STATISTICS

SIZE = 6
VALUES = [
    np.array([1, 0, 3, 0, 5, -2], np.float32),
    np.zeros(SIZE, np.float32),  # a count of 0
    np.array([4, 4, 1, 2, 2, 4], np.float32),  # the greatest count there can be
    np.array([0, 0, 0, 0, 0, 7], np.float32),
]


def positive(x: Any) -> Any:
    return x[x > 0]


def counts(x: Any) -> Any:
    return np.clip(x, 0, 3).astype(np.int64)


def kept(x: bs.Tensor) -> bs.Tensor:
    return bs.clip(x, 0, 3).astype(bs.int64)


def number(x: Any) -> Any:
    """How many are positive, as numpy and as a traced tensor have it."""
    return (x > 0).sum()


# Each as it is written here, and in numpy; both return a tensor or a tuple of tensors.
PAIRS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "nonzero": (bs.nonzero, np.nonzero),
    "nonzero of a matrix": (
        lambda x: bs.nonzero(x.reshape(2, 3)),
        lambda x: np.nonzero(x.reshape(2, 3)),
    ),
    "argwhere": (lambda x: bs.argwhere(x.reshape(3, 2)), lambda x: np.argwhere(x.reshape(3, 2))),
    "mask": (positive, positive),
    "mask of a matrix": (
        lambda x: x.reshape(2, 3)[x.reshape(2, 3) > 1],
        lambda x: x.reshape(2, 3)[x.reshape(2, 3) > 1],
    ),
    "mask of rows": (lambda x: x.reshape(3, 2)[x[:3] > 0], lambda x: x.reshape(3, 2)[x[:3] > 0]),
    "mask among others": (
        lambda x: x.reshape(2, 3)[:, x[:3] > 0],
        lambda x: x.reshape(2, 3)[:, x[:3] > 0],
    ),
    "unique": (bs.unique_values, np.unique),
    "unique_counts": (bs.unique_counts, lambda x: np.unique(x, return_counts=True)),
    "unique_inverse": (bs.unique_inverse, lambda x: np.unique(x, return_inverse=True)),
    "unique_all": (
        bs.unique_all,
        lambda x: np.unique(x, return_index=True, return_inverse=True, return_counts=True),
    ),
    "repeat": (lambda x: bs.repeat(x, kept(x)), lambda x: np.repeat(x, counts(x))),
    "repeat along an axis": (
        lambda x: bs.repeat(x.reshape(3, 2), kept(x[:3]), axis=0),
        lambda x: np.repeat(x.reshape(3, 2), counts(x[:3]), axis=0),
    ),
    "repeat by one number": (lambda x: bs.repeat(x, number(x)), lambda x: np.repeat(x, number(x))),
    "slice to": (lambda x: x[: number(x)], lambda x: x[: number(x)]),
    "slice from": (lambda x: x[number(x) :], lambda x: x[number(x) :]),
    "slice from to": (
        lambda x: x[number(x) - 3 : x.astype(bs.int64)[0]],
        lambda x: x[number(x) - 3 : x.astype(np.int64)[0]],
    ),
    "slice from the end": (lambda x: x[-number(x) : -1], lambda x: x[-number(x) : -1]),
    "slice with a step": (lambda x: x[1 : number(x) : 2], lambda x: x[1 : number(x) : 2]),
    "slice outside": (lambda x: x[number(x) * 9 : 99], lambda x: x[number(x) * 9 : 99]),
    "slice of columns": (
        lambda x: x.reshape(2, 3)[1, : number(x)],
        lambda x: x.reshape(2, 3)[1, : number(x)],
    ),
    "arange": (lambda x: bs.arange(number(x)), lambda x: np.arange(number(x))),
    "arange from": (
        lambda x: bs.arange(2, number(x) * 3, 2),
        lambda x: np.arange(2, number(x) * 3, 2),
    ),
    "zeros": (lambda x: bs.zeros(number(x)), lambda x: np.zeros(number(x), np.float32)),
}


def same(found: Any, expected: Any) -> None:
    """Both are equal tensors, or tuples of such."""
    several = isinstance(expected, tuple)
    pairs = zip(found, expected, strict=True) if several else [(found, expected)]
    for one, other in pairs:
        assert one.shape == other.shape
        np.testing.assert_array_equal(one.numpy(), other)


@pytest.mark.parametrize("name", PAIRS)
def test_sizes_are_as_numpy_has_them(name: str) -> None:
    ours, theirs = PAIRS[name]
    compiled = bs.jit(ours)
    compiled(bs.asarray(VALUES[0]))
    before = STATISTICS.compiled
    found = [compiled(bs.asarray(values)) for values in VALUES]
    assert STATISTICS.compiled == before
    assert len(compiled.plans) == 2
    for values, made in zip(VALUES, found, strict=True):
        same(made, theirs(values))
        same(ours(bs.asarray(values)), theirs(values))


# What is done with what has a bound size: for tensors here and for arrays of numpy.
LATER: dict[str, Callable[[Any, Any], Any]] = {
    "elementwise": lambda x, np: np.exp(x) * 2 - x,
    "sum": lambda x, np: np.sum(x),
    "any": lambda x, np: np.any(x > 2),
    "one mask twice": lambda x, np: x[x > 2] * 2 + x[x > 2],
    "size in arithmetic": lambda x, np: (np.sum(x) + x.shape[0]) / (2 + x.shape[0]) * x.shape[0],
    "size minus one": lambda x, np: np.sum(x) * (x.shape[0] - 1) - (3 - x.shape[0]),
    "compared with its size": lambda x, np: x < x.shape[0],
    "size as a tensor": lambda x, np: np.asarray(x.shape[0]) + np.sum(x),
    "arange": lambda x, np: np.arange(x.shape[0]) + x,
    "arange of a size from a number": lambda x, np: np.arange(2, x.shape[0] + 3),
    "arange to a number of steps": lambda x, np: np.arange(1, x.shape[0] * 2, 3),
    "zeros": lambda x, np: np.zeros((2, x.shape[0])) + x,
    "reshape": lambda x, np: x.reshape((-1, 1)) + x.reshape((x.shape[0], 1)),
    "outer": lambda x, np: x[:, None] * x,
    "concat": lambda x, np: np.concat([x, x]),
    "sort": lambda x, np: np.sort(x),
    "linspace": lambda x, np: np.linspace(0, 3, x.shape[0]),
    "cumulative": lambda x, np: np.cumulative_sum(x),
    "matmul": lambda x, np: x @ x,
    "slice to": lambda x, np: x[:2],
    "slice from": lambda x, np: x[2:],
    "slice within": lambda x, np: x[1:3],
    "slice within, from the end": lambda x, np: x[-3:-1],
    "slice across": lambda x, np: x[1:-1],
    "slice of nothing": lambda x, np: x[3:1],
    "slice behind": lambda x, np: x[99:],
    "slice in steps": lambda x, np: x[1::2],
    "slice to its size": lambda x, np: x[: x.shape[0]],
    "slice of another": lambda x, np: np.arange(9)[: x.shape[0]],
    "neighbours": lambda x, np: x[1:] - x[:-1],
    "taken apart": lambda x, np: np.concat([x[2:], x[:2]]) + x,
    "flip": lambda x, np: np.flip(x) + x[::-1],
    "roll": lambda x, np: np.roll(x, 1) + 2 * np.roll(x, -1),
    "roll far": lambda x, np: np.roll(x, 7) + 2 * np.roll(x, -8) + np.roll(x, 0),
    "roll by its size": lambda x, np: np.roll(x, x.shape[0] // 2),
    "half": lambda x, np: np.concat([x[: x.shape[0] // 2], x[-(x.shape[0] // 3) :]]),
    "middle": lambda x, np: np.fft.fftshift(x) + 2 * np.fft.ifftshift(x),
    "repeat": lambda x, np: np.repeat(x, 3),
    "its size as a place": lambda x, np: np.arange(9)[x.shape[0]],
    "its size as a place among others": lambda x, np: np.arange(9)[None][np.arange(1), x.shape[0]],
    "where": lambda x, np: np.where(x > 2, x, 0),
    "nonzero": lambda x, np: np.nonzero(x > 2)[0],
    "last mask": lambda x, np: x[x > 2][:, None] * x,
}


@pytest.mark.parametrize("name", LATER)
def test_what_works_on_open_sizes_works_on_bound_ones(name: str) -> None:
    later = LATER[name]
    compiled = bs.jit(lambda x: later(positive(x), bs))
    for values in VALUES:
        expected = np.asarray(later(positive(values), np))
        np.testing.assert_allclose(
            compiled(bs.asarray(values)).numpy(), expected, rtol=1e-5, strict=False
        )
        assert compiled(bs.asarray(values)).shape == expected.shape


FEW: dict[str, Callable[[bs.Tensor], Any]] = {
    "median": bs.median,
    "median of numbers": bs.nanmedian,
    "quantile": lambda x: bs.quantile(x, 0.3),
    "differences": bs.diff,
    "differences of differences": lambda x: bs.diff(x, n=2),
    "neighbours": lambda x: x[1:] - x[:-1],
}


@pytest.mark.parametrize("name", FEW)
def test_none_at_all(name: str) -> None:
    function = FEW[name]
    compiled = bs.jit(lambda x: function(x[x > 0]))
    for values in ([], [-1.0], [1.0, -1.0], [4.0, 1.0, -1.0, 3.0, 2.0]):
        x = bs.asarray(values, dtype="float32")
        np.testing.assert_array_equal(compiled(x).numpy(), function(x[x > 0]).numpy())


def test_whether_tensors_are_equal_whose_sizes_may_be() -> None:
    both = bs.jit(lambda x, y: bs.array_equal(x[x > 0], y[y > 0]))
    for one, other, expected in (
        ([1, 2, -1], [-1, 1, 2], True),
        ([1, 2, -1], [1, -1, -1], False),
        ([1, 2, -1], [2, 1, -1], False),
        ([-1, -1, -1], [-1, -2, -3], True),
    ):
        assert both(bs.asarray(one), bs.asarray(other)).item() is expected
    open_ = bs.jit(lambda x: bs.array_equal(x, bs.ones(3)), dynamic={"x": {0: "n"}})
    assert [open_(bs.ones(size)).item() for size in (2, 3, 4)] == [False, True, False]
    never = bs.jit(lambda x: bs.array_equal(x, x[1:]), dynamic={"x": {0: bs.dim("n", 1, 9)}})
    assert never(bs.ones(3)).item() is False


def test_windows_of_as_many_as_there_are() -> None:
    compiled = bs.jit(lambda x: bs.unfold(x[x > 0], 0, 2, 3))
    for values, expected in (
        ([1, 2, 3, 4, 5, 6], [[1, 2], [4, 5]]),
        ([1, 2, 0, 0, 0, 0], [[1, 2]]),
        ([1, 0, 0, 0, 0, 0], []),
    ):
        found = compiled(bs.asarray(values))
        assert found.shape[1] == 2 and found.tolist() == expected


NEEDS = {
    "first of all": (lambda x: bs.topk(x, 3)[0], "the first 3 are wanted of 0"),
    "largest": (bs.argmax, "the axis is empty"),
    "mirrored": (lambda x: bs.pad(x, ((3, 2),), mode="reflect"), "within axis 0 of size 0"),
    "around": (lambda x: bs.pad(x, ((0, 3),), mode="circular"), "within axis 0 of size 0"),
}


@pytest.mark.parametrize("name", NEEDS)
def test_what_needs_more_than_there_are(name: str) -> None:
    function, problem = NEEDS[name]
    compiled = bs.jit(lambda x: function(x[x > 0]))
    enough = bs.asarray([1.0, 3.0, -1.0, 4.0, 2.0])
    for _ in range(2):
        found, expected = compiled(enough), function(enough[enough > 0])
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
        with pytest.raises(bs.BrimstoneError, match=problem):
            bs.sync(compiled(-bs.abs(enough)))


@bs.jit
def cut_from_the_end(x: bs.Tensor) -> tuple[bs.Tensor, ...]:
    count = x[x > 0].shape[0]
    return x[-count:], x[:-count], x[-2 * count :], x[-count::2]


@pytest.mark.parametrize("values", [[1, -1, 2, -2, 3], [-1, -2], [1, 2], [], [5, -3, 4]])
def test_ends_that_are_counted_from_the_end(values: list[int]) -> None:
    """By a count that may be 0, which is counted from the front, as Python does."""
    x, count = np.asarray(values, np.int64), sum([each > 0 for each in values])
    expected = x[-count:], x[:-count], x[-2 * count :], x[-count::2]
    for found, right in zip(cut_from_the_end(bs.asarray(x)), expected, strict=True):
        assert found.tolist() == right.tolist()


Step = Callable[[bs.Tensor, Random], bs.Tensor]

# Each makes a vector of a vector; all values are small integers, so that comparisons are exact.
STEPS: dict[str, Step] = {
    "mask": lambda x, r: x[x > r.randint(-3, 3)],
    "even": lambda x, r: x[x % 2 == 0],
    "places": lambda x, r: bs.nonzero(x > r.randint(-2, 2))[0],
    "distinct": lambda x, r: bs.unique_values(x),
    "how often": lambda x, r: bs.unique_counts(x).counts,
    "repeat": lambda x, r: bs.repeat(x, bs.clip(x, 0, 2)),
    "begin": lambda x, r: x[: bs.clip(x, 0, 9).sum() % 4],
    "end": lambda x, r: x[-(x > 0).sum() :],
    "slice": lambda x, r: x[r.randint(-3, 3) : r.randint(-3, 3)],
    "step": lambda x, r: x[r.randint(0, 2) :: r.randint(1, 3)],
    "size": lambda x, r: x + x.shape[0] - r.randint(0, 3),
    "line": lambda x, r: bs.arange(x.shape[0]) - x,
    "concat": lambda x, r: bs.concat([x, bs.flip(x)]),
    "outer": lambda x, r: bs.sum(bs.abs(x[:, None] - x), axis=1) % 11,
    "roll": lambda x, r: bs.roll(x, r.randint(-9, 9)),
    "sort": lambda x, r: bs.sort(x, descending=r.random() < 0.5),
    "sum": lambda x, r: x - x.sum() % 5,
    "where": lambda x, r: bs.where(x > 1, x - 2, x + 1),
    "vmap": lambda x, r: bs.vmap(lambda each: each * each % 7)(x),
    "scan": lambda x, r: bs.scan(lambda carry, each: (carry + each, carry), bs.sum(x), x)[1] % 9,
}


def program(seed: int) -> Callable[[bs.Tensor], list[bs.Tensor]]:
    """The same random steps each time it is called; all that they made is returned."""

    def run(x: bs.Tensor) -> list[bs.Tensor]:
        random = Random(seed)
        made = [x]
        for _ in range(random.randint(2, 7)):
            made.append(STEPS[random.choice(list(STEPS))](random.choice(made[-3:]), random))
        return made[1:]

    return run


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    run = program(seed)
    compiled = bs.jit(run)
    opened = bs.jit(run, dynamic={"x": {0: "n"}})
    rng = np.random.default_rng(seed)
    for length in (6, 6, 0, 1, 9):
        x = bs.asarray(rng.integers(-4, 5, length))
        for found, again, expected in zip(compiled(x), opened(x), run(x), strict=True):
            same(found, expected.numpy())
            same(again, expected.numpy())


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_loop_ends_where_a_traced_number_says(count: int) -> None:
    turned = bs.jit(lambda x, n: bs.fori_loop(1, n, lambda at, x: x * 2 + at, x))
    x, expected = bs.asarray([1.0, 2.0]), np.array([1.0, 2.0])
    for at in range(1, count):
        expected = expected * 2 + at
    assert turned(x, bs.asarray(count)).tolist() == expected.tolist()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_loop_in_another_one_ends_where_that_says(compiled: bool) -> None:
    def below(x: Any) -> Any:
        def row(i: Any, total: Any) -> Any:
            return bs.fori_loop(0, i + 1, lambda j, total: total + x[i, j], total)

        return bs.fori_loop(0, x.shape[0], row, 0.0)

    x = bs.arange(12.0).reshape(3, 4)
    lanes = bs.vmap(lambda n: bs.fori_loop(2, n, lambda at, total: total + at, 0))
    run = bs.jit if compiled else lambda function: function
    assert run(below)(x).item() == np.tril(x.numpy()).sum()
    assert run(lanes)(bs.asarray([0, 3, 5])).tolist() == [0, 2, 9]


@pytest.mark.parametrize("shape", [(-1, "n"), ("n", -1), ("n", -1, 2)])
def test_one_size_is_left_out_beside_one_that_data_decide(shape: tuple[Any, ...]) -> None:
    def reshaped(x: Any) -> Any:
        rows = x[x[:, 0] > 0]
        return rows.reshape([rows.shape[0] if each == "n" else each for each in shape])

    x = bs.asarray([[1.0, 2, 3, 4], [-1, 2, 3, 4], [5, 6, 7, 8]])
    np.testing.assert_array_equal(bs.jit(reshaped)(x).numpy(), reshaped(x).numpy())


@pytest.mark.parametrize(
    "counts", [[1 << 62] * 4, [1 << 62] * 3 + [(1 << 62) + 2], [1 << 40, 1, 1, 1]]
)
def test_more_repetitions_than_there_is_memory_for(counts: list[int]) -> None:
    """Whose number may be more than an integer can be."""
    x, given = bs.ones(4), bs.asarray(counts)
    with pytest.raises(bs.OutOfMemory, match=r"repeat: .*(.|\n)*asked for"):
        bs.repeat(x, given)
    with pytest.raises((bs.OutOfMemory, bs.OperationFailed), match="repeat: the size"):
        bs.sync(bs.jit(bs.repeat)(x, given))
