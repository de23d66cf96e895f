"""The chain that attention is written as: a contraction, changes, a softmax, another contraction.

Comes in: a contraction. Goes out: a `Chain`, if what it contracts is a softmax of what another one
gave; None where it is something else; `Missed` where it looks like attention and is none.
Never: a change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...ir import tensor
from ...ir.tensor.axes import other_axes
from ...ir.tensor.elementwise import Elementwise
from ...ir.values import AnyValue, Op
from .views import Axes, View, seen_through

CHANGES = (Elementwise, tensor.Select, tensor.Cast)
"""Ops that change each score on its own."""

CHANGES_AT_MOST = 64
"""More of them are not worth to be computed again, backward."""


class Missed(Exception):
    """What looks like attention is none, and why."""


class Division(NamedTuple):
    """exp(…) divided by its sums: before the contraction, or behind it."""

    exp: tensor.Exp
    by: tensor.Divide


@dataclass(slots=True)
class Chain:
    """`scores`, changed until they are `changed`; their softmax is operand `side` of `mixed`.

    `last` is the op whose result is attention's; nobody else reads what is in `gone`.
    """

    mixed: tensor.Contract
    side: int
    changed: AnyValue
    scores: tensor.Contract
    last: Op
    gone: dict[Op, None] = field(default_factory=lambda: {})

    @property
    def rank(self) -> int:
        """The rank of the scores; their last two axes are queries and keys."""
        return len(self.changed.shape)


def find(mixed: tensor.Contract) -> Chain | None:
    """The chain that ends in a contraction."""
    for side, weights in enumerate(mixed.operands):
        division = _division(mixed, weights)
        if division is not None:
            summed = _summed(mixed, side, division)
            if summed is not None:
                return _chain(mixed, side, division, summed)
    return None


def axes_of_result(op: tensor.Contract, side: int) -> Axes:
    """For each axis of the result the axis of one operand that it is; None for the other's."""
    left = other_axes(len(op.left.shape), op.left_batch, op.left_contract)
    right = other_axes(len(op.right.shape), op.right_batch, op.right_contract)
    if side == 0:
        return (*op.left_batch, *left, *[None] * len(right))
    return (*op.right_batch, *[None] * len(left), *right)


def _division(mixed: tensor.Contract, weights: AnyValue) -> Division | None:
    """What divides weights, or sums of values, if weights come from an exp."""
    op = weights.op
    if isinstance(op, tensor.Cast):
        op = op.x.op
    if isinstance(op, tensor.Divide) and isinstance(op.left.op, tensor.Exp):
        return Division(op.left.op, op)
    if isinstance(op, tensor.Exp) and len(mixed.result.uses) == 1:
        (reader,) = mixed.result.uses
        if isinstance(reader, tensor.Divide) and reader.left is mixed.result:
            return Division(op, reader)
    return None


def _summed(mixed: tensor.Contract, side: int, division: Division) -> View | None:
    """What an exp is divided by, if that is its sums."""
    exp, by = division
    rank = len(exp.result.shape)
    axes: Axes = tuple(range(rank))
    if by.left is mixed.result:
        axes = axes_of_result(mixed, side)
    view = seen_through(by.right, axes)
    op = view.value.op
    if not isinstance(op, tensor.ReduceSum) or op.x is not exp.result:
        return None
    kept = [axis for axis in range(rank) if axis not in op.axes]
    return View(view.value, view.axes, (*view.ops, op)) if _runs(view, kept) else None


def _runs(view: View, along: Iterable[int]) -> bool:
    """Whether the axes of a value run along these ones."""
    sizes = zip(view.axes, view.value.shape, along, strict=True)
    return all(size == 1 or axis == wanted for axis, size, wanted in sizes)


def _chain(mixed: tensor.Contract, side: int, division: Division, summed: View) -> Chain | None:
    """The chain before a softmax, if it begins with a contraction."""
    exp, by = division
    less = exp.x.op
    scores = _scores(less.left if isinstance(less, tensor.Subtract) else exp.x)
    if scores is None:
        return None
    reduced = summed.ops[-1]
    if reduced.attributes != ((len(exp.result.shape) - 1,),):
        raise Missed("the softmax is not along the last axis of the scores")
    if not isinstance(less, tensor.Subtract):
        raise Missed("the largest score is not subtracted before the exponential")
    weights = mixed.operands[side]
    if weights.dtype is not exp.result.dtype:
        raise Missed(f"its weights are cast to {weights.dtype}, as attention's are not")
    inside = _between(scores, less.left)
    if len(inside) > CHANGES_AT_MOST:
        raise Missed(f"its scores are changed by {len(inside)} ops, at most {CHANGES_AT_MOST}")
    ops = (scores, *inside, *_peak(less), less, exp, *summed.ops, by, mixed)
    last = by if by.left is mixed.result else mixed
    chain = Chain(mixed, side, less.left, scores, last, dict.fromkeys(ops))
    _check_alone(chain)
    return chain


def _peak(less: tensor.Subtract) -> Sequence[Op]:
    """The ops that make the largest score of each row, which is subtracted."""
    rank = len(less.left.shape)
    value, axes, ops = less.right, tuple[int | None, ...](range(rank)), list[Op]()
    while True:
        view = seen_through(value, axes)
        value, axes, op = view.value, view.axes, view.value.op
        ops += view.ops
        chosen = _where_finite(op)
        if isinstance(op, tensor.StopGradient):
            ops.append(op)
            value = op.x
        elif chosen is not None:
            # A row of nothing but -inf is not shifted; what it gives is NaN all the same.
            ops += chosen
            value = chosen[1].x
        else:
            break
    if (
        not isinstance(op, tensor.ReduceMaximum)
        or (op.x, op.axes) != (less.left, (rank - 1,))
        or not _runs(View(value, axes), range(rank - 1))
    ):
        raise Missed("what is subtracted before the exponential is not the largest score")
    return (*ops, op)


def _where_finite(op: Op | None) -> tuple[tensor.Select, tensor.IsFinite] | None:
    """The choice of x where x is finite, and what asks whether it is."""
    if isinstance(op, tensor.Select):
        asked = op.predicate.op
        if isinstance(asked, tensor.IsFinite) and asked.x is op.on_true:
            return op, asked
    return None


def _scores(changed: AnyValue) -> tensor.Contract | None:
    """The contraction that a value comes from through changes, the leftmost of several."""
    pending, seen = [changed], {changed}
    while pending:
        value = pending.pop()
        op = value.op
        if isinstance(op, tensor.Contract):
            return op
        if isinstance(op, CHANGES):
            fresh = [each for each in op.operands if each not in seen]
            seen.update(fresh)
            pending += reversed(fresh)
    return None


def _between(scores: tensor.Contract, changed: AnyValue) -> dict[Op, None]:
    """The changes that lie between the scores and what their softmax is taken of."""
    found: dict[Op, None] = {}
    pending = [*scores.result.uses]
    upstream = _upstream(changed)
    while pending:
        op = pending.pop()
        if op in upstream and op not in found:
            found[op] = None
            pending += _readers(op.results)
    return found


def _upstream(changed: AnyValue) -> set[Op]:
    """The changes that a value comes from."""
    pending, found = [changed], set[Op]()
    while pending:
        op = pending.pop().op
        if isinstance(op, CHANGES) and op not in found:
            found.add(op)
            pending += op.operands
    return found


def _check_alone(chain: Chain) -> None:
    """Refuse a chain of which something is read elsewhere, too, or is made once for a loop."""
    for op in chain.gone:
        if op is chain.last:
            continue
        if op.block is not chain.last.block:
            raise Missed(f"its {op.name} stands outside of the region that reads it")
        for reader in _readers(op.results):
            if reader not in chain.gone:
                line = f" at {reader.location}" if reader.location else ""
                raise Missed(f"its {op.name} is also read by {reader.name}{line}")


def _readers(values: Iterable[AnyValue]) -> list[Op]:
    return [reader for value in values for reader in value.uses]
