"""Keys of random numbers: what a seed gives, how keys multiply, and the default generator.

Comes in: seeds, keys of two words, counts. Goes out: keys. A key is a plain tensor, so the same
numbers come out on every device, however the work is cut.
Never: a key baked into a compiled step: the default generator's keys are hidden arguments.
"""

from __future__ import annotations

from itertools import count
from operator import index
from typing import Any

import numpy as np

from ..ir import dtypes as ir
from ..ir import tensor as ops
from ..ir.tensor.random import philox_words
from ..ir.types import Tensor as TensorType
from ..runtime.device import current_device
from .errors import ArgumentError, fail
from .node import Node, constant, leaf, record
from .trace import Trace, current_trace

KEY = TensorType((2,), ir.u32)
_WORD = 0xFFFFFFFF


def _checked(seed: Any) -> int:
    """A seed, which is an integer of any library."""
    try:
        return index(seed)
    except TypeError:
        fail(ArgumentError, "manual_seed", f"a seed is an integer, not {type(seed).__name__}")


class Generator:
    """A source of keys: the next one is a function of the seed and of how many came before.

    It takes no lock, which a handler of signals would wait for where it had interrupted its owner.
    One that has `given` so many goes on behind them.
    """

    def __init__(self, seed: int = 0, given: int = 0) -> None:
        self._state = _checked(seed), count(given)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy goes on where this one is, on its own."""
        seed, numbers = self._state
        given = repr(numbers).removeprefix("count(").removesuffix(")")  # all that a counter tells
        return Generator, (seed, int(given))

    @property
    def seed(self) -> int:
        """What it began from."""
        return self._state[0]

    def manual_seed(self, seed: int) -> Generator:
        """Begin again, from another seed."""
        self._state = _checked(seed), count()
        return self

    def next_words(self) -> Any:
        """The two words of the next key, on the host."""
        seed, numbers = self._state
        number = next(numbers)
        words = philox_words((number & _WORD, number >> 32, 1, 0), words_of(seed))
        return np.array(words[:2], np.uint32)

    def next_key(self) -> Node:
        """The next key, as a leaf: an argument of whatever step reads it."""
        device = current_device()
        return leaf(device.target.upload(self.next_words()), KEY, device)


def words_of(seed: int) -> Any:
    """A seed of any size as two words."""
    return np.array([seed & _WORD, (seed >> 32) & _WORD], np.uint32)


DEFAULT = Generator()


def draw_key(generator: Generator | None = None) -> Node:
    """A key that nobody has had: of the generator, or of the function being compiled.

    Inside a loop or a vmap it differs from step to step, and from element to element.
    """
    between: list[Trace] = []
    current = current_trace()
    while current is not None and current.hidden_key is None:
        between.append(current)
        current = current.outer
    if current is None or current.hidden_key is None:
        key = (generator or DEFAULT).next_key()
    else:
        current.draws += 1
        key = fold_in(current.hidden_key(), constant(current.draws, ir.i64))
    return _told_apart(key, between)


def each_time(key: Node, known: Trace | None) -> Node:
    """A key that was known where the function `known` was traced, as another one at each step of a
    loop, and for each element of a vmap, in it."""
    between: list[Trace] = []
    current = current_trace()
    while current is not None and current is not known:
        between.append(current)
        current = current.outer
    return _told_apart(key, between)


def _told_apart(key: Node, between: list[Trace]) -> Node:
    """A key with the counts of the functions that it is used in, the innermost first."""
    for each in reversed(between):
        if each.make_index is not None:
            key = fold_in(key, each.make_index())
    return key


def fold_in(key: Node, number: Node) -> Node:
    """Another key for each integer."""
    mixed = record(ops.RandomBits, (key,), ((2,), 0))
    wide = record(ops.Cast, (number,), (ir.u64,))
    words = [wide, record(ops.ShiftRight, (wide, constant(32, ir.u64)))]
    parts = [
        record(ops.Reshape, (record(ops.Cast, (word,), (ir.u32,)),), ((1,),)) for word in words
    ]
    stirred = record(ops.BitXor, (mixed, record(ops.Concat, tuple(parts), (0,))))
    return record(ops.RandomBits, (stirred,), ((2,), 0))
