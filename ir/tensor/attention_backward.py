"""The gradients of attention, from its log-sum-exp: the weights are made anew, not kept.

Comes in: what attention has read, its log-sum-exp with the rest, a cotangent of the output, and for
each row `delta`: Σ cotangent · output, less the cotangent of the log-sum-exp. Goes out: gradients
of query, key and value, and whatever else the region `pull` yields.
Never: a derivative of the scores' change; `pull` is made by whoever differentiates.
"""

from typing import Any

import numpy as np

from ..declare import Attr, Op, Operand, Operands, Region, Results, among
from ..dtypes import FLOATS
from ..errors import require
from ..interpreter.arrays import stored, widened
from ..payloads import Array
from ..shared.regions import check_pure, check_takes, check_yields, yielded
from ..types import Tensor, Type
from ..values import Block
from .attention import check_operands, shared
from .base import TensorOp
from .contract import contraction

BATCH = ((0, 1), (0, 1))


class AttentionBackward(TensorOp, name="tensor.attention_backward"):
    """The gradients of `tensor.attention` by query, key, value, and what `pull` says.

    `pull` takes the scores, the captures and the gradient of what `score` yields; it yields that of
    the scores, and then others. A row that attends to nothing has gradients of 0.
    """

    query: Operand[Tensor] = among(FLOATS)
    key: Operand[Tensor] = among(FLOATS)
    value: Operand[Tensor] = among(FLOATS)
    log_sum_exp: Operand[Tensor] = among(FLOATS)
    rest: Operand[Tensor] = among(FLOATS)
    cotangent: Operand[Tensor] = among(FLOATS)
    delta: Operand[Tensor] = among(FLOATS)
    captures: Operands[Tensor]
    scale: Attr[float]
    score: Region
    pull: Region
    gradients: Results[Tensor]

    @staticmethod
    def infer(query: Tensor, key: Tensor, value: Tensor, pull: Block) -> tuple[Type, ...]:
        return (query, key, value, *yielded("pull", pull)[1:])

    def check(self) -> None:
        query, key, value = self.query.type, self.key.type, self.value.type
        check_operands(query, key, value)
        rows = Tensor(query.shape[:3], query.dtype.accumulator)
        for name in ("log_sum_exp", "rest", "delta"):
            each = getattr(self, name)
            require(each.type is rows, f"{name} is {each.type}, expected {rows}")
        output = Tensor((*query.shape[:3], value.shape[3]), value.dtype)
        require(self.cotangent.type is output, f"the cotangent is no {output}")
        scores = Tensor((*query.shape[:3], key.shape[2]), rows.dtype)
        captures = tuple([each.type for each in self.captures])
        check_takes("score", self.score, (scores, *captures))
        check_yields("score", self.score, (scores,))
        check_takes("pull", self.pull, (scores, *captures, scores))
        check_yields("pull", self.pull, (scores, *yielded("pull", self.pull)[1:]))
        check_pure("score", self.score)
        check_pure("pull", self.pull)

    fold = Op.fold  # a region runs in a frame, and folding has none

    def run(self, frame: Any, *operands: Array) -> tuple[Array, ...]:
        named = zip((self.query, self.key, self.value), operands[:3], strict=True)
        query, key, value = [widened(each, of.dtype) for of, each in named]
        log_sum_exp, rest, cotangent, delta, *captures = operands[3:]
        cotangent = widened(cotangent, self.value.dtype)
        groups, wide = key.shape[1], self.delta.dtype
        key, value = shared(key, query.shape[1]), shared(value, query.shape[1])
        scale = wide.storage.type(self.scale)
        scaled = contraction(query, key, batch=BATCH, summed=((3,), (3,))) * scale
        (scored,) = frame.run(self.score, (scaled, *captures))
        weights = np.exp(scored - _shift(log_sum_exp)[..., None] - rest[..., None])
        pulled = contraction(cotangent, value, batch=BATCH, summed=((3,), (3,)))
        change = weights * (pulled - delta[..., None])
        scores, *others = frame.run(self.pull, (scaled, *captures, change))
        scores = scores * scale
        made = (
            contraction(scores, key, batch=BATCH, summed=((3,), (2,))),
            _together(contraction(scores, query, batch=BATCH, summed=((2,), (2,))), groups),
            _together(contraction(weights, cotangent, batch=BATCH, summed=((2,), (2,))), groups),
        )
        pairs = zip(made, self.gradients, strict=False)
        return (*[stored(each, of.dtype) for each, of in pairs], *others)


def _shift(log_sum_exp: Array) -> Array:
    """The log-sum-exp, with 0 for rows that attend to nothing: all their scores are -inf."""
    return np.where(log_sum_exp == -np.inf, 0, log_sum_exp).astype(log_sum_exp.dtype)


def _together(gradients: Array, groups: int) -> Array:
    """The sum over the heads that share one of so many."""
    batch, heads, *rest = gradients.shape
    return gradients.reshape(batch, groups, heads // max(groups, 1), *rest).sum(axis=2)
