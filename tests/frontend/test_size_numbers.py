"""A size of what is being traced is an integer for all who ask, whoever keeps it."""

# What is done with a size is written as users may write it.
# ruff: noqa: UP031

import copy
import json
import math
import operator
import pickle
import random
import statistics
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
import pytest

import brimstone as bs

ARITHMETIC: tuple[Callable[[Any, Any], Any], ...] = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.floordiv,
    operator.mod,
    operator.truediv,
    divmod,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)
AS_INTEGERS: dict[str, Callable[[Any], Any]] = {
    **{
        f"{each.__name__} {other!r}": lambda n, each=each, other=other: each(n, other)
        for each in ARITHMETIC
        for other in (0, 1, 2, 6, 7, -3, True, 2**31, 2**40, 2.5, Fraction(1, 3), np.float32(2))
    },
    **{
        f"reflected {each.__name__} {other!r}": lambda n, each=each, other=other: each(other, n)
        for each in ARITHMETIC
        for other in (0, 1, 7, 36, -3, True, 2**40, 2.5, Fraction(1, 3), np.int64(3))
    },
    **{
        f"{each.__name__} of bits": lambda n, each=each: [each(n, 5), each(5, n)]
        for each in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
    },
    "signs": lambda n: [-n, +n, ~n, abs(n), abs(-n)],
    "itself": lambda n: [n - n, n // n, n % n, n * n, n + n],
    "twice": lambda n: [2 * n - n, 4 * n // 2, n * 8 % 4, (n + 1) * 2, (3 * n) // n],
    "powers": lambda n: [n**2, n**-1, 2**n, n**0.5, 0.5**n],
    "floats": lambda n: [float(n), complex(n), n.__float__(), math.sqrt(n), math.log(n)],
    "rounded": lambda n: [round(n), round(n, -1), math.floor(n), math.ceil(n), math.trunc(n)],
    "whole": lambda n: [int(n), operator.index(n), n.real, n.imag, n.numerator, n.denominator],
    "bits": lambda n: [n.bit_length(), n.to_bytes(2, "big"), n.conjugate()],
    "texts": lambda n: [str(n), repr(n), f"{n:>4}", f"{n}", "%d %s" % (n, n), format(n, "03d")],
    "truth": lambda n: [bool(n), bool(n - 1), bool(n - 2), not n, n and 1],
    "kinds": lambda n: [isinstance(n, int), isinstance(n, Integral), isinstance(n, float)],
    "mathematics": lambda n: [math.gcd(n, 4), math.isqrt(n), math.factorial(n), math.comb(n, 2)],
    "products": lambda n: [math.prod((n, 3)), sum((n, 3)), max(n, 3), max(n, 9), min(n, 1)],
    "hashed": lambda n: [hash(n), {6: 1}[n], {n: 1}, n in {6}, n in (1, 6), n in range(9)],
    "lists": lambda n: [[0] * n, "a" * n, [*range(n)], [*range(20)][:n], [*range(9)][n]],
    "sorted": lambda n: [sorted((n, 3)), sorted((n, 9)), (n, 1) < (6, 2), (n,) == (6,)],
    "copies": lambda n: [copy.copy(n), copy.deepcopy([n]), pickle.loads(pickle.dumps((n, 1)))],
    "packed": lambda n: [struct.pack("q", n), bytes(n), random.Random(n).random()],
    "fractions": lambda n: [Fraction(n, 4), Fraction(1, n), Fraction(1, 4) * n],
    "not equal": lambda n: [n == "6", n is None, n == (6,), n != "6"],
    "arrays": lambda n: [np.arange(n), np.zeros((n, 2)), np.full((2,), n), np.array([n, 2])],
    "of numpy": lambda n: [np.sqrt(n), np.prod((n, 3)), np.float32(2) * n, n * np.float32(2)],
    "with arrays": lambda n: [np.ones(3) * n, n / np.ones(3), np.ones((6, 2)).reshape(n, -1)],
    "no attribute": lambda n: hasattr(n, "shape"),
    "by nothing": lambda n: n // 0,
}
"""Things to do with the number 6."""


@pytest.mark.parametrize("name", AS_INTEGERS)
def test_a_size_is_an_integer(name: str) -> None:
    def made(number: Any) -> str:
        try:
            return repr(AS_INTEGERS[name](number))
        except ArithmeticError as problem:
            return repr(problem)

    found: list[str] = []

    @bs.jit
    def traced(x: Any) -> Any:
        found.append("once")
        found.append(made(x.shape[0]))
        return x

    traced(bs.ones((6, 4)))
    assert found == ["once", made(6)]


@pytest.mark.parametrize(
    "use", [json.dumps, Decimal, np.random.default_rng, lambda n: pow(n, 2, 7)]
)
def test_who_wants_an_integer_of_c_gets_one(use: Callable[[Any], Any]) -> None:
    """Then the function is traced again, with plain sizes, as it is where these are refused."""
    found: list[Any] = []
    f = bs.jit(lambda x: (found.append(use(x.shape[0])), x + 1)[1])
    for count in (6, 7):
        f(bs.ones((count, 4)))
    assert [*map(type, found)] == [*map(type, [use(6), use(7)])]


def test_whose_name_is_told_of_may_be_an_integer() -> None:
    """So do torch, and databases."""
    found: list[int] = []

    def use(number: Any) -> None:
        if type(number) is not int:
            raise RuntimeError(f"no idea what {type(number).__name__} is")
        found.append(number)

    f = bs.jit(lambda x: (use(x.shape[0]), x)[1])
    for count in (6, 7):
        f(bs.ones((count, 4)))
    assert found == [6, 7]


def test_errors_speak_of_integers() -> None:
    for use in (lambda n: n + "rows", lambda n: n < "7", lambda n: n[0], lambda n: n(1)):
        with pytest.raises(TypeError) as refused:
            bs.jit(lambda x, use=use: use(x.shape[0]))(bs.ones((6, 4)))
        with pytest.raises(TypeError) as expected:
            use(6)
        assert str(refused.value) == str(expected.value)


def test_a_size_that_is_kept_is_the_number() -> None:
    kept: list[Any] = []

    @bs.jit
    def f(x: Any) -> Any:
        kept.append(x.shape[0] * 2)
        return x + 1

    for count in (6, 7, 6):
        f(bs.ones((count, 4)))
    assert kept == [12, 14]
    assert f"{kept[0] + 1}, {kept[1] // 2}" == "13, 7"


def kept_by_a_trace_that_fails() -> Any:
    """A size of 6."""
    kept: list[Any] = []

    @bs.jit
    def failing(x: Any) -> Any:
        kept.append(x.shape[0])
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        failing(bs.ones((6, 4)))
    return kept[0]


@pytest.mark.parametrize(
    "use",
    [
        lambda n: bs.jit(lambda y: y / n)(bs.ones((5, 2))).numpy()[0, 0],
        lambda n: bs.jit(lambda y: y.reshape(n, -1))(bs.ones((5, 6))).shape,
        lambda n: bs.jit(lambda y: y * 2 if y.shape[0] == n else y)(bs.ones((5, 6))).numpy()[0, 0],
        lambda n: bs.jit(lambda y: y * (y.shape[0] + n))(bs.ones((5, 6))).numpy()[0, 0],
        lambda n: bs.zeros((n, 2)).shape,
        lambda n: (bs.ones(2) / n).numpy()[0],
        lambda n: [n + 1, n * n, n // 2, n > 4, str(n)],
    ],
)
def test_a_size_is_a_number_for_all_but_its_trace(use: Callable[[Any], Any]) -> None:
    """Each with one of its own, which nobody has looked at."""
    assert repr(use(kept_by_a_trace_that_fails())) == repr(use(6))


def test_a_function_that_another_thread_calls_gets_numbers() -> None:
    def outer(x: Any) -> Any:
        count = x.shape[0]
        inner = bs.jit(lambda y: y / count)
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(lambda: inner(bs.ones((5, 2))).numpy()[0, 0]).result()
        return x * float(made)

    np.testing.assert_allclose(bs.jit(outer)(bs.ones((6, 4))).numpy(), 1 / 6, rtol=1e-6)


def test_threads_compute_with_the_sizes_that_they_are_handed() -> None:
    def summed(x: Any) -> Any:
        count = x.shape[0]
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: bs.zeros((count, 2)).shape[0] + (x / count).sum()).result()

    compiled = bs.jit(summed)
    for count in (6, 7, 9):
        np.testing.assert_allclose(compiled(bs.ones((count, 4))).numpy(), 4 + count, rtol=1e-6)


def test_a_number_in_a_call_of_what_is_compiled_already_is_a_number() -> None:
    """Also where an array of one was given before, which is a tensor."""
    scaled = bs.jit(lambda w, n: w * n)
    given = bs.ones(3, dtype="int8")
    for _ in range(3):
        assert scaled(given, np.asarray(6)).dtype == bs.int64
    found: list[Any] = []
    bs.jit(lambda x: (found.append(scaled(given, x.shape[0]).dtype), x)[1])(bs.ones((6, 2)))
    assert found == [bs.int8]


def test_none_can_be_made_of_its_class() -> None:
    def made(number: Any) -> Any:
        with suppress(TypeError):
            type(number)(3)
        return statistics.mean([number, 4])

    found: list[Any] = []
    bs.jit(lambda x: (found.append(made(x.shape[0])), x)[1])(bs.ones((6, 2)))
    assert found == [5]


def test_a_power_is_one_whoever_catches_errors() -> None:
    def root(x: Any) -> Any:
        try:
            return x.sum() * 0 + x.shape[0] ** 0.5
        except TypeError:
            return x.sum() * 0 - 1

    assert bs.jit(root)(bs.ones((16, 3))).item() == 4
