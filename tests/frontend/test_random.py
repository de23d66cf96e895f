"""`bs.random`: what samples are made of, keys, transformations, and samples without keys."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import random
from brimstone.ir.tensor.random import stream
from kit.samples import Array, chi_square, farthest

COUNT = 20_000
KEY = random.key(20260)
FLOATS = ["float16", "bfloat16", "float8_e4m3", "float8_e5m2", "float32", "float64"]


def words(key: bs.Tensor, count: int) -> Array:
    """The first words of a key's stream, from the op's own definition."""
    return stream(key.numpy(), 0, count)


# What samples are made of


def test_the_bits_are_philox() -> None:
    """The published answers of Random123 for a key and a counter of zeros."""
    found = random.bits(random.key(0), (4,)).numpy()
    assert [hex(word) for word in found] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


def test_the_words_of_a_seed() -> None:
    assert random.key(0x123456789ABCDEF0).tolist() == [0x9ABCDEF0, 0x12345678]
    assert random.key(-1).tolist() == [0xFFFFFFFF, 0xFFFFFFFF]
    assert random.key(bs.asarray(7)).tolist() == random.key(7).tolist()
    assert bs.jit(random.key)(bs.asarray(-2)).tolist() == random.key(-2).tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32"])
def test_narrow_bits_are_the_high_ones(dtype: str) -> None:
    found = random.bits(KEY, (3, 2), dtype).numpy()
    width = 8 * found.dtype.itemsize
    expected = (words(KEY, 6) >> (32 - width)).astype(dtype).reshape(3, 2)
    np.testing.assert_array_equal(found, expected)


def test_wide_bits_are_two_words() -> None:
    found = random.bits(KEY, (3,), bs.uint64).numpy()
    pairs = words(KEY, 6).astype(np.uint64).reshape(3, 2)
    np.testing.assert_array_equal(found, pairs[:, 0] | pairs[:, 1] << np.uint64(32))
    signed = random.bits(KEY, (3,), bs.int64).numpy()
    np.testing.assert_array_equal(signed.view(np.uint64), found)


@pytest.mark.parametrize(("dtype", "digits"), [*zip(FLOATS, [11, 8, 4, 3, 24, 53], strict=True)])
def test_uniform_numbers_are_the_high_bits_exactly(dtype: str, digits: int) -> None:
    found = random.uniform(KEY, (100,), dtype).numpy().astype(np.float64)
    wide = random.bits(KEY, (100,), bs.uint64).numpy() >> np.uint64(64 - digits)
    narrow = words(KEY, 100) >> np.uint32(32 - min(digits, 32))
    expected = (wide if dtype == "float64" else narrow) * 2.0**-digits
    np.testing.assert_array_equal(found, expected)
    assert found.max() < 1


def test_normal_numbers_grow_with_their_words() -> None:
    found, order = random.normal(KEY, (1000,)).numpy(), np.argsort(words(KEY, 1000))
    assert (np.diff(found[order]) >= 0).all()
    assert np.isfinite(found).all()


@pytest.mark.parametrize("name", ["uniform", "normal", "exponential", "gamma", "poisson"])
def test_an_element_depends_on_the_key_and_its_place_alone(name: str) -> None:
    draw = getattr(random, name)
    line = draw(KEY, shape=(60,)).numpy()
    np.testing.assert_array_equal(draw(KEY, shape=(4, 3, 5)).numpy().ravel(), line)
    np.testing.assert_array_equal(draw(KEY, shape=(7,)).numpy(), line[:7])


def test_equal_keys_give_equal_numbers_and_others_others() -> None:
    first, again = (random.normal(random.key(5), (8,)).tolist() for _ in range(2))
    assert first == again
    assert first != random.normal(random.key(6), (8,)).tolist()


def test_splits_are_distinct_and_begin_alike() -> None:
    keys = random.split(KEY, 1000).numpy()
    assert keys.shape == (1000, 2)
    assert len({tuple(each) for each in keys}) == 1000
    np.testing.assert_array_equal(random.split(KEY).numpy(), keys[:2])
    np.testing.assert_array_equal(random.split(KEY, (4, 5)).numpy().reshape(20, 2), keys[:20])
    assert not {*keys.ravel().tolist()} & {*words(KEY, 2000).tolist()}


def test_folding_in_gives_a_key_for_each_number() -> None:
    found = [tuple(random.fold_in(KEY, each).tolist()) for each in (0, 1, -1, 2**40)]
    assert len({*found, tuple(KEY.tolist())}) == 5
    traced = bs.jit(lambda number: random.fold_in(KEY, number))(bs.asarray(2**40))
    assert tuple(traced.tolist()) == found[3]


# Independence


def test_samples_of_split_keys_are_independent() -> None:
    one, other = (random.normal(key, (COUNT,)).numpy() for key in random.split(KEY))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
    child = random.normal(random.fold_in(KEY, 0), (COUNT,)).numpy()
    assert abs(np.corrcoef(one, child)[0, 1]) < 0.03
    first = np.array([random.uniform(key).item() for key in random.split(KEY, 400)])
    assert farthest(first, lambda x: x) < 2
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.15


def test_neighbouring_seeds_are_independent() -> None:
    first = np.array([random.uniform(random.key(seed)).item() for seed in range(400)])
    assert farthest(first, lambda x: x) < 2


# Transformations

DRAWS: list[Callable[[Any], Any]] = [
    lambda key: random.normal(key, (3,)),
    lambda key: random.normal(key, (3,), bs.float64),
    lambda key: random.uniform(key, (3,), minval=-1.0),
    lambda key: random.gamma(key, 0.7, (3,)),
    lambda key: random.poisson(key, bs.asarray([2.0, 40.0])),
    lambda key: random.randint(key, (3,), 0, 9),
    lambda key: random.permutation(key, 6),
    lambda key: random.choice(key, 6, (2,), False),
    lambda key: random.categorical(key, bs.zeros((2, 3))),
    lambda key: random.split(key, 3),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_jit_and_vmap_give_the_same_numbers(draw: Callable[[Any], Any]) -> None:
    keys = random.split(KEY, 3)
    expected = np.stack([draw(key).numpy() for key in keys])
    compiled = bs.jit(draw)
    np.testing.assert_allclose(np.stack([compiled(key).numpy() for key in keys]), expected)
    np.testing.assert_allclose(bs.vmap(draw)(keys).numpy(), expected)
    stepped = bs.scan(lambda carry, key: (carry, draw(key)), 0, keys)[1]
    np.testing.assert_allclose(stepped.numpy(), expected)


@pytest.mark.parametrize("name", ["gamma", "normal"])
def test_threads_give_the_same_numbers(name: str) -> None:
    keys = list(random.split(KEY, 16))
    draw = getattr(random, name)
    expected = [draw(key, shape=(20,)).tolist() for key in keys]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda key: draw(key, shape=(20,)).tolist(), keys)) == expected


def test_open_sizes() -> None:
    f = bs.jit(
        lambda x: x + random.normal(KEY, x.shape) + random.permutation(KEY, x.shape[0]),
        dynamic={"x": {0: "n"}},
    )
    for size in (3, 8):
        expected = random.normal(KEY, (size,)) + random.permutation(KEY, size)
        np.testing.assert_allclose(f(bs.zeros(size)).numpy(), expected.numpy())


def test_a_draw_without_a_key_differs_each_time() -> None:
    f = bs.jit(lambda: random.normal(shape=(2,)))
    bs.manual_seed(3)
    calls = [f().tolist() for _ in range(3)]
    assert len({tuple(each) for each in calls}) == 3
    bs.manual_seed(3)
    assert [f().tolist() for _ in range(3)] == calls
    steps = bs.scan(lambda carry, _: (carry, bs.randn()), 0, length=5)[1]
    assert len({*steps.tolist()}) == 5
    lanes = bs.vmap(lambda x: x + bs.rand())(bs.zeros(5))
    assert len({*lanes.tolist()}) == 5


def test_derivatives_by_parameters() -> None:
    def spread(mean: bs.Tensor, std: bs.Tensor) -> bs.Tensor:
        return random.normal(KEY, (4,), mean=mean, std=std).sum()

    noise = random.normal(KEY, (4,)).sum().item()
    found = bs.grad(spread, (0, 1))(bs.asarray(1.0), bs.asarray(2.0))
    np.testing.assert_allclose([each.item() for each in found], [4, noise], rtol=1e-5)

    def between(high: bs.Tensor) -> bs.Tensor:
        return random.uniform(KEY, (4,), maxval=high).sum()

    expected = random.uniform(KEY, (4,)).sum().item()
    np.testing.assert_allclose(bs.grad(between)(bs.asarray(3.0)).item(), expected, rtol=1e-6)


def test_tries_and_coins_are_constants_to_derivatives() -> None:
    def scaled(a: bs.Tensor) -> bs.Tensor:
        return (random.gamma(KEY, a, (4,), scale=a)).sum()

    expected = random.gamma(KEY, 2.0, (4,)).sum().item()
    np.testing.assert_allclose(bs.grad(scaled)(bs.asarray(2.0)).item(), expected, rtol=1e-5)

    def dropped(x: bs.Tensor) -> bs.Tensor:
        return bs.where(random.bernoulli(KEY, 0.5, x.shape), x * 2, 0.0).sum()

    kept = random.bernoulli(KEY, 0.5, (6,)).numpy()
    np.testing.assert_array_equal(bs.grad(dropped)(bs.ones(6)).numpy(), 2.0 * kept)


# Without keys


def test_a_seed_begins_again() -> None:
    bs.manual_seed(1)
    first = [bs.randn(2, 3).tolist(), bs.rand(4).tolist(), bs.randint(10, (3,)).tolist()]
    bs.manual_seed(1)
    assert [bs.randn((2, 3)).tolist(), bs.rand(4).tolist(), bs.randint(0, 10, 3).tolist()] == first
    assert bs.randn(2, 3).tolist() != first[0]


def test_generators_are_on_their_own() -> None:
    one, other = bs.Generator(4), bs.Generator().manual_seed(4)
    expected = bs.randn(3, generator=one).tolist()
    bs.rand(5)
    assert bs.randn(3, generator=other).tolist() == expected
    assert bs.randn(3, generator=one).tolist() != expected
    assert random.normal(bs.Generator(4), (3,)).tolist() == expected


def test_samples_without_keys() -> None:
    x = bs.ones((2, 3), dtype=bs.float64)
    assert bs.randn_like(x).dtype == bs.rand_like(x).dtype == bs.float64
    assert bs.randn_like(x, dtype=bs.float16).dtype == bs.float16
    assert bs.rand(2, 3, requires_grad=True).requires_grad
    assert bs.randn().shape == ()
    assert sorted(bs.randperm(6).tolist()) == list(range(6))
    assert bs.normal(bs.zeros(3), 2.0).shape == (3,)
    assert bs.normal(1.0, 0.0, (2, 2)).tolist() == [[1, 1], [1, 1]]
    assert bs.bernoulli(bs.asarray([0.0, 1.0])).tolist() == [0.0, 1.0]
    assert bs.randn(2, device="reference").shape == (2,)


def test_multinomial() -> None:
    weights = bs.asarray([[3.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    drawn = bs.multinomial(weights, 4000, True, generator=bs.Generator(1)).numpy()
    assert drawn.shape == (2, 4000)
    assert chi_square(np.bincount(drawn[0]), np.array([0.75, 0.25])) < 4
    assert chi_square(np.bincount(drawn[1]), np.full(3, 1 / 3)) < 4
    once = bs.multinomial(weights, 2).numpy()
    assert sorted(once[0].tolist()) == [0, 1]
    assert once[1, 0] != once[1, 1]


def in_jit() -> Any:
    return bs.jit(lambda: bs.randn(2, generator=bs.Generator(1)))()


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: random.normal((2, 3)), bs.ArgumentError, "the first argument is a key"),
    (lambda: random.normal(0.0, 1.0, (3,)), bs.ArgumentError, "the first argument is a key"),
    (lambda: random.randint(0, 5), bs.ArgumentError, "the first argument is a key"),
    (lambda: random.normal(bs.zeros(2)), bs.ArgumentError, "the first argument is a key"),
    (lambda: random.normal(random.split(KEY)), bs.ArgumentError, "`bs.vmap` takes many keys"),
    (lambda: random.normal(KEY, (2,), bs.int32), bs.DTypeError, "consists of floats, not of int32"),
    (lambda: random.uniform(KEY, (2,), bs.complex64), bs.DTypeError, "not of complex64"),
    (lambda: random.normal(KEY, (2,), mean=bs.zeros(3)), bs.ShapeError, "broadcast"),
    (lambda: random.normal(KEY, (), mean=bs.zeros(3)), bs.ShapeError, "the parameters have shape"),
    (lambda: random.bits(KEY, (2,), bs.float32), bs.DTypeError, "bits come as integers"),
    (lambda: random.randint(KEY, (2,), 3, 3), bs.ArgumentError, r"no integer is in \[3, 3\)"),
    (lambda: random.randint(KEY, (2,), 0.5, 3), bs.DTypeError, "are integers"),
    (lambda: random.key(1.5), bs.DTypeError, "a seed is one integer"),
    (lambda: random.fold_in(KEY, 0.5), bs.DTypeError, "one integer is folded in"),
    (lambda: random.split(KEY, -1), bs.ArgumentError, "not negative"),
    (lambda: random.choice(KEY, 3, (4,), False), bs.ArgumentError, "4 of 3 cannot be chosen"),
    (lambda: random.choice(KEY, 0, (1,)), bs.ArgumentError, "nothing to choose from"),
    (lambda: random.choice(KEY, 3, (1,), p=bs.ones(2)), bs.ShapeError, "a vector of 3 floats"),
    (lambda: random.categorical(KEY, bs.asarray([1])), bs.DTypeError, "logits are floats"),
    (lambda: random.categorical(KEY), bs.ArgumentError, "there are no logits"),
    (lambda: random.categorical(KEY, bs.zeros((2, 3)), shape=(3,)), bs.ShapeError, "leave"),
    (lambda: random.permutation(KEY, bs.asarray(3)), bs.AxisError, "rank 0 has no axis"),
    (lambda: random.dirichlet(KEY, 1.0), bs.ShapeError, "alpha is a vector"),
    (lambda: random.poisson(KEY, 1.0, dtype=bs.complex64), bs.DTypeError, "counts are real"),
    (lambda: bs.multinomial(bs.ones(2), 3), bs.ArgumentError, "cannot draw 3 of 2"),
    (lambda: bs.multinomial(bs.ones(()), 1), bs.ShapeError, "the weights have an axis"),
    (in_jit, bs.ArgumentError, "would give the same key each time"),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG)
def test_errors(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("region", ["scan", "while", "cond", "checkpoint", "vmap"])
def test_the_first_sample_of_a_compiled_function_may_be_drawn_inside_a_region(region: str) -> None:
    def draw(x: Any) -> Any:
        return x + bs.rand(2)

    zeros = bs.zeros(2)
    regions: dict[str, Any] = {
        "scan": lambda: bs.scan(lambda x, _: (draw(x), None), zeros, length=1)[0],
        "while": lambda: bs.while_loop(lambda x: (x == 0).all(), draw, zeros),
        "cond": lambda: bs.cond(bs.asarray(True), draw, bs.abs, zeros),
        "checkpoint": lambda: bs.checkpoint(draw)(zeros),
        "vmap": lambda: bs.vmap(draw)(bs.zeros((1, 2)))[0],
    }
    made = bs.jit(regions[region])
    assert len({*made().tolist(), *made().tolist()}) == 4


def test_a_compiled_function_draws_for_what_is_traced_around_it() -> None:
    """Whether it is known already, and whatever it is given, each call of what is around draws."""
    draw = bs.jit(lambda: bs.random.normal(shape=()))
    more = bs.jit(lambda x: x + bs.random.normal(shape=()))
    for _ in range(3):
        x = bs.zeros(4).sync()
        around = bs.jit(lambda x: x + draw() + more(bs.zeros(())))
        assert len({each for _ in range(3) for each in around(x).tolist()}) == 3
        assert len({*bs.scan(lambda c, e: (c, e + draw()), bs.zeros(()), x)[1].tolist()}) == 4
        assert len({*bs.vmap(lambda e: e + draw())(x).tolist()}) == 4
        for _ in range(20):  # until it goes the direct way
            bs.sync(draw(), more(bs.zeros(()).sync()))
