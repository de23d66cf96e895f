"""Other shapes and orders: both vocabularies, methods, what only we have, mistakes."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.mistakes import Mistake, check

ARRAY = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


def x() -> bs.Tensor:
    return bs.asarray(ARRAY)


def matrix() -> bs.Tensor:
    return bs.asarray(ARRAY[0])


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: x().reshape(4, 6), ARRAY.reshape(4, 6)),
        (lambda: x().reshape([4, -1]), ARRAY.reshape(4, 6)),
        (lambda: x().reshape(shape=(24,)), ARRAY.reshape(24)),
        (lambda: x().view(-1), ARRAY.reshape(-1)),
        (lambda: x().flatten(1), ARRAY.reshape(2, 12)),
        (lambda: bs.flatten(bs.asarray(3)), np.array([3])),
        (lambda: x().permute(2, 0, 1), ARRAY.transpose(2, 0, 1)),
        (lambda: x().permute_dims((2, 0, 1)), ARRAY.transpose(2, 0, 1)),
        (lambda: x().transpose(), ARRAY.T),
        (lambda: x().transpose(0, 2), ARRAY.swapaxes(0, 2)),
        (lambda: x().transpose(2, 0, 1), ARRAY.transpose(2, 0, 1)),
        (lambda: matrix().transpose(0, 1), ARRAY[0].T),
        (lambda: matrix().transpose(1, 0), ARRAY[0].T),
        (lambda: matrix().transpose((0, 1)), ARRAY[0]),
        (lambda: matrix().T, ARRAY[0].T),
        (lambda: x().mT, ARRAY.swapaxes(1, 2)),
        (lambda: x().swapaxes(0, -1), ARRAY.swapaxes(0, -1)),
        (lambda: x().unsqueeze(1), ARRAY[:, None]),
        (lambda: x().unsqueeze(dim=-1), ARRAY[..., None]),
        (lambda: x()[:1].squeeze(dim=0), ARRAY[0]),
        (lambda: bs.permute_dims(bs.ones(2, dtype=bs.int32), 0), np.ones(2, np.int32)),
        (lambda: x().flip(dim=1), ARRAY[:, ::-1]),
        (lambda: x().roll(10**20, axis=0), ARRAY),
        (lambda: x().expand(5, -1, 3, -1), np.broadcast_to(ARRAY, (5, 2, 3, 4))),
        (lambda: bs.concat([x(), x()], dim=1), np.concatenate([ARRAY, ARRAY], 1)),
        (lambda: bs.concat(each for each in x()), np.concatenate(list(ARRAY))),
        (lambda: bs.stack((each for each in x()), axis=1), np.stack(list(ARRAY), 1)),
        (lambda: bs.concat([x(), x().astype(bs.int8)]), np.concatenate([ARRAY, ARRAY])),
        (lambda: x().split(2, axis=1)[1], ARRAY[:, 2:]),
        (lambda: x().split([1, 3], dim=2)[1], ARRAY[:, :, 1:]),
        (lambda: x().chunk(2, dim=1)[0], ARRAY[:, :2]),
        (lambda: x().unstack(axis=1)[2], ARRAY[:, 2]),
        (lambda: x().repeat(bs.asarray([0, 2]), axis=0), ARRAY.repeat([0, 2], 0)),
        (lambda: bs.pad(matrix(), np.array([[1, 0], [0, 2]])), np.pad(ARRAY[0], ((1, 0), (0, 2)))),
        (lambda: bs.pad(matrix(), 1, mode="reflect"), np.pad(ARRAY[0], 1, mode="reflect")),
        (lambda: bs.pad(matrix(), -1), ARRAY[0][1:-1, 1:-1]),
        (lambda: bs.diag(bs.asarray([True, True])), np.eye(2, dtype=bool)),
    ],
)
def test_the_elements_go_where_they_should(found: Any, expected: Any) -> None:
    result = found().numpy()
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_nothing_broadcasts_to_nothing() -> None:
    assert bs.broadcast_arrays() == ()


def test_rank_eight() -> None:
    large = bs.ones((1,) * 8)
    assert large.transpose().shape == (1,) * 8
    assert bs.flip(large, axis=(0, 7)).sum().item() == 1


MISTAKES = [
    Mistake(lambda: bs.pad(bs.arange(3), 1, value=1.5), bs.DTypeError, "1.5 is not a value of i"),
    Mistake(lambda: bs.pad(bs.arange(3), 1, value=float("inf")), bs.DTypeError, "inf is not"),
    Mistake(lambda: bs.manual_seed("a"), bs.ArgumentError, "a seed is an integer"),  # pyright: ignore[reportArgumentType]
    Mistake(lambda: x().reshape(5, 5), bs.ShapeError, "24 elements do not fit the shape [5, 5]"),
    Mistake(lambda: x().reshape(-1, -1), bs.ShapeError, "-1 stands twice"),
    Mistake(lambda: bs.reshape(x(), 2.0), bs.DTypeError, "a size is an integer, not float"),
    Mistake(lambda: bs.reshape(x(), (-2, 12)), bs.ArgumentError, "not negative"),
    Mistake(lambda: x().flatten(2, 0), bs.AxisError, "first stands after the last"),
    Mistake(lambda: x().unsqueeze(9), bs.AxisError, "there is no axis 9"),
    Mistake(lambda: bs.expand_dims(x(), axis=(0, 0)), bs.AxisError, "named twice"),
    Mistake(lambda: x().squeeze(0), bs.ShapeError, "axis 0 has size 2"),
    Mistake(lambda: bs.permute_dims(x(), 1), bs.AxisError, "does not name all 3 axes"),
    Mistake(lambda: x().permute(0, 0, 1), bs.AxisError, "named twice"),
    Mistake(lambda: x().T, bs.ShapeError, "`.mT`"),
    Mistake(lambda: bs.moveaxis(x(), (0, 1), 0), bs.AxisError, "2 axes are to be moved"),
    Mistake(lambda: x().flip(axis=3), bs.AxisError, "-3..2"),
    Mistake(lambda: x().flip(axis=0, dim=0), bs.ArgumentError, "not both"),
    Mistake(lambda: x().roll(1.5), bs.DTypeError, "a shift is an integer"),
    Mistake(lambda: x().roll((1, 2), axis=0), bs.ArgumentError, "2 shifts"),
    Mistake(lambda: bs.concat([]), bs.ArgumentError, "nothing to join"),
    Mistake(lambda: bs.concat(5), bs.DTypeError, "a list of tensors"),
    Mistake(lambda: bs.concat([x(), matrix()]), bs.ShapeError, "int32[2, 3, 4], int32[3, 4]"),
    Mistake(lambda: bs.concat([x(), "a"]), bs.DTypeError, "bs.asarray"),
    Mistake(lambda: bs.stack([x(), matrix()]), bs.ShapeError, "the shapes differ"),
    Mistake(lambda: x().split(1.5), bs.DTypeError, "the size of a piece"),
    Mistake(lambda: x().split(0), bs.ArgumentError, "pieces of 0"),
    Mistake(lambda: x().split([3, -1]), bs.ShapeError, "add up to 2"),
    Mistake(lambda: x().chunk(0), bs.ArgumentError, "into 0 pieces"),
    Mistake(lambda: x().repeat(-1), bs.ArgumentError, "-1 times"),
    Mistake(lambda: x().repeat(1.5), bs.DTypeError, "repetitions is an integer"),
    Mistake(lambda: bs.broadcast_to(x(), (3,)), bs.ShapeError, "broadcast"),
    Mistake(lambda: bs.tile(x(), -1), bs.ArgumentError, "not negative"),
    Mistake(lambda: bs.pad(x(), 1.5), bs.DTypeError, "a width is an integer"),
    Mistake(lambda: bs.pad(x(), (1, 2, 3), mode="no"), bs.ArgumentError, "no"),
    Mistake(lambda: bs.pad(x(), 1, mode="wrap"), bs.ArgumentError, "that is 'circular' here"),
    Mistake(lambda: bs.pad(x(), -5), bs.ShapeError, "not as many elements"),
    Mistake(lambda: bs.pad(x(), 5, mode="reflect"), bs.ShapeError, "reflect-padded"),
    Mistake(lambda: bs.unfold(x(), 1, 1.5), bs.DTypeError, "a size is an integer"),
    Mistake(lambda: bs.diagonal(x(), offset=1.5), bs.DTypeError, "an offset is an integer"),
    Mistake(lambda: bs.broadcast_shapes(2, 3), bs.ShapeError, "do not broadcast"),
    Mistake(lambda: bs.broadcast_shapes((-1,)), bs.ArgumentError, "not negative"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("times", [0, 1, 2, 3, 8, 9])
def test_elements_are_repeated_along_each_axis(times: int, device: str) -> None:
    for shape in ((5,), (3, 7), (2, 3, 1), (0,), (4, 0), (2, 33)):
        array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        given = bs.asarray(array, device=device)
        for axis in (None, *range(-len(shape), len(shape))):
            found = bs.repeat(given, times, axis=axis)
            np.testing.assert_array_equal(found.numpy(), np.repeat(array, times, axis), strict=True)


def test_the_slope_of_what_is_repeated_is_a_sum() -> None:
    for times in (3, 20):
        weights = np.arange(4.0 * times).reshape(2, 2 * times)
        slope = bs.grad(lambda x, w=weights, k=times: (bs.repeat(x, k, axis=1) * w).sum())
        found = slope(bs.ones((2, 2), dtype=bs.float64)).numpy()
        np.testing.assert_allclose(found, weights.reshape(2, 2, times).sum(2))
