"""`bs.attention` against its composition, forward and backward."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.mistakes import Mistake, check
from kit.written_attentions import apart

RNG = np.random.default_rng(11)
INF = float("inf")


def tensors(rows: int = 5, columns: int = 7, heads: int = 4, groups: int = 4) -> list[bs.Tensor]:
    shapes = (2, heads, rows, 3), (2, groups, columns, 3), (2, groups, columns, 6)
    return [bs.asarray(RNG.normal(size=shape)) for shape in shapes]


def composed(q: Any, k: Any, v: Any, **options: Any) -> bs.Tensor:
    """The same by matrix products and a softmax, between which stands what is not recognised."""
    share = q.shape[1] // k.shape[1]
    k, v = bs.repeat(k, share, axis=1), bs.repeat(v, share, axis=1)
    scale = options.get("scale")
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if "score" in options:
        scores = options["score"](scores)
    if "soft_cap" in options:
        scores = bs.tanh(scores / options["soft_cap"]) * options["soft_cap"]
    if "bias" in options:
        scores = scores + options["bias"]
    if "mask" in options:
        scores = bs.where(options["mask"], scores, -INF)
    if options.get("causal"):
        rows, columns = q.shape[2], k.shape[2]
        allowed = bs.arange(columns)[None, :] <= bs.arange(rows)[:, None] + columns - rows
        scores = bs.where(allowed, scores, -INF)
    return apart(bs.softmax(scores, axis=-1)) @ v


MASK = bs.asarray(RNG.uniform(size=(5, 7)) > 0.3).at[:, 0].set(True)
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "scale": {"scale": 0.3},
    "scale of 0": {"scale": 0},
    "causal": {"causal": True},
    "mask": {"mask": MASK},
    "bias": {"bias": bs.asarray(RNG.normal(size=(4, 1, 7)))},
    "soft cap": {"soft_cap": 2.0},
    "score": {"score": lambda scores: scores * scores},
    "all": {"mask": MASK, "bias": (bs.ones((5, 7)) * 0.1).sync(), "causal": True, "soft_cap": 5.0},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("groups", [4, 2, 1])
def test_it_is_its_composition(name: str, groups: int) -> None:
    given, options = tensors(groups=groups), OPTIONS[name]
    found, expected = bs.attention(*given, **options), composed(*given, **options)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9)


@pytest.mark.parametrize("name", OPTIONS)
def test_so_are_its_gradients(name: str) -> None:
    given, options = tensors(groups=2), OPTIONS[name]
    pairs = [
        bs.grad(lambda q, k, v, f=f: bs.sin(f(q, k, v, **options)).sum(), (0, 1, 2))(*given)
        for f in (bs.attention, composed)
    ]
    for found, expected in zip(*pairs, strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-8, atol=1e-12)


def test_the_bias_has_a_gradient() -> None:
    given, bias = tensors(), bs.asarray(RNG.normal(size=(5, 7)))
    pair = [
        bs.grad(lambda b, f=f: bs.sin(f(*given, bias=b)).sum())(bias)
        for f in (bs.attention, composed)
    ]
    np.testing.assert_allclose(pair[0].numpy(), pair[1].numpy(), rtol=1e-8)


def bent(f: Any, by_query: Any, slope: Any, other: Any = 0.1) -> bs.Tensor:
    """With a change that reads two tensors, of which one is spread twice."""
    k, v = KEYS
    far = bs.arange(7)[None, :] - bs.arange(5)[:, None]

    def score(scores: Any) -> Any:
        return bs.tanh(scores * slope + far * bs.sin(slope)) + other * slope

    return bs.sin(f(by_query, k, v, score=score)).sum()


KEYS = tensors(groups=2)[1:]
BENT = tensors()[0], bs.asarray(RNG.normal(size=(4, 1, 1))), bs.asarray(RNG.normal(size=(5, 7)))


def test_what_a_change_reads_has_a_gradient() -> None:
    pair = [
        bs.grad(lambda *x, f=f: bent(f, *x), (0, 1, 2))(*BENT) for f in (bs.attention, composed)
    ]
    for found, expected in zip(*pair, strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-8, atol=1e-12)


def test_higher_orders_and_the_linear_function() -> None:
    def twice(f: Any) -> list[bs.Tensor]:
        def slope(*x: Any) -> bs.Tensor:
            return sum(bs.cos(each).sum() for each in bs.grad(lambda *y: bent(f, *y), (0, 1))(*x))

        along = tuple(bs.ones(each.shape, dtype=each.dtype) for each in BENT)
        pushed = bs.linearize(lambda *x: bent(f, *x), *BENT)[1](*along)
        return [*bs.grad(slope, (0, 1, 2))(*BENT), bs.jvp(slope, BENT, along)[1], pushed]

    for found, expected in zip(twice(bs.attention), twice(composed), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-7, atol=1e-10)


def test_gradients_in_lanes() -> None:
    lanes = [bs.stack([each, each * 2]) for each in BENT[:2]]
    one = bs.grad(lambda query, slope: bent(bs.attention, query, slope, BENT[2]), (0, 1))
    together = bs.vmap(one)(*lanes)
    for lane in range(2):
        for found, expected in zip(together, one(*[each[lane] for each in lanes]), strict=True):
            np.testing.assert_allclose(found[lane].numpy(), expected.numpy(), rtol=1e-9)


def test_other_ranks_jit_and_vmap() -> None:
    q, k, v = tensors(groups=4)
    expected = bs.attention(q, k, v).numpy()
    np.testing.assert_array_equal(bs.jit(bs.attention)(q, k, v).numpy(), expected)
    np.testing.assert_allclose(bs.vmap(bs.attention)(q, k, v).numpy(), expected, rtol=1e-12)
    alone = bs.attention(q[1, 2], k[1, 2], v[1, 2])
    np.testing.assert_allclose(alone.numpy(), expected[1, 2], rtol=1e-12)
    deeper = bs.attention(q[None], k[None], v[None])
    np.testing.assert_allclose(deeper.numpy()[0], expected, rtol=1e-12)


def test_who_attends_to_nothing_gets_zeros() -> None:
    given = tensors()
    found = bs.attention(*given, mask=MASK.at[2].set(False)).numpy()
    assert (found[:, :, 2] == 0).all()
    assert np.isfinite(found).all()


@bs.jit(dynamic={"q": {1: "h"}, "k": {1: "g"}, "v": {1: "g"}})
def open_heads(q: Any, k: Any, v: Any) -> Any:
    return bs.attention(q, k, v)


@bs.jit(dynamic={"q": {3: "w"}, "k": {3: "w"}})
def open_width(q: Any, k: Any, v: Any) -> Any:
    return bs.attention(q, k, v)


def test_a_change_may_be_of_another_dtype() -> None:
    given = tensors()
    for dtype in (bs.float32, bs.float64):
        found = bs.attention(*given, score=lambda scores, to=dtype: scores.astype(to))
        assert found.dtype == bs.float64
        # Of scores in 32 bits the weights are off by so much, of values that may cancel each other.
        np.testing.assert_allclose(found.numpy(), composed(*given).numpy(), rtol=1e-5, atol=1e-6)


def test_no_width_at_all() -> None:
    """All scores are 0, and so all weights are alike."""
    q, k, v = tensors()
    found = bs.attention(q[..., :0], k[..., :0], v).numpy()
    expected = np.broadcast_to(v.numpy().mean(2, keepdims=True), found.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("shape", [(5, 7), (4, 1, 7), (2, 1, 5, 7), (2, 4, 5, 7)], ids=str)
@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_gradients_of_a_bias_for_each_lane(shape: tuple[int, ...], device: str) -> None:
    """Of each lane's own one, and of one that all share."""
    lanes, bias = [tensors() for _ in range(3)], RNG.normal(size=(3, *shape))

    def slope(q: Any, k: Any, v: Any, bias: Any) -> Any:
        return bs.grad(lambda b: (bs.attention(q, k, v, bias=b) ** 2).sum())(bias)

    with bs.device(device):
        q, k, v = [bs.stack([bs.asarray(lane[at].numpy()) for lane in lanes]) for at in range(3)]
        biases = bs.asarray(bias)
        own = bs.vmap(slope)(q, k, v, biases)
        shared = bs.vmap(slope, in_axes=(0, 0, 0, None))(q, k, v, biases[0])
    for at, (q, k, v) in enumerate(lanes):
        one = slope(q, k, v, bs.asarray(bias[at]))
        np.testing.assert_allclose(own[at].numpy(), one.numpy(), rtol=1e-9, atol=1e-12)
        one = slope(q, k, v, bs.asarray(bias[0]))
        np.testing.assert_allclose(shared[at].numpy(), one.numpy(), rtol=1e-9, atol=1e-12)


q, k, v = tensors()
MISTAKES = [
    Mistake(lambda: bs.attention(q, k, v[:, :, :3]), ValueError, "values 3 long"),
    Mistake(lambda: bs.attention(q, k[..., :2], v), ValueError, "3 wide"),
    Mistake(
        lambda: bs.attention(q, k[:, :3], v[:, :3]), ValueError, "4 heads of queries cannot share 3"
    ),
    Mistake(
        lambda: bs.attention(q, k[:, :0], v[:, :0]), ValueError, "4 heads of queries cannot share 0"
    ),
    Mistake(lambda: open_heads(q, k, v), ValueError, "h heads of queries cannot share g"),
    Mistake(lambda: open_width(q, k, v), ValueError, "say `scale`"),
    Mistake(lambda: bs.attention(q, k, v, scale="a"), ValueError, "`scale` is 'a'"),
    Mistake(lambda: bs.attention(q, k, v, score=3), ValueError, "expected a function"),
    Mistake(lambda: bs.attention(q, k, v, score=lambda s: s[..., :1]), ValueError, "`score` makes"),
    Mistake(lambda: bs.attention(q, k, v, score=lambda s: 1.0), ValueError, "`score` makes []"),
    Mistake(lambda: bs.attention(q, k, v, score=lambda s: s > 0), TypeError, "makes bool"),
    Mistake(lambda: bs.attention(q, k, v, mask=bs.ones((5, 7))), TypeError, "`mask` is of float"),
    Mistake(lambda: bs.attention(q, k, v, mask=bs.ones((9, 7)) > 0), ValueError, "9"),
    Mistake(lambda: bs.attention(bs.arange(4), k, v), ValueError, "length, width"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake: Mistake) -> None:
    check(mistake)


@pytest.mark.parametrize("fill", [-1e4, -1e9, 1e9, -3e38])
@pytest.mark.parametrize("written", [True, False])
def test_gradients_where_all_scores_of_a_row_are_far_from_0(fill: float, written: bool) -> None:
    """Padding with a large number instead of -inf: its rows attend to all keys alike."""
    q, k = bs.zeros((1, 1, 3, 1)), bs.ones((1, 1, 3, 1))
    v = bs.asarray([1.0, 2.0, 4.0]).reshape(1, 1, 3, 1)
    bias = bs.zeros((3, 3)).at[1].set(fill)

    def attended(q: Any, v: Any) -> Any:
        if written:
            return bs.softmax(q @ k.mT + bias) @ v
        return bs.attention(q, k, v, bias=bias, scale=1.0)

    def row(q: Any, v: Any) -> Any:
        return attended(q, v)[0, 0, 1, 0]

    for make in (lambda f: f, bs.jit):
        by_value = make(bs.grad(row, argnums=1))(q, v).numpy().ravel()
        np.testing.assert_allclose(by_value, [1 / 3] * 3, rtol=1e-5)
    slopes = bs.grad(lambda v: bs.grad(lambda q: row(q * k, v) ** 2)(q).sum())
    assert np.isfinite(slopes(v).numpy()).all()


@pytest.mark.parametrize("shift", [1e4, -1e6])
def test_second_derivatives_where_all_scores_are_far_from_0(shift: float) -> None:
    """To shift all scores changes nothing."""
    q, k, v = (
        bs.asarray(RNG.integers(-2, 3, (1, 1, 3, 2)) / 2, dtype=bs.float32) for _ in range(3)
    )

    def twice(by: float) -> Any:
        def f(q: Any, k: Any) -> Any:
            return (bs.attention(q, k, v, bias=bs.full((3, 3), by), scale=1.0) ** 2).sum()

        return bs.grad(lambda k: (bs.grad(f)(q, k) ** 2).sum())(k).numpy()

    np.testing.assert_allclose(twice(shift), twice(0.0), rtol=2e-4, atol=1e-5)
