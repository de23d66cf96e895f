"""Losses: their formulas, edges, reductions, dtypes, modules, what is compiled, mistakes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check

Array = np.ndarray[Any, np.dtype[Any]]
RANDOM = np.random.default_rng(8)
X, Y, Z = RANDOM.normal(size=(3, 4, 5))
SHARES = np.exp(Y) / np.exp(Y).sum(axis=1, keepdims=True)
UNIT, COUNTS = 1 / (1 + np.exp(-X)), np.array([[0, 1, 2, 3, 7]] * 4) * 1.0
SIGNS = np.where(Y > 0, 1.0, -1.0)
PLACES, WEIGHTS = np.array([3, 0, 4, 1]), np.array([0.5, 2.0, 1.0, 0.0, 1.5])
INF = np.inf


def logs(x: Array) -> Array:
    return x - np.log(np.exp(x).sum(axis=1, keepdims=True))


def huber(x: Array) -> Array:
    return np.where(np.abs(x) <= 0.7, x * x / 2, 0.7 * (np.abs(x) - 0.35))


def lengths(x: Array) -> Array:
    return np.sqrt((x * x).sum(axis=1))


def margins(power: int) -> Array:
    rows = [np.maximum(0.5 - x[at] + x, 0) ** power for x, at in zip(X, PLACES, strict=True)]
    return np.array([np.delete(row, at).sum() / 5 for row, at in zip(rows, PLACES, strict=True)])


LIKELY = -logs(X)[np.arange(4), PLACES]
SMOOTHED = 0.8 * LIKELY - 0.2 * logs(X).mean(axis=1)
GAUSSIAN = 0.5 * (np.log(UNIT) + (X - Y) ** 2 / UNIT + math.log(2 * math.pi))
STIRLING = COUNTS * np.log(COUNTS + (COUNTS == 0)) - COUNTS
STIRLING = np.where(COUNTS > 1, STIRLING + 0.5 * np.log(2 * math.pi * (COUNTS + 1e-300)), 0)
COSINES = (X * Y).sum(axis=1) / lengths(X) / lengths(Y)
NEAR, FAR = lengths(X - Y + 1e-6), lengths(X - Z + 1e-6)
EACH: Any = {"reduction": "none"}

# What is computed, and each loss as written on paper.
FORMULAS: dict[str, tuple[Callable[[], Any], Array]] = {
    "l1": (lambda: nn.l1_loss(X, Y, **EACH), np.abs(X - Y)),
    "mse": (lambda: nn.mse_loss(X, Y, **EACH), (X - Y) ** 2),
    "lp": (lambda: nn.lp_loss(X, Y, p=1.5, **EACH), np.abs(X - Y) ** 1.5),
    "huber": (lambda: nn.huber_loss(X, Y, delta=0.7, **EACH), huber(X - Y)),
    "smooth l1": (lambda: nn.smooth_l1_loss(X, Y, beta=0.7, **EACH), huber(X - Y) / 0.7),
    "poisson": (lambda: nn.poisson_nll_loss(X, COUNTS, full=True, **EACH),
                np.exp(X) - COUNTS * X + STIRLING),
    "gaussian": (lambda: nn.gaussian_nll_loss(X, Y, UNIT, full=True, **EACH), GAUSSIAN),
    "cross entropy": (lambda: nn.cross_entropy(X, PLACES, **EACH), LIKELY),
    "smoothed": (lambda: nn.cross_entropy(X, PLACES, label_smoothing=0.2, **EACH), SMOOTHED),
    "weighed": (lambda: nn.cross_entropy(X, PLACES, weight=WEIGHTS, **EACH),
                LIKELY * WEIGHTS[PLACES]),
    "shares": (lambda: nn.cross_entropy(X, SHARES, **EACH), -(SHARES * logs(X)).sum(axis=1)),
    "nll": (lambda: nn.nll_loss(logs(X), PLACES, **EACH), LIKELY),
    "kl": (lambda: nn.kl_div(logs(X), SHARES, **EACH), SHARES * (np.log(SHARES) - logs(X))),
    "bce": (lambda: nn.binary_cross_entropy(UNIT, SHARES, **EACH),
            -(SHARES * np.log(UNIT) + (1 - SHARES) * np.log(1 - UNIT))),
    "bce of scores": (lambda: nn.binary_cross_entropy_with_logits(X, SHARES, **EACH),
                      -(SHARES * np.log(UNIT) + (1 - SHARES) * np.log(1 - UNIT))),
    "ranking": (lambda: nn.margin_ranking_loss(X, Y, SIGNS, margin=0.2, **EACH),
                np.maximum(0.2 - SIGNS * (X - Y), 0)),
    "hinge": (lambda: nn.hinge_embedding_loss(X, SIGNS, **EACH),
              np.where(SIGNS > 0, X, np.maximum(1 - X, 0))),
    "cosine": (lambda: nn.cosine_embedding_loss(X, Y, SIGNS[:, 0], margin=-1.0, **EACH),
               np.where(SIGNS[:, 0] > 0, 1 - COSINES, COSINES + 1)),
    "soft margin": (lambda: nn.soft_margin_loss(X, SIGNS, **EACH), np.log1p(np.exp(-SIGNS * X))),
    "triplet": (lambda: nn.triplet_margin_loss(X, Y, Z, **EACH), np.maximum(1 + NEAR - FAR, 0)),
    "margins": (lambda: nn.multi_margin_loss(X, PLACES, margin=0.5, **EACH), margins(1)),
    "squared": (lambda: nn.multi_margin_loss(X, PLACES, p=2, margin=0.5, **EACH), margins(2)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name: str) -> None:
    compute, expected = FORMULAS[name]
    found = compute()
    assert found.dtype == bs.float64
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10, atol=1e-12)


def test_reductions() -> None:
    losses = (X - Y) ** 2
    for reduction, expected in {"mean": losses.mean(), "sum": losses.sum()}.items():
        found = nn.MSELoss(reduction)(X, Y)  # pyright: ignore[reportArgumentType]
        np.testing.assert_allclose(found.item(), expected, rtol=1e-12)
    share = (SHARES * (np.log(SHARES) - logs(X))).sum() / 4
    found = nn.kl_div(logs(X), SHARES, reduction="batchmean").item()
    np.testing.assert_allclose(found, share, rtol=1e-12)


def test_the_mean_weighs_examples_as_their_classes() -> None:
    weights = WEIGHTS[PLACES]
    found = nn.cross_entropy(X, PLACES, weight=WEIGHTS).item()
    np.testing.assert_allclose(found, (LIKELY * weights).sum() / weights.sum(), rtol=1e-12)


def test_narrow_floats_are_widened() -> None:
    x = bs.asarray(X).astype(bs.bfloat16)
    found = nn.cross_entropy(x, PLACES)
    assert found.dtype == bs.float32
    wide = nn.cross_entropy(x.astype(bs.float64), PLACES)
    np.testing.assert_allclose(found.item(), wide.item(), rtol=1e-6)
    assert bs.grad(lambda x: nn.mse_loss(x, 0.0))(x).dtype == bs.bfloat16


@pytest.mark.parametrize("function", [nn.l1_loss, nn.mse_loss, nn.huber_loss, nn.lp_loss])
def test_no_distance_has_no_slope(function: Callable[..., Any]) -> None:
    x = bs.asarray([1.0, 2.0, -INF])
    slopes = bs.grad(lambda x: function(x, bs.asarray([1.0, 2.0, 0.0]), reduction="sum"))(x)
    assert slopes.tolist()[:2] == [0, 0]
    assert not np.isnan(slopes.numpy()).any()
    assert np.isnan(function(bs.asarray(np.nan), 0.0).item())


def test_a_variance_that_is_raised_has_a_gradient() -> None:
    variance = bs.asarray([0.0, -1.0])
    loss = bs.value_and_grad(lambda var: nn.gaussian_nll_loss(bs.ones(2), 0.0, var, eps=0.5))
    found, slope = loss(variance)
    np.testing.assert_allclose(found.item(), 0.5 * (math.log(0.5) + 2), rtol=1e-6)
    np.testing.assert_allclose(slope.numpy(), [-0.5, -0.5], rtol=1e-6)  # of half the sum


# Classes: what is certain, impossible, left out or not there


def test_scores_far_out() -> None:
    scores = bs.asarray([[INF, 0.0], [-INF, 1e30], [1e30, -1e30]])
    losses = nn.cross_entropy(scores, [1, 1, 1], reduction="none").numpy()
    assert np.isnan(losses[0]) and losses[1] == 0 and losses[2] == np.float32(2e30)


def test_what_is_impossible_and_not_wanted_costs_nothing() -> None:
    scores, wanted = bs.asarray([[0.0, -INF, 0.0]]), bs.asarray([[0.5, 0.0, 0.5]])
    for target in (bs.asarray([2]), wanted):
        loss, slope = bs.value_and_grad(nn.cross_entropy)(scores, target)
        np.testing.assert_allclose(loss.item(), math.log(2), rtol=1e-6)
        assert not np.isnan(slope.numpy()).any()
    assert nn.cross_entropy(scores, [1]).item() == INF
    assert nn.kl_div(scores, bs.asarray([[0.5, 0.0, 0.5]]), reduction="sum").item() < INF
    likely = nn.kl_div(bs.log_softmax(scores), bs.log_softmax(scores), log_target=True)
    np.testing.assert_allclose(likely.item(), 0, atol=1e-7)


def test_what_is_ignored_does_not_count() -> None:
    target = np.array([3, -100, 4, -100])
    for reduction, expected in {"mean": LIKELY[[0, 2]].mean(), "sum": LIKELY[[0, 2]].sum()}.items():
        found = nn.cross_entropy(X, target, ignore_index=-100, reduction=reduction)  # pyright: ignore[reportArgumentType]
        np.testing.assert_allclose(found.item(), expected, rtol=1e-12)
    slopes = bs.grad(lambda x: nn.cross_entropy(x, target, ignore_index=-100))(bs.asarray(X))
    assert (slopes.numpy()[[1, 3]] == 0).all()


def test_where_all_is_ignored_there_is_no_mean() -> None:
    nothing = np.full(4, 7)
    assert np.isnan(nn.cross_entropy(X, nothing, ignore_index=7).item())
    assert nn.cross_entropy(X, nothing, ignore_index=7, reduction="sum").item() == 0
    assert nn.cross_entropy(X[:0], nothing[:0], reduction="none").shape == (0,)


def test_classes_along_any_axis() -> None:
    images = RANDOM.normal(size=(2, 3, 4, 5))
    places = RANDOM.integers(0, 5, (2, 3, 4))
    last = nn.cross_entropy(images, places, axis=-1).item()
    second = nn.cross_entropy(np.moveaxis(images, 3, 1), places).item()
    np.testing.assert_allclose(last, second, rtol=1e-12)
    weighed = nn.CrossEntropyLoss(WEIGHTS, axis=3)(images, places).item()
    moved = nn.cross_entropy(np.moveaxis(images, 3, 1), places, weight=WEIGHTS).item()
    np.testing.assert_allclose(weighed, moved, rtol=1e-12)
    np.testing.assert_allclose(nn.cross_entropy(X[0], 3).item(), LIKELY[0], rtol=1e-12)


def test_certain_probabilities_cost_at_most_100() -> None:
    x = bs.asarray([0.0, 1.0, 0.0, 1.0, np.nan])
    target = bs.asarray([0.0, 1.0, 1.0, 0.0, 1.0])
    losses = nn.binary_cross_entropy(x, target, reduction="none").numpy()
    np.testing.assert_array_equal(losses, [0, 0, 100, 100, np.nan])
    slopes = bs.grad(lambda x: nn.binary_cross_entropy(x[:4], target[:4]))(x).numpy()
    assert np.isfinite(slopes).all()


def test_scores_of_yes_and_no_far_out() -> None:
    x = bs.asarray([1e4, -1e4])
    losses = nn.binary_cross_entropy_with_logits(x, bs.asarray([0.0, 1.0]), reduction="none")
    assert losses.tolist() == [1e4, 1e4]
    doubled = nn.BCEWithLogitsLoss(pos_weight=bs.asarray(2.0), reduction="none")
    assert doubled(x, bs.asarray([0.0, 1.0])).tolist() == [1e4, 2e4]


def test_just_on_the_margin_scores_are_pushed_apart() -> None:
    ones = bs.ones(3)
    slope = bs.grad(lambda x: nn.margin_ranking_loss(x, ones, 1.0, reduction="sum"))
    assert slope(ones).tolist() == [-1, -1, -1]


def test_lists_of_right_classes() -> None:
    scores = bs.asarray([0.1, 0.2, 0.4, 0.8])
    found = nn.multilabel_margin_loss(scores, [3, 0, -1, 1]).item()
    np.testing.assert_allclose(found, 0.25 * (0.4 + 0.6 + 1.1 + 1.3), rtol=1e-6)


# Modules, and what is compiled


def test_modules_hold_settings_and_have_no_parameters() -> None:
    loss = nn.CrossEntropyLoss(weight=WEIGHTS.tolist(), label_smoothing=0.1)
    expected = nn.cross_entropy(X, PLACES, weight=WEIGHTS, label_smoothing=0.1).item()
    np.testing.assert_allclose(loss(X, PLACES).item(), expected, rtol=1e-12)
    with pytest.raises(bs.DTypeError, match="nothing to differentiate"):
        bs.grad(lambda loss: loss(X, PLACES))(loss)
    assert loss.replace(label_smoothing=0.0)(X, PLACES).item() != expected
    assert isinstance(loss, nn.Loss)
    assert loss(input=X, target=PLACES).item() == loss(X, PLACES).item()


def test_a_pass_over_the_scores_forward_and_one_backward() -> None:
    """Scores are read by one kernel, which makes the loss of each row and the gradient, too."""
    with bs.device("cpu"):
        x, target = bs.zeros((8, 16)), bs.zeros(8, dtype=bs.int64)
        for function in (nn.cross_entropy, bs.value_and_grad(nn.cross_entropy)):
            told = bs.explain(function)(x, target)
            readers = [
                kernel for kernel in told.kernels for array in kernel.reads if array.name == "input"
            ]
            assert len(readers) == 1
            large = [array for kernel in told.kernels for array in kernel.writes]
            large = [array.name for array in large if array.type == "f32[8, 16]"]
            assert len(large) == (function is not nn.cross_entropy)


def test_batches_of_any_size_are_traced_once() -> None:
    traced = []

    @bs.jit
    def loss(x: Any, target: Any) -> Any:
        traced.append("once")
        weighed = nn.cross_entropy(x, target, weight=bs.ones(3), ignore_index=0)
        return weighed + nn.multi_margin_loss(x, target) + nn.mse_loss(x, x * 2)

    for count in (6, 4):
        loss(bs.ones((count, 3)), bs.ones(count, dtype=bs.int64)).sync()
    assert traced == ["once"]


WRONG: Any = "average"
MISTAKES = [
    Mistake(lambda: nn.mse_loss(bs.ones((3, 1)), bs.ones(3)), bs.ShapeError, "the shapes differ"),
    Mistake(lambda: nn.mse_loss(X, Y, reduction=WRONG), bs.ArgumentError, "'mean', 'sum', 'none'"),
    Mistake(lambda: nn.cross_entropy(X, PLACES + 1), bs.PlaceError, "index 5 at [2] is outside"),
    Mistake(lambda: nn.cross_entropy(X, PLACES - 1), bs.PlaceError, "index -1 at [1] is outside"),
    Mistake(lambda: nn.cross_entropy(X, PLACES[:3]), bs.ShapeError, "axis 1 of the scores"),
    Mistake(lambda: nn.cross_entropy(X, SHARES[:3]), bs.ShapeError, "the shapes differ"),
    Mistake(
        lambda: nn.cross_entropy(X, PLACES.astype(bs.float32)),
        bs.ShapeError,
        "places of classes are integers, `target.astype(bs.int64)`",
    ),
    Mistake(lambda: nn.cross_entropy(X[0], X[1, :2]), bs.ShapeError, "is a pair, (inputs, targ"),
    Mistake(lambda: nn.cross_entropy(X, PLACES > 1), bs.ShapeError, "targets are integers"),
    Mistake(lambda: nn.cross_entropy(X, PLACES, weight=X[0, :3]), bs.ShapeError, "there are 5"),
    Mistake(lambda: nn.cross_entropy(X, SHARES, ignore_index=1), bs.ArgumentError, "ignored"),
    Mistake(lambda: nn.cross_entropy(X, PLACES, label_smoothing=2), bs.ArgumentError, "0..1"),
    Mistake(lambda: nn.cross_entropy(X, PLACES, axis=2), bs.AxisError, "no axis 2"),
    Mistake(lambda: nn.cross_entropy(bs.asarray(1.0), 0), bs.AxisError, "rank 0"),
    Mistake(lambda: nn.multi_margin_loss(X, SHARES), bs.ArgumentError, "places of classes"),
    Mistake(lambda: nn.multi_margin_loss(X, PLACES, p=3), bs.ArgumentError, "p is one of 1, 2"),
    Mistake(lambda: nn.huber_loss(X, Y, delta=0), bs.ArgumentError, "delta is more than 0"),
    Mistake(lambda: nn.lp_loss(X, Y, p=0), bs.ArgumentError, "p is more than 0"),
    Mistake(lambda: nn.smooth_l1_loss(X, Y, beta=-1), bs.ArgumentError, "beta is 0 or more"),
    Mistake(lambda: nn.gaussian_nll_loss(X, Y, UNIT[:2]), bs.ShapeError, "the shapes differ"),
    Mistake(lambda: nn.gaussian_nll_loss(X, Y, 1.0, eps=0), bs.ArgumentError, "eps is more than"),
    Mistake(lambda: nn.triplet_margin_loss(X, Y, Z, margin=0), bs.ArgumentError, "margin is more"),
    Mistake(lambda: nn.BCELoss(X)(X[0], Y[0]), bs.ShapeError, "does not stretch"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
