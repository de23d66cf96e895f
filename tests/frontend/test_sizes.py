"""Sizes that a traced function computes with: integers, as long as somebody looks at them."""

# What is done with a size is written as users may write it.
# ruff: noqa: RUF005, UP031

import copy
import json
import math
import operator
import pickle
import random
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
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
    "inner": lambda x: bs.jit(lambda y, n: y.reshape(n, -1) / n, static="n")(x, n=x.shape[0]),
}
LOOKING: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: sum([x[at] for at in range(x.shape[0])]),
    "narrow": lambda x: [x.astype("float16") / x.shape[0], (x * 3).astype("int8") + x.shape[0]],
    "returned": lambda x: (x, x.shape[0], {"twice": 2 * x.shape[0], "shape": x.shape}),
    "argument": lambda x: bs.jit(lambda y, n: y / n)(x, x.shape[0]),
    "tensors": lambda x: bs.asarray(x.shape[0]) + bs.asarray([x.shape[0], 2]),
    "numpy": lambda x: x * np.ones((x.shape[0], 1, 1), np.float32) * np.sqrt(x.shape[0]),
    "power": lambda x: bs.abs(x) ** x.shape[0],
    "less": lambda x: x[: x.shape[0] - 3] if x.shape[0] > 3 else x,
    "half": lambda x: x.reshape(x.shape[0] // 2, 2, -1) if x.shape[0] % 2 == 0 else x,
    "one place": lambda x: bs.concat([x, x])[x.shape[0]],
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


AS_INTEGERS: dict[str, Callable[[Any], Any]] = {
    **{
        f"{each.__name__} {other!r}": lambda n, each=each, other=other: each(n, other)
        for each in (
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
        for other in (0, 1, 2, 6, 7, -3, True, 2**31, 2**40, 2.5, Fraction(1, 3), np.float32(2))
    },
    **{
        f"reflected {each.__name__} {other!r}": lambda n, each=each, other=other: each(other, n)
        for each in (
            operator.add,
            operator.sub,
            operator.mul,
            operator.floordiv,
            operator.mod,
            operator.truediv,
            divmod,
            operator.eq,
            operator.lt,
            operator.ge,
        )
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
