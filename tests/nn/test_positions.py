"""Codes of positions against their formulas."""

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check
from kit.sequences import arrays_of, close, drawn, spread
from kit.written_layers import rotated

F64 = {"dtype": bs.float64}


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_codes_turn_pairs(interleaved: bool) -> None:
    x = drawn(2, 3, 6)
    found = nn.RotaryEncoding(6, base=100.0, interleaved=interleaved)(bs.asarray(x))
    some = nn.RotaryEncoding(4, interleaved=interleaved)(bs.asarray(x), bs.asarray(2))
    for at, each in enumerate(x):
        close(found[at], rotated(each, 100.0, interleaved))
        close(some[at, :, :4], rotated(each[:, :4], 10000.0, interleaved, offset=2))
    close(some[..., 4:], x[..., 4:])


def test_rotary_scores_depend_on_distances_alone() -> None:
    rotary, (q, k) = nn.RotaryEncoding(4), bs.asarray(drawn(2, 1, 4))
    scores = [(rotary(q, at + 3) @ rotary(k, at).mT).numpy() for at in (0, 5)]
    np.testing.assert_allclose(*scores, rtol=1e-12)


def test_narrow_floats_are_turned_by_exact_angles() -> None:
    x = bs.ones((1, 2), dtype=bs.bfloat16)
    found = nn.RotaryEncoding(2)(x, 1001)
    assert found.dtype == bs.bfloat16
    expected = [np.cos(1001) - np.sin(1001), np.cos(1001) + np.sin(1001)]
    np.testing.assert_allclose(found.astype(bs.float32).numpy()[0], expected, rtol=1e-2)


def test_positions_may_be_scaled() -> None:
    x = drawn(3, 8)
    scaled = nn.RotaryEncoding(8, 100.0, scaling=nn.LinearScaling(4.0))(bs.asarray(x), 8)
    one = nn.RotaryEncoding(8, 100.0)(bs.asarray(x[:1]), 2)
    close(scaled[:1], one.numpy())


def test_slow_pairs_turn_slower_in_longer_texts() -> None:
    """Pairs that turn 16, 4, 2, 1 and 0.5 times in 64 positions."""
    turns = np.array([16.0, 4.0, 2.0, 1.0, 0.5])
    angles = turns * 2 * np.pi / 64
    found = nn.LlamaScaling(factor=8.0, low=1.0, high=4.0, length=64)(bs.asarray(angles))
    close(found, angles * np.array([1, 1, 1 / 3 + 2 / 3 / 8, 1 / 8, 1 / 8]))


@pytest.mark.parametrize("size", [4, 5, 1])
def test_sines_and_cosines_are_added(size: int) -> None:
    x, codes = drawn(2, 3, size), np.zeros((6, size))
    for at in range(6):
        for number in range(size):
            angle = at / 10000 ** (number // 2 * 2 / size)
            codes[at, number] = np.cos(angle) if number % 2 else np.sin(angle)
    encoding = nn.PositionalEncoding(size)
    close(encoding(bs.asarray(x)), x + codes[:3])
    close(encoding(bs.asarray(x), bs.asarray(3)), x + codes[3:])


def test_learned_codes_are_added() -> None:
    encoding = spread(nn.LearnedPositionalEncoding(5, 4, **F64))
    x, codes = drawn(2, 3, 4), arrays_of(encoding)["weight"]
    close(encoding(bs.asarray(x)), x + codes[:3])
    close(encoding(bs.asarray(x), bs.asarray(2)), x + codes[2:])


def test_biases_that_are_linear_in_distance() -> None:
    found = nn.alibi_bias(2, 2, 3, **F64)
    distances = np.array([[-1, 0, 1], [-2, -1, 0]])
    close(found, np.stack([distances / 2**4, distances / 2**8]))
    close(nn.alibi_bias(2, 1, 3, bs.asarray(1), **F64), found.numpy()[:, :1])
    slopes = [2 ** -(8 / 2), 2**-8, 2 ** -(8 / 4)]
    close(-nn.alibi_bias(3, 1, 2, **F64)[:, 0, 0], slopes)


MISTAKES = {
    "no slow pairs": Mistake(
        lambda: nn.LlamaScaling(low=4.0, high=4.0), bs.ArgumentError, "slow pairs turn less"),
    "odd pairs": Mistake(lambda: nn.RotaryEncoding(3), bs.ArgumentError, "turns pairs"),
    "few to turn": Mistake(
        lambda: nn.RotaryEncoding(6)(bs.ones((2, 4))), bs.ShapeError, "[…, length, 6 or more]"),
    "a broken place": Mistake(
        lambda: nn.RotaryEncoding(4)(bs.ones((2, 4)), 1.5), bs.DTypeError,
        "an offset is one integer"),
    "no numbers": Mistake(
        lambda: nn.PositionalEncoding(0), bs.ArgumentError, "`size` is at least 1"),
    "other numbers": Mistake(
        lambda: nn.PositionalEncoding(4)(bs.ones((2, 3))), bs.ShapeError, "last axes are [4]"),
    "unknown places": Mistake(
        lambda: nn.LearnedPositionalEncoding(2, 4)(bs.ones((3, 4))), bs.ShapeError,
        "knows 2 positions, not 3"),
    "no slopes": Mistake(lambda: nn.alibi_bias(0, 1, 1), bs.ArgumentError, "is at least 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name: str) -> None:
    check(MISTAKES[name])
