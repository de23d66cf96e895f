"""Mean average precision, on images that can be reckoned by hand."""

import numpy as np
import pytest

import brimstone as bs
from brimstone.train.metrics import Boxes, MeanAveragePrecision

ONE, TWO = [0.0, 0.0, 10.0, 10.0], [20.0, 20.0, 30.0, 30.0]
FAR = [50.0, 50.0, 60.0, 60.0]
NEAR = [0.0, 0.0, 10.0, 8.0]  # overlaps ONE by 0.8


def value(found: Boxes, known: Boxes, **settings: object) -> float:
    metric = MeanAveragePrecision(**settings)  # pyright: ignore[reportArgumentType]
    metric.update([found], [known])
    return metric.value()


def test_what_is_found_exactly_is_perfect() -> None:
    found = Boxes(bs.asarray([ONE, TWO]), bs.asarray([0, 1]), bs.asarray([0.9, 0.8]))
    assert value(found, Boxes([ONE, TWO], [0, 1])) == 1.0


def test_overlaps_that_are_too_small_do_not_count() -> None:
    """0.8 is enough for 7 of the 10 overlaps that are asked for."""
    assert value(Boxes([NEAR], [0], [0.9]), Boxes([ONE], [0])) == pytest.approx(0.7)


def test_wrong_boxes_before_right_ones_lower_the_precision() -> None:
    known = Boxes([ONE, TWO], [0, 0])
    found = Boxes([ONE, FAR, TWO], [0, 0, 0], [0.9, 0.8, 0.7])
    # Recalls up to 0.5 have precision 1, the 50 above 2/3.
    assert value(found, known) == pytest.approx((51 + 50 * 2 / 3) / 101)
    last = Boxes([ONE, FAR, TWO], [0, 0, 0], [0.9, 0.1, 0.7])
    assert value(last, known) == 1.0


def test_a_box_is_found_once() -> None:
    found = Boxes([ONE, ONE], [0, 0], [0.9, 0.8])
    # The second is wrong, so TWO would have been found at a precision of nothing.
    assert value(found, Boxes([ONE, TWO], [0, 0])) == pytest.approx(51 / 101)


def test_the_class_must_be_right() -> None:
    assert value(Boxes([ONE], [1], [0.9]), Boxes([ONE], [0])) == 0.0


def test_only_so_many_boxes_count() -> None:
    found = Boxes([FAR, ONE], [0, 0], [0.9, 0.8])
    assert value(found, Boxes([ONE], [0]), most=1) == 0.0
    assert value(found, Boxes([ONE], [0])) == pytest.approx(0.5)


def test_nothing_found_or_nothing_there() -> None:
    none = Boxes(np.zeros((0, 4)), [], [])
    assert value(none, Boxes([ONE], [0])) == 0.0
    assert np.isnan(value(Boxes([ONE], [0], [0.9]), none))
    assert np.isnan(MeanAveragePrecision().value())


def test_parts_make_the_whole() -> None:
    found = [Boxes([ONE, FAR], [0, 1], [0.9, 0.8]), Boxes([NEAR, TWO], [0, 2], [0.7, 0.6])]
    known = [Boxes([ONE], [0]), Boxes([ONE, TWO], [0, 2])]
    whole, one, two = (MeanAveragePrecision() for _ in range(3))
    whole.update(found, known)
    one.update(found[:1], known[:1])
    two.update(found[1:], known[1:])
    one.merge(two)
    assert one.value() == whole.value()
    np.testing.assert_array_equal(one.by_class(), whole.by_class())
    assert np.isnan(one.by_class()[1])
    one.reset()
    assert np.isnan(one.value())


def test_boxes_that_do_not_fit_are_refused() -> None:
    metric, known = MeanAveragePrecision(), [Boxes([ONE], [0])]
    with pytest.raises(bs.ArgumentError, match="1 images of outputs and 2"):
        metric.update(known, known * 2)
    with pytest.raises(bs.ArgumentError, match="have scores"):
        metric.update(known, known)
    with pytest.raises(bs.ShapeError, match="a label and a score"):
        metric.update([Boxes([ONE], [0, 1], [0.5])], known)
    with pytest.raises(bs.ArgumentError, match="at least 0"):
        metric.update([Boxes([ONE], [-1], [0.5])], known)
    with pytest.raises(bs.ArgumentError, match="overlaps"):
        MeanAveragePrecision((2.0,))
