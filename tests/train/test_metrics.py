"""Metrics of labels, scores and numbers: known values, and what is undefined."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.train import metrics

NAN = float("nan")
SCORES = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.1, 0.8, 0.1], [0.5, 0.1, 0.4]])
CLASSES = np.array([0, 1, 2, 0])  # taken for 0, 1, 1, 0
SEEN = np.array([0.9, 0.8, 0.3, 0.1, 0.6])
THERE = np.array([1, 0, 1, 0, 1])


def three(kind: Any, average: str, **settings: Any) -> Any:
    return kind(classes=3, average=average, **settings)


# A metric, outputs, targets, the value.
VALUES: dict[str, tuple[Any, Any, Any, Any]] = {
    "accuracy": (metrics.Accuracy(), SCORES, CLASSES, 0.75),
    "accuracy of labels": (metrics.Accuracy(), [0, 1, 1], [0, 1, 2], 2 / 3),
    "accuracy of shares": (metrics.Accuracy(), SEEN, THERE, 3 / 5),
    "accuracy, threshold": (metrics.Accuracy(threshold=0.2), SEEN, THERE, 4 / 5),
    "accuracy of lone scores": (metrics.Accuracy(), SEEN[:, None], THERE, 3 / 5),
    "accuracy, ignored": (metrics.Accuracy(ignore=2), SCORES, CLASSES, 1.0),
    "accuracy of pixels": (metrics.Accuracy(), SCORES.T[None], CLASSES[None], 0.75),
    "hamming": (metrics.Hamming(), [[1, 0, 1]], [[1, 1, 1]], 1 / 3),
    "exact match": (metrics.ExactMatch(), [[1, 0], [1, 1]], [[1, 1], [1, 1]], 0.5),
    "top 1": (metrics.TopK(1), SCORES, CLASSES, 0.75),
    "top 2": (metrics.TopK(2), SCORES, [2, 1, 1, 2], 0.75),
    "top 2 of equal scores": (metrics.TopK(2), np.ones((1, 3)), [0], 0.0),
    "top 3 of them": (metrics.TopK(3), np.ones((1, 3)), [0], 1.0),
    "accuracy, not a number": (metrics.Accuracy(), [0.9, NAN, 0.1, NAN], [1, 1, 0, 0], 0.5),
    "accuracy of classes, not a number": (
        metrics.Accuracy(), [[NAN, NAN], [0.1, NAN], [0.9, 0.1]], [0, 1, 0], 1 / 3),
    "exact match, not a number": (metrics.ExactMatch(), [[0.1, NAN]], [[0, 0]], 0.0),
    "top 1, others not a number": (metrics.TopK(1), [[0.5, NAN], [NAN, 0.5]], [0, 1], 0.0),
    "top 2, not a number": (metrics.TopK(2), [[0.5, NAN], [NAN, 0.5]], [0, 0], 0.5),
    "precision": (metrics.Precision(), SEEN, THERE, 2 / 3),
    "recall": (metrics.Recall(), SEEN, THERE, 2 / 3),
    "specificity": (metrics.Specificity(), SEEN, THERE, 1 / 2),
    "F1": (metrics.FBeta(), SEEN, THERE, 2 / 3),
    "F2": (metrics.FBeta(beta=2.0), [1, 1, 1, 0], [1, 0, 0, 1], 5 / (5 + 4 + 2)),
    "dice": (metrics.Dice(), [1, 1, 0], [1, 0, 0], 2 / 3),
    "IoU": (metrics.IoU(), [1, 1, 0], [1, 0, 0], 1 / 2),
    "macro precision": (three(metrics.Precision, "macro"), SCORES, CLASSES, 1.5 / 3),
    "micro recall": (three(metrics.Recall, "micro"), SCORES, CLASSES, 0.75),
    "weighted recall": (three(metrics.Recall, "weighted"), SCORES, CLASSES, 0.75),
    "macro of classes that occur": (three(metrics.Recall, "macro"), [0, 1, 1], [0, 1, 0], 0.75),
    "IoU of each class": (three(metrics.IoU, "none"), SCORES, CLASSES, [1, 0.5, 0]),
    "labels as classes": (
        three(metrics.Recall, "none", multilabel=True), [[0.9, 0.1, 0.2], [0.8, 0.9, 0.3]],
        [[1, 1, 0], [1, 1, 0]], [1, 0.5, 0]),
    "nothing seen": (metrics.Precision(), [0, 0], [1, 0], 0.0),
    "nothing seen, undefined": (metrics.Precision(undefined=NAN), [0, 0], [1, 0], NAN),
    "confusion": (metrics.Confusion(3), SCORES, CLASSES, [[2, 0, 0], [0, 1, 0], [0, 1, 0]]),
    "kappa": (metrics.Kappa(), [1, 1, 0, 0], [1, 0, 0, 0], 1 - 0.25 / 0.5),
    "kappa of one class": (metrics.Kappa(), [1, 1], [1, 1], NAN),
    "quadratic kappa": (metrics.Kappa(3, weights="quadratic"), [0, 2], [0, 1], 1 - 1 / 3),
    "correlation": (metrics.MatthewsCorrelation(), [1, 1, 0, 0], [1, 0, 0, 0], 1 / np.sqrt(3)),
    "correlation, constant": (metrics.MatthewsCorrelation(), [1, 1], [1, 0], 0.0),
    "AUROC": (metrics.AUROC(), SEEN, THERE, 4 / 6),
    "AUROC of lone scores": (metrics.AUROC(), SEEN[:, None], THERE, 4 / 6),
    "AUROC of ties": (metrics.AUROC(), [0.5, 0.5, 0.5], [1, 0, 1], 0.5),
    "AUROC of some ties": (metrics.AUROC(), [0.5, 0.5, 0.9], [1, 0, 1], 0.75),
    "AUROC, none there": (metrics.AUROC(), [0.1, 0.2], [0, 0], NAN),
    "AUROC, all there": (metrics.AUROC(), [0.1, 0.2], [1, 1], NAN),
    "AUROC of infinities": (metrics.AUROC(), [-np.inf, np.inf], [0, 1], 1.0),
    "AUROC of classes": (metrics.AUROC("none"), SCORES, CLASSES, [1, 2 / 3, 0.5 / 3]),
    "AUROC, a class of none": (metrics.AUROC(), [[0.1, 0], [0.2, 0]], [[0, 0], [1, 0]], 1),
    "AUCPR": (metrics.AUCPR(), SEEN, THERE, (1 + 2 / 3 + 3 / 4) / 3),
    "AUCPR of ties": (metrics.AUCPR(), [0.5, 0.5, 0.5, 0.5], [1, 0, 0, 1], 0.5),
    "AUCPR of infinities": (metrics.AUCPR(), [np.inf, np.inf, -np.inf], [1, 0, 1], 7 / 12),
    "AUCPR, none there": (metrics.AUCPR(), [0.1, 0.2], [0, 0], NAN),
    "AUCPR, micro": (metrics.AUCPR("micro"), [[0.9, 0.1]], [[1, 0]], 1.0),
    "squared": (metrics.MeanSquaredError(), [1.0, 3.0], [1.0, 1.0], 2.0),
    "root": (metrics.RootMeanSquaredError(), [1.0, 3.0], [1.0, 1.0], np.sqrt(2)),
    "absolute": (metrics.MeanAbsoluteError(), [1, 3, 5], [1, 1, 8], 5 / 3),
    "R²": (metrics.R2(), [1.0, 2.0, 4.0], [1.0, 2.0, 3.0], 0.5),
    "R² of a constant": (metrics.R2(), [1.0, 2.0], [1.0, 1.0], NAN),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_are_known(name: str) -> None:
    metric, outputs, targets, expected = VALUES[name]
    metric.reset()
    metric.update(bs.asarray(outputs), np.asarray(targets))
    np.testing.assert_allclose(metric.value(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", VALUES)
def test_parts_make_the_whole(name: str) -> None:
    """Batches one by one, two metrics merged, and one that was reset, all tell the same."""
    metric, outputs, targets, _ = VALUES[name]
    outputs, targets = np.asarray(outputs), np.asarray(targets)
    metric.reset()
    assert np.isnan(metric.value())
    metric.update(outputs, targets)
    whole = metric.value()
    other = type(metric)(**{key: getattr(metric, key) for key in metric.__dataclass_fields__})
    other.merge(metric)  # an empty one takes all
    metric.reset()
    cut = len(outputs) // 2
    other.reset()
    metric.update(outputs[:cut], targets[:cut])
    other.update(outputs[cut:], targets[cut:])
    metric.merge(other)
    np.testing.assert_allclose(metric.value(), whole, rtol=1e-12)


def test_weights_say_how_many_examples_a_loss_stands_for() -> None:
    loss = metrics.Loss()
    loss.update(bs.asarray(2.0), 3)
    loss.update(bs.asarray([4.0, 6.0]))
    assert loss.value() == pytest.approx(16 / 5)
    perplexity = metrics.Perplexity()
    perplexity.update(np.log([2.0, 8.0]), [1, 3])
    assert perplexity.value() == pytest.approx(np.exp(np.log(2) / 4 + np.log(8) * 3 / 4))
    perplexity.update(1e9)
    assert perplexity.value() == np.inf


def test_sums_are_exact_where_float32_would_not_be() -> None:
    mean, spread = metrics.Mean(), metrics.R2()
    for _ in range(3):
        mean.update(bs.full(1000, 1e8 + 4), 1)
        spread.update([1e6 + 1, 1e6 + 3], [1e6 + 1, 1e6 + 2])
    assert mean.value() == float(np.float32(1e8 + 4))
    assert spread.value() == pytest.approx(-1.0)


def test_merging_needs_equal_settings() -> None:
    with pytest.raises(bs.ArgumentError, match="metrics differ"):
        metrics.TopK(2).merge(metrics.TopK(3))
    with pytest.raises(bs.ArgumentError, match="metrics differ"):
        metrics.Precision().merge(metrics.Recall())


@pytest.mark.parametrize("kind", ["Metric", "Totals", "Collected", "Counted", "Ranking"])
def test_what_is_left_to_those_that_inherit_is_asked_for_at_once(kind: str) -> None:
    base = {
        each.__name__: each for top in (metrics.Precision, metrics.AUROC) for each in top.__mro__
    }
    with pytest.raises(TypeError, match="abstract"):
        base[kind]()


def test_a_metric_that_cannot_be_merged_says_so() -> None:
    class Last(metrics.Metric):
        def reset(self) -> None:
            self.last = NAN

        def update(self, outputs: Any, targets: Any) -> None:
            self.last = outputs

        def value(self) -> float:
            return self.last

        def __repr__(self) -> str:
            return "Last()"

    with pytest.raises(bs.ArgumentError, match="define the method `add`"):
        Last().merge(Last())


BAD: dict[str, Callable[[], Any]] = {
    "second axis of classes": lambda: metrics.Accuracy().update(np.ones((2, 3)), np.ones((3, 3))),
    "outputs are .N, classes, ...": lambda: metrics.Accuracy().update(SCORES, CLASSES[:2]),
    "whole numbers": lambda: metrics.Accuracy().update(SEEN, SEEN),
    "labels from 0 to 1": lambda: metrics.Precision().update([0, 1], [0, 2]),
    "targets .N": lambda: metrics.TopK(2).update(SEEN, THERE),
    "an output is NaN": lambda: metrics.Confusion().update([0.9, NAN], [1, 0]),
    "NaN, which means no class": lambda: metrics.Recall(multilabel=True, average="micro").update(
        [[NAN, 0.1]], [[1, 0]]
    ),
    "k is a whole": lambda: metrics.TopK(0),
    "average is one of": lambda: metrics.Precision(classes=3),
    "average is one": lambda: metrics.AUROC("median"),
    "weights is one of": lambda: metrics.Kappa(weights="cubic"),
    "beta": lambda: metrics.FBeta(beta=0.0),
    "not a number": lambda: metrics.AUROC().update([NAN], [1]),
    "outputs and targets are .N. or": lambda: metrics.AUROC().update(SCORES, SEEN),
    r"are \[N, 2\]": lambda: metrics.Recall(multilabel=True, average="macro").update(SEEN, THERE),
    "have one shape": lambda: metrics.MeanAbsoluteError().update(SEEN, SEEN[1:]),
    "a weight for each": lambda: metrics.Mean().update(SEEN, [1, 2]),
    "expected numbers, got str": lambda: metrics.Mean().update("text"),
    "expected numbers, got list": lambda: metrics.Mean().update([[1], [1, 2]]),
}  # fmt: skip


@pytest.mark.parametrize("words", BAD)
def test_what_does_not_fit_is_refused(words: str) -> None:
    with pytest.raises(bs.BrimstoneError, match=words):
        BAD[words]()
