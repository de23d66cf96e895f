"""CTC and RNN-T: every alignment listed one by one, lengths, targets that do not fit, mistakes."""

from collections.abc import Iterator
from itertools import combinations, groupby, product
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check

Array = np.ndarray[Any, np.dtype[Any]]
STEPS, N, CLASSES, PLACES = 5, 4, 3, 3
RANDOM = np.random.default_rng(3)
# Beyond their lengths, targets and steps are anything.
TARGETS = np.array([[1, 2, 1], [2, 2, -9], [1, 1, 99], [0, 0, 0]])
LENGTHS = np.array([3, 2, 2, 0])
TIMES = np.array([5, 4, 2, 3])
ALL = range(N)


def logs(scores: Array) -> Array:
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


READ = logs(RANDOM.normal(size=(STEPS, N, CLASSES)))
EMITTED = RANDOM.normal(size=(N, STEPS, PLACES + 1, CLASSES))


def unlikely(likelihoods: Iterator[float]) -> float:
    total = sum(map(np.exp, likelihoods))
    return -np.log(total) if total else np.inf


def readings(item: int) -> Iterator[float]:
    """The likelihood of each way to read the target of an item, one class at each step."""
    wanted = TARGETS[item, : LENGTHS[item]].tolist()
    for path in product(range(CLASSES), repeat=TIMES[item]):
        merged = [label for label, _ in groupby(path) if label]
        if merged == wanted:
            yield sum(READ[step, item, label] for step, label in enumerate(path))


def emissions(item: int) -> Iterator[float]:
    """The likelihood of each way to emit the target: of all moves, which are emissions; the last
    move is a blank. Blanks are the last class."""
    target = TARGETS[item, : LENGTHS[item]].tolist()
    known = logs(EMITTED[item])
    moves = TIMES[item] + LENGTHS[item]
    for places in combinations(range(moves - 1), int(LENGTHS[item])):
        step = place = 0
        likelihood = 0.0
        for move in range(moves):
            emits = move in places
            likelihood += known[step, place, target[place] if emits else -1]
            step, place = (step, place + 1) if emits else (step + 1, place)
        yield likelihood


def ctc(**settings: Any) -> Any:
    return nn.CTCLoss(**settings)(READ, TARGETS, TIMES, LENGTHS)


def test_ctc_counts_every_reading() -> None:
    expected = np.array([unlikely(readings(item)) for item in ALL])
    assert expected[2] == np.inf  # equal labels need a blank between them: three steps
    np.testing.assert_allclose(ctc(reduction="none").numpy(), expected, rtol=1e-10)
    assert ctc(reduction="sum").item() == np.inf
    fitting = np.where(np.isinf(expected), 0, expected)
    found = ctc(reduction="none", zero_infinity=True).numpy()
    np.testing.assert_allclose(found, fitting, rtol=1e-10)
    mean = (fitting / np.maximum(LENGTHS, 1)).mean()
    np.testing.assert_allclose(ctc(zero_infinity=True).item(), mean, rtol=1e-10)


def test_ctc_with_another_blank() -> None:
    order = [1, 2, 0]  # the class that was 0 is the last one
    targets = np.where(LENGTHS[:, None] > np.arange(PLACES), TARGETS - 1, -5)
    found = nn.ctc_loss(READ[..., order], targets, TIMES, LENGTHS, blank=2, reduction="none")
    np.testing.assert_allclose(found.numpy(), ctc(reduction="none").numpy(), rtol=1e-12)


def test_gradients_of_ctc_are_slopes_and_of_what_does_not_count_nothing() -> None:
    def total(read: Any) -> Any:
        return nn.ctc_loss(read, TARGETS, TIMES, LENGTHS, reduction="sum", zero_infinity=True)

    found = bs.jit(bs.grad(total))(bs.asarray(READ)).numpy()
    for item, time in enumerate(TIMES):
        assert (found[time:, item] == 0).all()
    assert (found[:, 2] == 0).all()
    for place in [(0, 0, 1), (3, 0, 0), (2, 1, 2), (1, 3, 0)]:
        step = np.zeros_like(READ)
        step[place] = 1e-6
        ends = [total(bs.asarray(READ + sign * step)).item() for sign in (1, -1)]
        np.testing.assert_allclose(found[place], (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


def test_ctc_of_nothing() -> None:
    nothing = np.zeros((N, 0), np.int64)
    found = nn.ctc_loss(READ, nothing, TIMES, 0 * LENGTHS, reduction="none").numpy()
    expected = [-READ[:time, item, 0].sum() for item, time in enumerate(TIMES)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    none = nn.ctc_loss(READ, TARGETS, 0 * TIMES, LENGTHS, reduction="none").tolist()
    assert none == [np.inf, np.inf, np.inf, 0]
    empty = nn.ctc_loss(READ[:0], TARGETS, 0 * TIMES, LENGTHS, reduction="none")
    assert empty.tolist() == none
    assert np.isnan(nn.ctc_loss(READ, TARGETS, TIMES + 1, LENGTHS, reduction="none").numpy()[0])


def test_sequences_of_any_length_are_traced_once() -> None:
    traced = []

    @bs.jit
    def loss(read: Any) -> Any:
        traced.append("once")
        return nn.ctc_loss(read, TARGETS, TIMES - 2, LENGTHS, zero_infinity=True)

    losses = [loss(bs.asarray(READ[:count])).item() for count in (5, 4, 3)]
    assert traced == ["once"]
    np.testing.assert_allclose(losses, losses[0], rtol=1e-12)


def rnnt(**settings: Any) -> Any:
    return nn.RNNTLoss(**settings)(EMITTED, TARGETS, TIMES, LENGTHS)


def test_rnnt_counts_every_emission() -> None:
    expected = np.array([unlikely(emissions(item)) for item in ALL])
    np.testing.assert_allclose(rnnt(reduction="none").numpy(), expected, rtol=1e-10)
    np.testing.assert_allclose(rnnt().item(), expected.mean(), rtol=1e-10)
    known = logs(EMITTED)
    found = nn.rnnt_loss(known, TARGETS, TIMES, LENGTHS, blank=2, fused_log_softmax=False)
    np.testing.assert_allclose(found.item(), expected.mean(), rtol=1e-10)


def test_gradients_of_rnnt_are_slopes_and_of_what_does_not_count_nothing() -> None:
    def total(emitted: Any) -> Any:
        return nn.rnnt_loss(emitted, TARGETS, TIMES, LENGTHS, reduction="sum")

    found = bs.grad(total)(bs.asarray(EMITTED)).numpy()
    for item in ALL:
        assert (found[item, TIMES[item] :] == 0).all()
        assert (found[item, :, LENGTHS[item] + 1 :] == 0).all()
    for place in [(0, 0, 0, 1), (0, 4, 3, 2), (1, 2, 1, 0), (2, 1, 2, 2)]:
        step = np.zeros_like(EMITTED)
        step[place] = 1e-6
        ends = [total(bs.asarray(EMITTED + sign * step)).item() for sign in (1, -1)]
        np.testing.assert_allclose(found[place], (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


def test_without_steps_nothing_is_emitted() -> None:
    found = nn.rnnt_loss(EMITTED, TARGETS, 0 * TIMES, LENGTHS, reduction="none").tolist()
    assert found == [np.inf] * N


ONE, TURNED = READ[:, 0], bs.moveaxis(READ, 1, 0)
MISTAKES = [
    Mistake(lambda: nn.ctc_loss(ONE, TARGETS, TIMES, LENGTHS), bs.ShapeError, "N lengths"),
    Mistake(lambda: nn.ctc_loss(READ, TARGETS[0], TIMES, LENGTHS), bs.ShapeError, "pad targets"),
    Mistake(lambda: nn.ctc_loss(TURNED, TARGETS, TIMES, LENGTHS), bs.ShapeError, "bs.moveaxis(log"),
    Mistake(lambda: nn.ctc_loss(READ, READ[0], TIMES, LENGTHS), bs.DTypeError, "are integers"),
    Mistake(lambda: ctc(blank=3), bs.ArgumentError, "blank is within 0..2"),
    Mistake(lambda: rnnt(blank=-4), bs.ArgumentError, "blank is within -3..2"),
    Mistake(lambda: ctc(reduction="all"), bs.ArgumentError, "'mean', 'sum', 'none'"),
    Mistake(lambda: nn.ctc_loss(READ, TARGETS, TIMES, LENGTHS + 1), bs.PlaceError, "is outside"),
    Mistake(lambda: nn.ctc_loss(READ, TARGETS, TIMES, LENGTHS * 0 + 3), bs.PlaceError, "index -9"),
    Mistake(
        lambda: nn.rnnt_loss(EMITTED, TARGETS[:, :2], TIMES, LENGTHS), bs.ShapeError, "places + 1"
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
