"""The canonical order in which many numbers become one.

Comes in: rows to combine. Goes out: one row. While there are n > 1 rows, let h be the greatest
power of two below n: row i takes in row i + h for each i < n - h, and the first h rows stay. So
eight rows combine as ((0,4), (2,6)), ((1,5), (3,7)): what a machine does by halving a vector, and
what lanes do by exchanging with their neighbour at distance 4, 2, 1.
Never: a rounding before the end; narrow floats are combined in f32.
"""

import numpy as np

from ..dtypes import DType
from ..interpreter.arrays import stored, widened
from ..payloads import Array
from .kinds import ReduceKind, binary_of, meaning_of


def reduce_tree(kind: ReduceKind, dtype: DType, rows: Array) -> Array:
    """The rows (along the first axis) of `dtype` combined, rounded once."""
    combine = meaning_of(binary_of(kind))
    rows = widened(rows, dtype)
    while len(rows) > 1:
        half = 1 << ((len(rows) - 1).bit_length() - 1)
        upper = rows[half:]
        rows = np.concatenate([combine(rows[: len(upper)], upper), rows[len(upper) : half]])
    return stored(rows[0], dtype)
