"""Metrics of texts, on examples that can be counted by hand."""

from math import exp, log
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.train import metrics

CAT = "the cat is on the mat"


def value(metric: Any, outputs: Any, targets: Any) -> float:
    metric.update(outputs, targets)
    return metric.value()


@pytest.mark.parametrize(
    ("found", "known", "distance"),
    [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("same", "same", 0),
     ([1, 2, 3], [1, 3], 1)],
    ids=str,
)  # fmt: skip
def test_distances(found: Any, known: Any, distance: int) -> None:
    assert metrics.edit_distance(found, known) == distance


def test_error_rates_count_words_or_characters() -> None:
    outputs, targets = ["the cat sat", "a b"], ["the cat sat down", "a c"]
    assert value(metrics.WordErrorRate(), outputs, targets) == pytest.approx(2 / 6)
    assert value(metrics.CharacterErrorRate(), ["abd"], ["abcd"]) == pytest.approx(1 / 4)
    assert value(metrics.WordErrorRate(), [[1, 2]], [[1, 3]]) == 0.5
    assert np.isnan(value(metrics.WordErrorRate(), [""], [""]))


def test_bleu_is_the_geometric_mean_of_shares() -> None:
    assert value(metrics.BLEU(), [CAT], [CAT]) == pytest.approx(1.0)
    # Papineni's example: of seven times "the", two are in the reference.
    assert value(metrics.BLEU(1), ["the " * 7], [CAT]) == pytest.approx(2 / 7)
    found = value(metrics.BLEU(2), ["the cat sat on the mat"], [CAT])
    assert found == pytest.approx(exp((log(5 / 6) + log(3 / 5)) / 2))


def test_bleu_penalises_what_is_short_of_the_nearest_reference() -> None:
    references = [[CAT, "the cat was there today on the mat"]]
    found = value(metrics.BLEU(1), ["the cat"], references)
    assert found == pytest.approx(exp(1 - 6 / 2))


def test_bleu_without_a_shared_run_is_nothing_unless_smoothed() -> None:
    assert value(metrics.BLEU(), ["the cat"], ["the dog"]) == 0.0
    smooth = value(metrics.BLEU(2, smooth=True), ["the cat"], ["the dog"])
    assert smooth == pytest.approx(exp((log(1 / 2) + log(1 / 2)) / 2))
    assert value(metrics.BLEU(), [""], [CAT]) == 0.0
    assert np.isnan(value(metrics.BLEU(), [], []))


def test_rouge_is_of_the_longest_common_sequence() -> None:
    # "police the gunman", of 4 words each.
    found = value(metrics.RougeL(), ["police killed the gunman"], ["police kill the gunman"])
    assert found == pytest.approx(3 / 4)
    recall, precision = 2 / 4, 2 / 3
    beta = value(metrics.RougeL(beta=2.0), ["a b x"], ["a b c d"])
    assert beta == pytest.approx(5 * recall * precision / (recall + 4 * precision))
    assert value(metrics.RougeL(), ["a b"], [["c d", "a b"]]) == 1.0
    assert value(metrics.RougeL(), [""], [""]) == 0.0


def test_parts_make_the_whole() -> None:
    outputs, targets = ["the cat", "a dog is here", "x"], [CAT, "the dog is here now", "x y"]
    for kind in (metrics.BLEU, metrics.RougeL, metrics.WordErrorRate, metrics.CharacterErrorRate):
        whole, one, two = kind(), kind(), kind()
        whole.update(outputs, targets)
        one.update(outputs[:1], targets[:1])
        two.update(outputs[1:], targets[1:])
        one.merge(two)
        assert one.value() == pytest.approx(whole.value())


def test_lists_of_texts_are_asked_for() -> None:
    with pytest.raises(bs.ArgumentError, match="lists of texts"):
        metrics.BLEU().update(CAT, CAT)
    with pytest.raises(bs.ArgumentError, match="1 outputs and 2 targets"):
        metrics.WordErrorRate().update(["a"], ["a", "b"])
    with pytest.raises(bs.ArgumentError, match="order"):
        metrics.BLEU(0)
