"""Which class an output means.

Comes in: outputs as models give them, and targets. Goes out: labels of both, flat.
Never: a softmax or a sigmoid; which class is largest does not depend on it, and a threshold is one
on what the model gives.
"""

from typing import Any

import numpy as np

from ...frontend.errors import ArgumentError, ShapeError, fail
from .metric import Array, host

NO_LABEL = np.iinfo(np.int64).min
"""What stands for the label of scores that are not numbers: it is never right."""


def labels(
    operation: str, outputs: Any, targets: Any, threshold: float, ignore: int | None
) -> tuple[Array, Array]:
    """The labels of outputs and of targets, flat, without those whose target is `ignore`.

    Outputs have the shape of the targets: whole numbers are labels, floats are 1 above the
    threshold. Or they have one axis more, the second, with a score for each class; one score alone
    is that of class 1. Where a score is NaN, the label is `NO_LABEL`.
    """
    known = host(targets, operation)
    found = without_lone_class(host(outputs, operation), known)
    if found.ndim == known.ndim + 1:
        if found.shape[:1] + found.shape[2:] != known.shape:
            fail(
                ShapeError, operation, "outputs are [N, classes, ...] and targets [N, ...]",
                found, known,
            )  # fmt: skip
        found = np.where(np.isnan(found).any(axis=1), NO_LABEL, found.argmax(axis=1))
    elif found.shape != known.shape:
        problem = "outputs have the shape of the targets, or a second axis of classes beside it"
        fail(ShapeError, operation, problem, found, known)
    elif found.dtype.kind == "f":
        found = np.where(np.isnan(found), NO_LABEL, found > threshold)
    if known.dtype.kind == "f" and not (known == np.floor(known)).all():
        fail(ArgumentError, operation, "targets are labels: whole numbers", known)
    found, known = found.reshape(-1).astype(np.int64), known.reshape(-1).astype(np.int64)
    if ignore is None:
        return found, known
    kept = known != ignore
    return found[kept], known[kept]


def without_lone_class(found: Array, known: Array) -> Array:
    """Outputs without a second axis of one, where targets have none."""
    is_lone = found.ndim == known.ndim + 1 and found.shape[1] == 1
    return found[:, 0] if is_lone else found


def confusion(operation: str, found: Array, known: Array, classes: int) -> Array:
    """How often each class (row) was taken for each class (column)."""
    refuse_no_label(operation, found == NO_LABEL)
    for what, each in (("outputs", found), ("targets", known)):
        if each.size and not 0 <= each.min() <= each.max() < classes:
            problem = f"{what} are labels from 0 to {classes - 1}"
            hint = f"they go from {each.min()} to {each.max()}; `ignore=` leaves one label out"
            fail(ArgumentError, operation, problem, hint=hint)
    pairs = np.bincount(known * classes + found, minlength=classes * classes)
    return pairs.reshape(classes, classes)


def refuse_no_label(operation: str, is_missing: Array) -> None:
    """Refuse outputs of which some have no label."""
    if is_missing.any():
        problem = f"an output is NaN, which means no class: {is_missing.sum()} of {is_missing.size}"
        fail(ArgumentError, operation, problem, hint="`bs.nonfinite_origin` finds where it is made")
