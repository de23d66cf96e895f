"""Sorting the lines of tiles.

Comes in: tiles of one shape. Goes out: the same tiles, each line along the axis in the order of the
keys; lines of equal keys keep their order.
Never: more than a tile; a longer sort is several stages of a schedule.
"""

from typing import Any

import numpy as np

from ..declare import Attr, Operands, Results, among
from ..dtypes import ORDERED
from ..errors import require
from ..payloads import Array
from ..tensor.sort import sort_key
from ..types import Tile
from .base import VALUES, TileOp, check_axis, handed_back


class Sort(TileOp, name="tile.sort"):
    """The tiles, ordered along `axis` by the first `keys` of them, the first key counting most.

    NaN comes after every number, ascending and descending; the two zeros are equal.
    """

    values: Operands[Tile] = among(VALUES)
    axis: Attr[int]
    keys: Attr[int] = 1
    descending: Attr[bool] = False
    ordered: Results[Tile]

    @staticmethod
    def infer(values: tuple[Tile, ...], axis: int, keys: int) -> tuple[Tile, ...]:
        wanted = f"keys is {keys}, expected 1 to {len(values)}, the number of tiles"
        require(1 <= keys <= len(values), wanted)
        check_axis(axis, values[0])
        for each in values:
            require(each.shape == values[0].shape, "the shapes differ", values[0], each)
        for each in values[:keys]:
            require(each.dtype in ORDERED, "a key is of a dtype that has no order", each)
        return values

    def run(self, frame: Any, *operands: Array) -> Any:
        keys = [sort_key(key, self.descending) for key in reversed(operands[: self.keys])]
        places = np.lexsort(keys, axis=self.axis)
        return handed_back(tuple(np.take_along_axis(each, places, self.axis) for each in operands))
