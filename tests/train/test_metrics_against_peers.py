"""Metrics agree with those of scikit-learn on random inputs, with ties and unequal classes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from brimstone.train import metrics

peer: Any = pytest.importorskip("sklearn.metrics", reason="scikit-learn, a peer, is not installed")

RANDOM = np.random.default_rng(11)
COUNT, CLASSES = 60, 4
LOGITS = RANDOM.normal(0, 1, (COUNT, CLASSES)).round(1)  # with ties
SHARES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
KNOWN = RANDOM.choice(CLASSES, COUNT, p=[0.5, 0.3, 0.15, 0.05])
FOUND = np.where(RANDOM.uniform(0, 1, COUNT) < 0.5, KNOWN, LOGITS.argmax(axis=1))
SCORES, THERE = LOGITS[:, 0], (KNOWN == 0).astype(int)
SEEN = (SCORES > 0.5).astype(int)
MANY = (RANDOM.uniform(0, 1, (COUNT, CLASSES)) < 0.3).astype(int)
SEEN_MANY = (LOGITS > 0.5).astype(int)
NUMBERS = RANDOM.normal(0, 1, (2, COUNT))

COUNTED: dict[str, tuple[type[Any], Callable[..., Any]]] = {
    "precision": (metrics.Precision, peer.precision_score),
    "recall": (metrics.Recall, peer.recall_score),
    "F1": (metrics.FBeta, peer.f1_score),
    "F2": (partial(metrics.FBeta, beta=2.0), partial(peer.fbeta_score, beta=2.0)),  # pyright: ignore[reportAssignmentType]
    "IoU": (metrics.IoU, peer.jaccard_score),
}


def check(metric: Any, outputs: Any, targets: Any, expected: Any) -> None:
    for part in np.array_split(np.arange(COUNT), 3):
        metric.update(outputs[part], targets[part])
    np.testing.assert_allclose(metric.value(), expected, rtol=1e-12)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted", "none"])
@pytest.mark.parametrize("name", COUNTED)
def test_counts_of_classes(name: str, average: str) -> None:
    ours, theirs = COUNTED[name]
    asked = {"average": None if average == "none" else average, "zero_division": 0}
    expected = theirs(KNOWN, FOUND, **asked)
    check(ours(classes=CLASSES, average=average), FOUND, KNOWN, expected)
    expected = theirs(MANY, SEEN_MANY, **asked)
    check(ours(classes=CLASSES, average=average, multilabel=True), SEEN_MANY, MANY, expected)


@pytest.mark.parametrize("name", COUNTED)
def test_counts_of_two_classes(name: str) -> None:
    ours, theirs = COUNTED[name]
    check(ours(), SEEN, THERE, theirs(THERE, SEEN))


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_orders(average: str) -> None:
    expected = peer.roc_auc_score(MANY, LOGITS, average=average)
    check(metrics.AUROC(average), LOGITS, MANY, expected)
    expected = peer.average_precision_score(MANY, LOGITS, average=average)
    check(metrics.AUCPR(average), LOGITS, MANY, expected)


def test_orders_of_classes() -> None:
    expected = peer.roc_auc_score(KNOWN, SHARES, multi_class="ovr")
    check(metrics.AUROC(), SHARES, KNOWN, expected)
    check(metrics.AUROC(), SCORES, THERE, peer.roc_auc_score(THERE, SCORES))
    check(metrics.AUCPR(), SCORES, THERE, peer.average_precision_score(THERE, SCORES))


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa(weights: str | None) -> None:
    expected = peer.cohen_kappa_score(KNOWN, FOUND, weights=weights)
    check(metrics.Kappa(CLASSES, weights=weights), FOUND, KNOWN, expected)


def test_the_rest() -> None:
    check(metrics.Accuracy(), LOGITS, KNOWN, peer.accuracy_score(KNOWN, LOGITS.argmax(1)))
    check(metrics.Hamming(), SEEN_MANY, MANY, peer.hamming_loss(MANY, SEEN_MANY))
    check(metrics.ExactMatch(), SEEN_MANY, MANY, peer.accuracy_score(MANY, SEEN_MANY))
    check(metrics.Confusion(CLASSES), FOUND, KNOWN, peer.confusion_matrix(KNOWN, FOUND))
    expected = peer.matthews_corrcoef(KNOWN, FOUND)
    check(metrics.MatthewsCorrelation(CLASSES), FOUND, KNOWN, expected)
    distinct = LOGITS + np.arange(LOGITS.size).reshape(LOGITS.shape) * 1e-6
    expected = peer.top_k_accuracy_score(KNOWN, distinct, k=2)
    check(metrics.TopK(2), distinct, KNOWN, expected)
    outputs, targets = NUMBERS
    check(metrics.R2(), outputs, targets, peer.r2_score(targets, outputs))
    check(metrics.MeanAbsoluteError(), outputs, targets, peer.mean_absolute_error(targets, outputs))
    expected = peer.root_mean_squared_error(targets, outputs)
    check(metrics.RootMeanSquaredError(), outputs, targets, expected)
