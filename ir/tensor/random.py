"""Random bits by counting: Philox 4x32-10 of Salmon et al., "Parallel random numbers" (2011).

Comes in: a key of two words, or several keys. Goes out: words of a stream that is a function of the
key alone, so any part of it can be made anywhere, in any order.
Never: state. Distributions are made of these bits by the frontend.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..attributes import Shape
from ..builder import Builder
from ..declare import Attr, Operand, Result, among
from ..dims import Size, interval
from ..dtypes import u32
from ..errors import require
from ..payloads import Array
from ..types import Tensor
from .base import TensorOp, Values, rebuilt, shape_of, size_of
from .rules import no_tangent

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
WORD = 0xFFFFFFFF


class RandomBits(TensorOp, name="tensor.random_bits"):
    """Words `offset`, offset + 1, … of the key's stream, in row-major order.

    Several keys, along leading axes, make as many results, along the same axes.
    Word i is number i % 4 of the block at counter i // 4, a 64-bit number whose low half is the
    first word of Philox's counter and whose high half the second; the other two are 0.
    """

    random_key: Operand[Tensor] = among({u32})
    shape: Attr[Shape]
    offset: Attr[Size] = 0
    result: Result[Tensor]

    @staticmethod
    def infer(random_key: Tensor, shape: Shape, offset: Size) -> Tensor:
        one = Tensor((2,), u32)
        require(random_key.shape[-1:] == (2,), f"the key is {random_key}, expected {one}")
        require(interval(offset)[1] >= 0, "the offset is negative", offset)
        return Tensor((*random_key.shape[:-1], *shape), u32)

    jvp = no_tangent

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands)

    def run(self, frame: Any, *operands: Array) -> Array:
        (keys,) = operands
        shape, start = shape_of(frame, self.shape), size_of(frame, self.offset)
        require(start >= 0, "the offset is negative", start)
        bits = np.empty((*keys.shape[:-1], *shape), np.uint32)
        for place in np.ndindex(keys.shape[:-1]):
            bits[place] = stream(keys[place], start, math.prod(shape)).reshape(shape)
        return bits


def stream(key: Array, start: int, count: int) -> Array:
    """Words `start` to `start + count` of the stream of `key`."""
    first, stop = start // 4, -(-(start + count) // 4)
    block = np.arange(stop - first, dtype=np.uint64) + np.uint64(first)
    zero = np.zeros_like(block)
    words = philox(np.stack([block & WORD, block >> 32, zero, zero], axis=-1), key)
    return words.reshape(-1)[start % 4 :][:count]


def philox(counter: Array, key: Array) -> Array:
    """Four random words for each counter of four words, along the last axis."""
    words = philox_words(tuple(np.moveaxis(counter.astype(np.uint64), -1, 0)), key)
    return np.stack(words, axis=-1).astype(np.uint32)


def philox_words(counter: Sequence[Any], key: Iterable[Any]) -> tuple[Any, Any, Any, Any]:
    """The same of a counter of four integers, or of arrays of 64 bits with one word each."""
    first, second, third, fourth = counter
    low_key, high_key = (int(word) for word in key)
    for _ in range(ROUNDS):
        # Words are held in 64 bits, where the product of two of them fits.
        left, right = first * MULTIPLIERS[0], third * MULTIPLIERS[1]
        first, third = (right >> 32) ^ second ^ low_key, (left >> 32) ^ fourth ^ high_key
        second, fourth = right & WORD, left & WORD
        low_key, high_key = (low_key + KEY_STEPS[0]) & WORD, (high_key + KEY_STEPS[1]) & WORD
    return first, second, third, fourth
