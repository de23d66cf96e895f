"""The pass: each chain that is attention becomes one.

Comes in: a func. Goes out: the func with its attentions; and for whoever asks, what looks like
attention in it and is none, with the reason.
Never: a change to a func that holds none; to look costs a glance at each contraction.
"""

from typing import NamedTuple

import numpy as np

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.func import Func
from ...ir.locations import UNKNOWN, Location
from ...ir.tensor.rules import filled
from ...ir.values import AnyValue, replace
from ..context import Context
from ..dead import removable
from ..declare import pipeline_pass
from .heads import Heads, heads_of
from .score import Score
from .softmax import Chain, Missed, find


class Miss(NamedTuple):
    """Where something looks like attention, and why it is none."""

    location: Location
    reason: str


class Attention(NamedTuple):
    """A chain that is attention, and its heads."""

    chain: Chain
    heads: Heads


@pipeline_pass("recognise")
def recognise(func: Func, context: Context) -> None:
    """One `tensor.attention` for softmax(change(query @ keyᵀ)) @ value, written out."""
    for op in [each for each in func.walk() if isinstance(each, tensor.Contract)]:
        found = None if op.block is None else _look(op)
        if isinstance(found, Attention) and context.allow("recognise", op):
            _rewrite(*found)


def missed(func: Func) -> list[Miss]:
    """What looks like attention in a func, and is none."""
    looked = [_look(op) for op in func.walk() if isinstance(op, tensor.Contract)]
    return [each for each in looked if isinstance(each, Miss)]


def _look(op: tensor.Contract) -> Attention | Miss | None:
    """The attention that ends in a contraction, or why there is none, if it looks like one."""
    try:
        chain = find(op)
        return None if chain is None else Attention(chain, heads_of(chain))
    except Missed as reason:
        return Miss(op.location, str(reason))


def _rewrite(chain: Chain, heads: Heads) -> None:
    """Put an attention in the place of a chain."""
    last = chain.last
    assert last.block is not None
    location = UNKNOWN
    for op in chain.gone:
        location = location.union(op.location)
    builder = Builder(last.block, last, location)
    query, key, value = heads.operands(builder)
    score = Score(chain, heads, builder)
    region = score.write((*query.shape[:3], key.shape[2]))
    given = query, key, value, score.captures, 1.0, region
    output, log_sum_exp, _ = builder.emit_all(tensor.Attention, *given)
    made = heads.result(builder, _or_nan(builder, output, log_sum_exp))
    (result,) = last.results
    made.name = made.name or result.name
    replace(result, made)
    _drop(chain)


def _or_nan(builder: Builder, output: AnyValue, log_sum_exp: AnyValue) -> AnyValue:
    """The output, NaN where a query attends to nothing; its gradient is then NaN as well."""
    some = builder.emit(tensor.IsFinite, log_sum_exp)
    numbers = [filled(builder, number, log_sum_exp.type) for number in (1.0, np.nan)]
    factor = builder.emit(tensor.Select, some, *numbers)
    wide = builder.emit(tensor.Broadcast, factor, output.shape, (0, 1, 2))
    return builder.emit(tensor.Multiply, output, wide)


def _drop(chain: Chain) -> None:
    """Take out what nobody reads any more, with what only it has read."""
    pending = [chain.last]
    while pending:
        op = pending.pop()
        if op.block is not None and removable(op):
            pending += op.detach()
