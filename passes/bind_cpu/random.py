"""Random bits by counting: Philox 4x32-10 of Salmon et al. (2011), lane by lane.

Comes in: a key of two words, a tile of places. Goes out: the words of the stream at these places.
Never: state. Words are held in 64 bits, where the product of two of them fits.
"""

import numpy as np

from ...ir import loop, tile
from ...ir.dtypes import u32, u64
from ...ir.loop import BinaryKind, CompareKind
from ...ir.tensor.random import KEY_STEPS, MULTIPLIERS, ROUNDS, WORD
from ...ir.values import AnyValue
from .binding import Binding, Rules
from .emitter import Emitter
from .registers import Registers

Words = tuple[AnyValue, AnyValue, AnyValue, AnyValue]


class Lanes:
    """Arithmetic on u64 in each lane."""

    def __init__(self, emitter: Emitter, lanes: int) -> None:
        self.emitter, self.lanes = emitter, lanes

    def number(self, value: int) -> AnyValue:
        """A constant in every lane."""
        row = np.full(self.lanes if self.lanes > 1 else (), value, np.uint64)
        return self.emitter.constant(row, u64)

    def with_number(self, kind: BinaryKind, x: AnyValue, value: int) -> AnyValue:
        """kind(x, value)"""
        return self.emitter.binary(kind, x, self.number(value))

    def exclusive(self, first: AnyValue, *others: AnyValue) -> AnyValue:
        """The bits that are 1 in an odd number of these."""
        for other in others:
            first = self.emitter.binary(BinaryKind.BIT_XOR, first, other)
        return first

    def low(self, x: AnyValue) -> AnyValue:
        """The low word."""
        return self.with_number(BinaryKind.BIT_AND, x, WORD)

    def high(self, x: AnyValue) -> AnyValue:
        """The high word."""
        return self.with_number(BinaryKind.SHIFT_RIGHT, x, 32)


def bind_random_bits(binding: Binding, op: tile.RandomBits) -> Registers:
    """Each lane makes the block that its word is in, and keeps the word."""
    emitter, index = binding.emitter, binding.tile(op.index)
    lanes = Lanes(emitter, index.width)
    keys = [emitter.emit(loop.Cast, binding.scalar(key), dtype=u64) for key in op.operands[:2]]
    schedule = [_key_schedule(lanes, key, step) for key, step in zip(keys, KEY_STEPS, strict=True)]

    def words(part: AnyValue) -> AnyValue:
        place = emitter.emit(loop.Cast, part, dtype=u64)
        made = philox(lanes, lanes.with_number(BinaryKind.SHIFT_RIGHT, place, 2), schedule)
        chosen = _word(lanes, made, lanes.with_number(BinaryKind.BIT_AND, place, 3))
        return emitter.emit(loop.Cast, chosen, dtype=u32)

    return index.map(words)


def _key_schedule(lanes: Lanes, key: AnyValue, step: int) -> list[AnyValue]:
    """The key of each round."""
    scalars = Lanes(lanes.emitter, 1)
    keys = [
        scalars.low(scalars.with_number(BinaryKind.ADD, key, turn * step & WORD))
        for turn in range(ROUNDS)
    ]
    return [lanes.emitter.splat(each, lanes.lanes) for each in keys]


def philox(lanes: Lanes, block: AnyValue, schedule: list[list[AnyValue]]) -> Words:
    """The four words of a block."""
    zero = lanes.number(0)
    first, second, third, fourth = lanes.low(block), lanes.high(block), zero, zero
    for low_key, high_key in zip(*schedule, strict=True):
        left = lanes.with_number(BinaryKind.MULTIPLY, first, MULTIPLIERS[0])
        right = lanes.with_number(BinaryKind.MULTIPLY, third, MULTIPLIERS[1])
        first = lanes.exclusive(lanes.high(right), second, low_key)
        third = lanes.exclusive(lanes.high(left), fourth, high_key)
        second, fourth = lanes.low(right), lanes.low(left)
    return first, second, third, fourth


def _word(lanes: Lanes, words: Words, number: AnyValue) -> AnyValue:
    """The word of this number, 0 to 3, in each lane."""
    chosen = words[0]
    for at, word in enumerate(words[1:], 1):
        here = lanes.emitter.compare(CompareKind.EQUAL, number, lanes.number(at))
        chosen = lanes.emitter.emit(loop.Select, here, word, chosen)
    return chosen


RULES: Rules = {tile.RandomBits: bind_random_bits}
