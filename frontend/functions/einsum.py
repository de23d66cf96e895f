"""Einstein's sums: products of tensors whose axes have letters, summed over letters left out.

Comes in: subscripts such as "bij,bjk->bik", and a tensor for each. Goes out: a tensor, computed by
contractions of two at a time, in the order that takes the fewest multiplications.
Never: narrow floats rounded between two steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Size, interval
from ..errors import ArgumentError, DTypeError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record
from ..unseen import differ
from .common import cast_node, refuse_dtype, to_common_dtype
from .contraction_order import best_order
from .manipulation import listed, permuted, reshaped
from .products import contract, diagonal

if TYPE_CHECKING:
    from ..tensor import Tensor

Labels = tuple[Any, ...]
"""Letters; and for the axes of an ellipsis, their places counted from the last, -1, -2, …"""

TYPICAL_SIZE = 64
"""For how large a symbolic size is taken where orders are compared."""


class Factor(NamedTuple):
    """A tensor and the labels of its axes."""

    node: Node
    labels: Labels


class Sum(NamedTuple):
    """What is to be computed: factors, the labels of the result, and how large each label is."""

    factors: list[Factor]
    result: Labels
    sizes: dict[Any, Size]


def einsum(subscripts: str, /, *operands: Any) -> Tensor:
    """The sum of products that subscripts say, such as "ij,jk->ik" for a product of matrices.

    A letter names an axis; equal letters are one axis. Summed are letters that the result has not;
    without "->", it has those that occur once, in alphabetic order. "..." stands for any axes,
    which broadcast, as axes of size 1 do. A letter twice in one operand means its diagonal.
    """
    return wrap(_evaluated(_read(subscripts, operands)))


def _evaluated(whole: Sum) -> Node:
    """The sum, in as few multiplications as may be."""
    dtype = whole.factors[0].node.type.dtype
    factors = [_simple(factor, whole) for factor in whole.factors]
    kept = _each_summed_alone(factors, whole.result)
    changed = [one for one, other in zip(factors, kept, strict=True) if one is not other]
    if len(factors) + len(changed) > 2:  # more than one step
        wide = [Factor(cast_node(node, dtype.accumulator), labels) for node, labels in factors]
        kept = _each_summed_alone(wide, whole.result)
    for one, other in _order(kept, whole):
        pair = kept[one], kept[other]
        kept = [each for place, each in enumerate(kept) if place not in (one, other)]
        kept.append(_product(*pair, kept, whole.result))
    (last,) = kept
    order = tuple([last.labels.index(label) for label in whole.result])
    return cast_node(permuted(last.node, order), dtype)


def einsum_path(subscripts: str, /, *operands: Any) -> list[tuple[int, int]]:
    """The pairs of operands that `einsum` multiplies one after the other: each pair is taken out of
    the list of operands, and its product put at the end."""
    whole = _read(subscripts, operands)
    factors = [_simple(factor, whole) for factor in whole.factors]
    return list(_order(_each_summed_alone(factors, whole.result), whole))


def _order(factors: Sequence[Factor], whole: Sum) -> tuple[tuple[int, int], ...]:
    sizes = {label: _typical(size) for label, size in whole.sizes.items()}
    return best_order([factor.labels for factor in factors], whole.result, sizes)


def _typical(size: Size) -> int:
    """A size to compare orders by."""
    low, high = interval(size)
    return max(low, min(high, TYPICAL_SIZE), 1)


def _read(subscripts: Any, operands: Sequence[Any]) -> Sum:
    """What the subscripts say, checked against the operands."""
    if not isinstance(subscripts, str):
        problem = f"the subscripts are a string, not {type(subscripts).__name__}"
        fail(DTypeError, "einsum", problem, subscripts)
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    parts = inputs.split(",")
    if len(parts) != len(operands):
        _refuse(text, f"there are {len(parts)} subscripts for {len(operands)} operands", operands)
    nodes = to_common_dtype("einsum", *operands)
    if nodes[0].type.dtype not in ir.NUMBERS:
        refuse_dtype("einsum", nodes[0].type.dtype, ir.NUMBERS, *operands)
    factors = [
        Factor(node, _labels(text, part, len(node.type.shape), operands))
        for part, node in zip(parts, nodes, strict=True)
    ]
    spread = min([label for each in factors for label in each.labels if label.__class__ is int],
                 default=0)  # fmt: skip
    ellipsis = tuple(range(spread, 0))
    result = _stated(text, output, ellipsis) if arrow else _implied(factors, ellipsis)
    sizes = _sizes(text, factors, operands)
    for label in result:
        if label not in sizes:
            _refuse(text, f"the result has '{label}', and no operand has it", operands)
    return Sum(factors, result, sizes)


def _refuse(text: str, problem: str, operands: Sequence[Any] = ()) -> NoReturn:
    fail(ArgumentError, "einsum", f'"{text}": {problem}', *operands)


def _letters(text: str, part: str) -> tuple[str, str | None]:
    """The letters before and after an ellipsis; None where there is none."""
    before, dots, after = part.partition("...")
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            _refuse(text, f"'{letter}' in '{part}' is neither a letter nor one '...'")
    return before, after if dots else None


def _labels(text: str, part: str, rank: int, operands: Sequence[Any]) -> Labels:
    """The labels of an operand's axes."""
    before, after = _letters(text, part)
    named = len(before) + len(after or "")
    if rank < named or (after is None and rank != named):
        few = "at least " if after is not None else ""
        problem = f"'{part}' names {few}{named} axes of an operand of rank {rank}"
        fail(ShapeError, "einsum", f'"{text}": {problem}', *operands)
    return (*before, *range(named - rank, 0), *(after or ""))


def _stated(text: str, output: str, ellipsis: Labels) -> Labels:
    """The labels after the arrow."""
    before, after = _letters(text, output)
    if after is None and ellipsis:
        _refuse(text, "the result has no '...' for the axes that the operands' '...' stand for")
    twice = [letter for letter, count in Counter(before + (after or "")).items() if count > 1]
    if twice:
        _refuse(text, f"the result has '{twice[0]}' twice")
    return (*before, *(ellipsis if after is not None else ()), *(after or ""))


def _implied(factors: Sequence[Factor], ellipsis: Labels) -> Labels:
    """The ellipsis, then the letters that occur once."""
    counts = Counter(label for factor in factors for label in factor.labels)
    once = [label for label, count in counts.items() if count == 1 and isinstance(label, str)]
    return (*ellipsis, *sorted(once))


def _sizes(text: str, factors: Sequence[Factor], operands: Sequence[Any]) -> dict[Any, Size]:
    """How large each label is: all its axes agree, but for those of size 1."""
    found: dict[Any, Size] = {}
    for factor in factors:
        for label, size in zip(factor.labels, factor.node.type.shape, strict=True):
            known = found.setdefault(label, size)
            if known == 1:
                found[label] = size
            elif size != 1 and differ(size, known):
                name = f"'{label}'" if isinstance(label, str) else f"axis {label} of '...'"
                problem = f'"{text}": {name} is {known} in one place and {size} in another'
                fail(ShapeError, "einsum", problem, *operands)
    return found


def _simple(factor: Factor, whole: Sum) -> Factor:
    """Without axes of size 1 that broadcast, and with each label once."""
    node, labels = factor
    shape = node.type.shape
    fits = [whole.sizes[label] == size for label, size in zip(labels, shape, strict=True)]
    if not all(fits):
        node = reshaped(node, tuple([size for size, fit in zip(shape, fits, strict=True) if fit]))
        labels = tuple([label for label, fit in zip(labels, fits, strict=True) if fit])
    while len(set(labels)) < len(labels):
        first = next(place for place, label in enumerate(labels) if label in labels[place + 1 :])
        second = labels.index(labels[first], first + 1)
        rest = [place for place in range(len(labels)) if place not in (first, second)]
        node = diagonal(wrap(permuted(node, (*rest, first, second)))).node
        labels = (*[labels[place] for place in rest], labels[first])
    return Factor(node, labels)


def _each_summed_alone(factors: Sequence[Factor], result: Labels) -> list[Factor]:
    """The factors, each summed over the labels that only it has."""
    return [_summed_alone(place, factors, result) for place in range(len(factors))]


def _summed_alone(place: int, factors: Sequence[Factor], result: Labels) -> Factor:
    """One of them."""
    node, labels = factors[place]
    others = {label for at, each in enumerate(factors) if at != place for label in each.labels}
    alone = [label not in others and label not in result for label in labels]
    if not any(alone):
        return factors[place]
    axes = tuple([axis for axis, each in enumerate(alone) if each])
    kept = tuple([label for label, each in zip(labels, alone, strict=True) if not each])
    return Factor(record(ops.ReduceSum, (node,), (axes,)), kept)


def _product(one: Factor, other: Factor, rest: Sequence[Factor], result: Labels) -> Factor:
    """Two factors multiplied, and summed over what nobody else has."""
    wanted = {*result, *[label for factor in rest for label in factor.labels]}
    shared = [label for label in one.labels if label in other.labels]
    batch = [label for label in shared if label in wanted]
    summed = [label for label in shared if label not in wanted]
    free = [label for each in (one, other) for label in each.labels if label not in shared]

    def axes(labels: Sequence[Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        ours, theirs = ([each.labels.index(label) for label in labels] for each in (one, other))
        return tuple(ours), tuple(theirs)

    made = contract(one.node, other.node, axes(batch), axes(summed))
    return Factor(made, (*batch, *free))


def multi_dot(arrays: Sequence[Any], /) -> Tensor:
    """The product of matrices, in the order that takes the fewest multiplications.

    The first and the last may be vectors.
    """
    arrays = listed("multi_dot", arrays)
    nodes = to_common_dtype("multi_dot", *arrays)
    if len(nodes) < 2 or not all(_chained(nodes)):
        fail(ShapeError, "multi_dot", "takes two matrices or more, or vectors at the ends", *arrays)
    last = len(nodes)
    pairs: list[Labels] = [(place, place + 1) for place in range(last)]
    pairs[0] = pairs[0][-len(nodes[0].type.shape) :]
    pairs[-1] = pairs[-1][: len(nodes[-1].type.shape)]
    factors = [Factor(node, labels) for node, labels in zip(nodes, pairs, strict=True)]
    result = tuple([label for label in (0, last) for labels in pairs if label in labels])
    return wrap(_evaluated(Sum(factors, result, _sizes("multi_dot", factors, arrays))))


def _chained(nodes: Sequence[Node]) -> list[bool]:
    """Whether each is a matrix, or a vector at an end."""
    ends = (0, len(nodes) - 1)
    ranks = [len(node.type.shape) for node in nodes]
    return [rank == 2 or (rank == 1 and place in ends) for place, rank in enumerate(ranks)]
