"""Losses of sequences that nobody has aligned with their targets: all alignments count together.

Comes in: scores at each step, targets, and how long each item is. Goes out: a loss in f32 or f64,
inf where no alignment is possible.
Never: one alignment after the other: a scan adds up those that lead to each place, in logarithms.
"""

from __future__ import annotations

from typing import Any

from ...frontend.control import scan
from ...frontend.errors import DTypeError, ShapeError, fail
from ...frontend.functions.creation import arange, asarray
from ...frontend.functions.elementwise import logaddexp, maximum
from ...frontend.functions.indexing import take_along_axis
from ...frontend.functions.logic import equal, isinf, not_equal, where
from ...frontend.functions.manipulation import broadcast_to, moveaxis, stack
from ...frontend.functions.padding import pad
from ...frontend.functions.reductions import logsumexp
from ...frontend.functions.repeating import repeat
from ...frontend.functions.types import isdtype
from ...frontend.tensor import Tensor
from ..arguments import within
from .loss import Loss, Reduction, reduced, wide

INFINITY, NAN = float("inf"), float("nan")


def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *, blank: int = 0,
    reduction: Reduction = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """How unlikely it is to read the targets, when repeats are merged, then blanks left out.

    `log_probs` is [steps, N, classes], `targets` [N, places]; of each item, what is beyond its
    lengths does not count. "mean" divides each loss by the length of its target first. Where a
    target does not fit the loss is inf, or 0 with `zero_infinity`; where there are fewer steps than
    an item's length it is NaN.
    """
    name = "ctc_loss"
    logs = wide(log_probs)
    targets, steps, lengths = _integers(name, targets, input_lengths, target_lengths)
    if logs.ndim != 3 or (targets.ndim, steps.ndim, lengths.ndim) != (2, 1, 1):
        problem = "takes [steps, N, classes], targets [N, places], and two times N lengths"
        hint = "pad targets to one length; an axis for one item is added by `bs.expand_dims`"
        fail(ShapeError, name, problem, logs, targets, steps, lengths, hint=hint)
    if len({logs.shape[1], targets.shape[0], steps.shape[0], lengths.shape[0]}) > 1:
        problem = "the numbers of items differ: [steps, N, classes], [N, places], and two times N"
        hint = "of [N, steps, classes] make that by `bs.moveaxis(log_probs, 1, 0)`"
        fail(ShapeError, name, problem, logs, targets, steps, lengths, hint=hint)
    within(name, "blank", blank, 0, logs.shape[2] - 1)
    losses = _ctc(logs, targets, steps, lengths, blank)
    if zero_infinity:
        losses = where(isinf(losses), 0.0, losses)
    if reduction == "mean":
        losses = losses / maximum(lengths, 1)
    return reduced(name, losses, reduction)


class CTCLoss(Loss):
    """How unlikely targets are that nobody has aligned with the steps, `ctc_loss`."""

    blank: int = 0
    reduction: Reduction = "mean"
    zero_infinity: bool = False
    function = staticmethod(ctc_loss)


def _ctc(logs: Tensor, targets: Tensor, steps: Tensor, lengths: Tensor, blank: int) -> Tensor:
    """The loss of each item. A place is one of a target, or before, between and behind these."""
    targets = _inside(targets, lengths, blank)
    doubled = pad(repeat(targets, 2, axis=1), ((0, 0), (0, 1)))
    labels = where(equal(arange(doubled.shape[1]) % 2, 1), doubled, blank)
    found = _of_labels(logs, labels[None], axis=2)  # [steps, N, places]
    # A blank may be left out between labels that differ.
    skips = not_equal(labels, blank) & not_equal(labels, _after(labels, 2, blank))

    def step(carry: Any, found: Tensor) -> tuple[Any, None]:
        paths, time = carry
        near = logaddexp(paths, _after(paths, 1, -INFINITY))
        far = where(skips, _after(paths, 2, -INFINITY), -INFINITY)
        lives = (time < steps)[:, None]
        return (where(lives, logaddexp(near, far) + found, paths), time + 1), None

    (paths, count), _ = scan(step, (_start(labels.astype(found.dtype)), asarray(0)), found)
    last = 2 * lengths
    ends = stack([last, maximum(last - 1, 0)], axis=1)
    blank_end, label_end = moveaxis(take_along_axis(paths, ends, axis=1), 1, 0)
    losses = -logaddexp(blank_end, where(lengths > 0, label_end, -INFINITY))
    return where(steps <= count, losses, NAN)


def rnnt_loss(
    logits: Any, targets: Any, logit_lengths: Any, target_lengths: Any, *, blank: int = -1,
    reduction: Reduction = "mean", fused_log_softmax: bool = True,
) -> Tensor:  # fmt: skip
    """How unlikely it is to emit the targets, when a blank goes on to the next step.

    `logits` is [N, steps, places + 1, classes]: the scores at a step, after some of the target;
    `targets` is [N, places]. Of each item, what is beyond its lengths does not count. Without
    `fused_log_softmax` the logits are logarithms of probabilities already. An item without steps
    has the loss inf.
    """
    name = "rnnt_loss"
    scores = wide(logits)
    targets, steps, lengths = _integers(name, targets, logit_lengths, target_lengths)
    fits = scores.ndim == 4 and (targets.ndim, steps.ndim, lengths.ndim) == (2, 1, 1)
    if not fits or scores.shape[2] != targets.shape[1] + 1:
        problem = "takes [N, steps, places + 1, classes], targets [N, places], two times N lengths"
        fail(ShapeError, name, problem, scores, targets, steps, lengths)
    within(name, "blank", blank, -scores.shape[3], scores.shape[3] - 1)
    total = logsumexp(scores, axis=-1) if fused_log_softmax else 0.0
    labels = pad(_inside(targets, lengths, 0), ((0, 0), (0, 1)))
    emitted = _of_labels(scores, labels[:, None, :, None], axis=3)[..., 0] - total
    losses = _transduced(scores[..., blank] - total, emitted, steps, lengths)
    return reduced(name, losses, reduction)


class RNNTLoss(Loss):
    """How unlikely targets are that are emitted while steps go by, `rnnt_loss`."""

    blank: int = -1
    reduction: Reduction = "mean"
    fused_log_softmax: bool = True
    function = staticmethod(rnnt_loss)


def _transduced(blanks: Tensor, emitted: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
    """The loss of each item; both are [N, steps, places + 1]. What a blank and what an emission
    lead to is one diagonal further, so the scan goes from diagonal to diagonal."""

    def step(paths: Tensor, found: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        blank, emitted = found
        gone_on = paths + blank
        return logaddexp(gone_on, _after(paths + emitted, 1, -INFINITY)), gone_on

    _, gone_on = scan(step, _start(blanks[:, 0]), (_diagonals(blanks), _diagonals(emitted)))
    ends = maximum(steps - 1 + lengths, 0)
    of_item = take_along_axis(moveaxis(gone_on, 0, 1), ends[:, None, None], axis=1)
    found = take_along_axis(of_item, lengths[:, None, None], axis=2)[:, 0, 0]
    return where(steps > 0, -found, INFINITY)


def _diagonals(x: Tensor) -> Tensor:
    """[N, steps, places] -> [steps + places - 1, N, places]: row d has step d - p at place p, and
    -inf where there is none."""
    steps, places = x.shape[1:]
    padded = pad(moveaxis(x, 2, 1), ((0, 0), (0, 0), (0, places)), value=-INFINITY)
    # In rows that are one shorter than those padded, each begins one further to the right.
    flat = padded.reshape((-1, places * (steps + places)))[:, :-places]
    return moveaxis(flat.reshape((-1, places, steps + places - 1)), (2, 0, 1), (0, 1, 2))


def _start(like: Tensor) -> Tensor:
    """[N, places]: only the first place has been reached."""
    first = equal(arange(like.shape[1]), 0)
    reached = where(first, 0.0, -INFINITY).astype(like.dtype)
    return broadcast_to(reached, like.shape)


def _after(x: Tensor, count: int, value: float) -> Tensor:
    """Everything `count` places later, the value in front."""
    return pad(x, ((0, 0), (count, 0)), value=value)[:, : x.shape[1]]


def _inside(targets: Tensor, lengths: Tensor, label: int) -> Tensor:
    """The targets, with the label where they have ended."""
    return where(arange(targets.shape[1]) < lengths[:, None], targets, label)


def _of_labels(scores: Tensor, labels: Tensor, axis: int) -> Tensor:
    """The scores of labels along an axis of classes."""
    # Unsigned, so that negative labels are outside rather than counted from the end.
    return take_along_axis(scores, labels.astype("uint64"), axis=axis)


def _integers(name: str, *given: Any) -> list[Tensor]:
    tensors = [asarray(each) for each in given]
    if not all([isdtype(each.dtype, "integral") for each in tensors]):
        fail(DTypeError, name, "targets and lengths are integers", *tensors)
    return [each.astype("int64") for each in tensors]
