"""Random bits by counting, the same that the tensor floor makes.

Comes in: a key of two words, and which words of its stream are wanted. Goes out: those words.
Never: state; a word depends on the key and its place in the stream alone, so tiles may be cut
anyhow.
"""

from typing import Any

import numpy as np

from ..declare import Operand, Result, among, shaped_as
from ..dtypes import INTEGERS, u32
from ..payloads import Array
from ..tensor.random import WORD, philox
from ..types import Scalar, Tile
from .base import TileOp


class RandomBits(TileOp, name="tile.random_bits"):
    """For each `index`, as an unsigned 64-bit number, that word of the stream of the key."""

    low_key: Operand[Scalar] = among({u32})
    high_key: Operand[Scalar] = among({u32})
    index: Operand[Tile] = among(INTEGERS)
    result: Result[Tile] = shaped_as("index", u32)

    def run(self, frame: Any, low_key: Array, high_key: Array, index: Array) -> Array:
        places = index.astype(np.uint64)
        block, zero = places >> 2, np.zeros_like(places)
        counter = np.stack([block & WORD, block >> 32, zero, zero], axis=-1)
        words = philox(counter, np.stack([low_key, high_key]))
        wanted = (places & 3).astype(np.int64)[..., None]
        return np.take_along_axis(words, wanted, axis=-1)[..., 0]
