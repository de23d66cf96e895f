"""Attention: softmax(query · keyᵀ) · value, with any pure change of the scores in between.

Comes in: queries of H heads; keys and values of G heads, each shared by H / G neighbours among
those of the queries. Goes out: the output and, for its transpose, the log-sum-exp of each row, as
two numbers: where all scores are far from 0, what the first is rounded by is as large as weights.
Never: a mask, a bias or a cap of its own: those are the region's, which sees all scores.
"""

from typing import Any

import numpy as np

from ..declare import Attr, Op, Operand, Operands, Region, Result, among
from ..dims import Size
from ..dtypes import FLOATS
from ..errors import require
from ..interpreter.arrays import stored, widened
from ..payloads import Array
from ..shared.regions import check_pure, check_takes, check_yields
from ..types import Tensor
from ..values import Block
from .base import TensorOp
from .contract import contraction


class Attention(TensorOp, name="tensor.attention"):
    """softmax(score(scale * query · keyᵀ, captures)) · value, and the log-sum-exp of the scores.

    Scores and sums are f32 (f64 for f64), and the output is rounded once. A row whose scores are
    all -inf attends to nothing: its output is 0 and its log-sum-exp -inf. What rounding has taken
    from the log-sum-exp is the `rest`, by which there is no derivative: but for rounding it is 0.
    """

    query: Operand[Tensor] = among(FLOATS)
    key: Operand[Tensor] = among(FLOATS)
    value: Operand[Tensor] = among(FLOATS)
    captures: Operands[Tensor]
    scale: Attr[float]
    score: Region
    output: Result[Tensor]
    log_sum_exp: Result[Tensor]
    rest: Result[Tensor]

    @staticmethod
    def infer(
        query: Tensor, key: Tensor, value: Tensor, captures: tuple[Tensor, ...], score: Block
    ) -> tuple[Tensor, ...]:
        check_operands(query, key, value)
        batch, heads, rows, _ = query.shape
        scores = Tensor((batch, heads, rows, key.shape[2]), query.dtype.accumulator)
        check_takes("score", score, (scores, *captures))
        check_yields("score", score, (scores,))
        check_pure("score", score)
        output = Tensor((batch, heads, rows, value.shape[3]), value.dtype)
        row = Tensor((batch, heads, rows), scores.dtype)
        return output, row, row

    fold = Op.fold  # a region runs in a frame, and folding has none

    def run(self, frame: Any, *operands: Array) -> tuple[Array, ...]:
        query, key, value, *captures = operands
        wide = self.log_sum_exp.dtype
        query = widened(query, self.query.dtype)
        key = shared(widened(key, self.key.dtype), query.shape[1])
        value = shared(widened(value, self.value.dtype), query.shape[1])
        scores = contraction(query, key, batch=((0, 1), (0, 1)), summed=((3,), (3,)))
        scaled = scores * wide.storage.type(self.scale)
        (scored,) = frame.run(self.score, (scaled, *captures))
        weights, sums, *rows = _softmax(np.ascontiguousarray(scored))
        totals = contraction(weights, value, batch=((0, 1), (0, 1)), summed=((3,), (2,)))
        nothing = sums == 0
        output = np.where(nothing, 0, totals / np.where(nothing, 1, sums))
        return stored(output, self.value.dtype), *[stored(row, wide) for row in rows]


def check_operands(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse all but [B, H, T, D], [B, G, S, D] and [B, G, S, E], of dtypes that go together."""
    for name, each in (("query", query), ("key", key), ("value", value)):
        require(each.rank == 4, f"{name} is {each}, expected a tensor of rank 4")
    require(query.dtype is key.dtype, f"query is of {query.dtype}, key of {key.dtype}")
    require(
        value.dtype.accumulator is query.dtype.accumulator,
        f"scores are of {query.dtype.accumulator}, which does not go with a value of {value.dtype}",
    )
    _require_same("batch", ("query", query.shape[0]), ("key", key.shape[0]))
    _require_same("batch", ("query", query.shape[0]), ("value", value.shape[0]))
    _require_same("number of heads", ("key", key.shape[1]), ("value", value.shape[1]))
    _require_same("length", ("key", key.shape[2]), ("value", value.shape[2]))
    _require_same("width", ("query", query.shape[3]), ("key", key.shape[3]))
    heads, groups = query.shape[1], key.shape[1]
    if isinstance(heads, int) and isinstance(groups, int):
        _check_groups(heads, groups)


def _require_same(what: str, left: tuple[str, Size], right: tuple[str, Size]) -> None:
    require(
        left[1] == right[1], f"the {what} of {left[0]} is {left[1]}, that of {right[0]} {right[1]}"
    )


def _check_groups(heads: int, groups: int) -> None:
    shared = heads % groups == 0 if groups else heads == 0
    require(shared, f"{heads} heads of query are no multiple of {groups} heads of key")


def shared(x: Array, heads: int) -> Array:
    """Keys or values with each head repeated for the heads of queries that share it."""
    groups = x.shape[1]
    _check_groups(heads, groups)
    return np.repeat(x, heads // max(groups, 1), axis=1)


def _softmax(scores: Array) -> tuple[Array, ...]:
    """exp(score - largest), the sums of these (with an axis of size 1), log-sum-exp and rest."""
    largest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    shift = np.where(largest == -np.inf, 0, largest).astype(scores.dtype)
    weights = np.exp(scores - shift)
    sums = np.sum(weights, axis=-1, keepdims=True)
    logarithm = np.log(sums)
    log_sum_exp = shift + logarithm
    rest = np.where(sums == 0, 0, (shift - log_sum_exp) + logarithm)
    return weights, sums, log_sum_exp[..., 0], rest[..., 0]
