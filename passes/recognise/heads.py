"""Which axes are heads: queries, keys and values of a chain, as attention wants them.

Comes in: a chain. Goes out: `Heads`: the groups of axes of its scores that become the four axes of
attention's, and queries, keys and values seen along them.
Never: an op; `Heads.operands` makes them when the chain is rewritten.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dims import Size
from ...ir.dtypes import FLOATS
from ...ir.facts import Facts
from ...ir.values import AnyValue
from .softmax import Chain, Missed, axes_of_result
from .views import View, arranged, seen_through

FACTS = Facts()
Group = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Heads:
    """Axes of the scores by number: of the batch, of the heads that keys have, of the heads that
    share each of them.

    Behind the axes of the scores come the one that is summed and the one that only values have.
    `sizes` says how long all are, `known` how long they are for keys and values, and `order` is
    that of the axes of the result.
    """

    batch: Group
    grouped: Group
    sharing: Group
    sizes: Mapping[int, Size]
    known: Mapping[int, Size]
    query: View
    key: View
    value: View
    order: tuple[int, ...]

    @property
    def scores(self) -> tuple[Group, Group, Group, Group]:
        """The axes of the scores in four groups."""
        return self.batch, (*self.grouped, *self.sharing), *self._last

    @property
    def _last(self) -> tuple[Group, Group]:
        rank = len(self.batch) + len(self.grouped) + len(self.sharing) + 2
        return (rank - 2,), (rank - 1,)

    def operands(self, builder: Builder) -> tuple[AnyValue, AnyValue, AnyValue]:
        """Query, key and value, each of rank 4."""
        batch, heads, rows, columns = self.scores
        summed, wide = (columns[0] + 1,), (columns[0] + 2,)
        shared = batch, self.grouped, columns
        return (
            arranged(builder, self.query, (batch, heads, rows, summed), self.sizes),
            arranged(builder, self.key, (*shared, summed), self.known),
            arranged(builder, self.value, (*shared, wide), self.known),
        )

    def result(self, builder: Builder, output: AnyValue) -> AnyValue:
        """Attention's output as the chain orders it."""
        axes = [axis for group in self.scores[:3] for axis in group]
        axes.append(self._last[1][0] + 2)
        shape = tuple([self.sizes[axis] for axis in axes])
        if output.shape != shape:
            output = builder.emit(tensor.Reshape, output, shape)
        order = tuple(map(axes.index, self.order))
        is_ordered = list(order) == sorted(order)
        return output if is_ordered else builder.emit(tensor.Permute, output, order)


def heads_of(chain: Chain) -> Heads:
    """The heads of a chain."""
    query, key = _of_scores(chain)
    value, order = _of_values(chain)
    _check_dtypes(chain, value)
    sizes = _sizes(chain, key, value)
    key, value, known = _shared(chain, key, value)
    lead = tuple(range(chain.rank - 2))
    owned = max((axis + 1 for axis in lead if axis in key.along | value.along), default=0)
    grouped = lead[max(owned - 1, 0) : owned]
    return Heads(
        batch=lead[: max(owned - 1, 0)],
        grouped=grouped,
        sharing=lead[owned:],
        sizes=sizes,
        known=sizes | known,
        query=seen_through(query.value, query.axes),
        key=key,
        value=value,
        order=order,
    )


def _of_scores(chain: Chain) -> tuple[View, View]:
    """Queries and keys, with the axis of the scores that each of their axes runs along."""
    op, rank = chain.scores, chain.rank
    if len(op.left_contract) != 1:
        raise Missed("queries and keys are summed along several axes")
    views = [_along(op, side, rank) for side in (0, 1)]
    query, key = views if rank - 1 in views[1].along else views[::-1]
    if rank - 2 not in query.along or rank - 2 in key.along:
        raise Missed("the last two axes of the scores are not those of queries and keys")
    return query, key


def _along(op: tensor.Contract, side: int, summed: int) -> View:
    """One operand of the scores; what is summed has a number of its own."""
    operand = op.operands[side]
    axes: list[int | None] = [summed] * len(operand.shape)
    for place, axis in enumerate(axes_of_result(op, side)):
        if axis is not None:
            axes[axis] = place
    return View(operand, tuple(axes))


def _of_values(chain: Chain) -> tuple[View, tuple[int, ...]]:
    """The values, and the order of the axes of what they are mixed to."""
    op, side, rank = chain.mixed, chain.side, chain.rank
    sides = (op.left_batch, op.left_contract), (op.right_batch, op.right_contract)
    (batch, summed), (their_batch, their_summed) = sides[side], sides[1 - side]
    if summed != (rank - 1,) or rank - 2 in batch:
        raise Missed("values are not summed along the last axis of the weights")
    value = op.operands[1 - side]
    if len(value.shape) != len(batch) + 2:
        raise Missed("values have not one axis of their own")
    axes: list[int | None] = [rank + 1] * len(value.shape)
    axes[their_summed[0]] = rank - 1
    for ours, theirs in zip(batch, their_batch, strict=True):
        axes[theirs] = ours
    made = axes_of_result(op, side)
    return View(value, tuple(axes)), tuple([rank + 1 if axis is None else axis for axis in made])


def _check_dtypes(chain: Chain, value: View) -> None:
    """Refuse sums that attention would round elsewhere."""
    queries = chain.scores.left.dtype
    wide = queries.accumulator
    for name, dtype in (
        ("the softmax", chain.changed.dtype),
        ("values", value.value.dtype),
        ("the result", chain.mixed.dtype),
    ):
        if dtype is not wide or dtype not in FLOATS:
            raise Missed(f"{name} of {dtype}, where queries of {queries} are summed in {wide}")
    if not FACTS.at_most(1, chain.changed.shape[-1]):
        raise Missed("there may be no key")


def _sizes(chain: Chain, key: View, value: View) -> dict[int, Size]:
    """How long each axis is."""
    sizes = dict(enumerate(chain.changed.shape))
    for view in (key, value):
        pairs = zip(view.axes, view.value.shape, strict=True)
        sizes.update({axis: size for axis, size in pairs if axis is not None})
    return sizes


def _shared(chain: Chain, key: View, value: View) -> tuple[View, View, dict[int, Size]]:
    """Keys and values before each head was repeated for its neighbours, if both were alike; and how
    many heads there are then."""
    last = chain.rank - 3
    ours, theirs = (seen_through(each.value, each.axes, repeats=True) for each in (key, value))
    alike = ours.times == theirs.times and all(axis == last for axis, _ in ours.times)
    if alike and (last in ours.along) == (last in theirs.along):
        has_heads = last in ours.along
        sizes = {last: ours.value.shape[ours.axes.index(last)]} if has_heads else {}
        return ours, theirs, sizes
    return seen_through(key.value, key.axes), seen_through(value.value, value.axes), {}
