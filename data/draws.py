"""Random numbers of which nothing is kept: each draw is a function of its seeds.

Comes in: how many, and seeds: what a user chose, the epoch, the place. Goes out: numpy arrays.
Never: numpy's own shuffles, which a new version of numpy may change: only the bits of its Philox,
which it promises to keep.
"""

from typing import Any

import numpy as np


def bits(*seeds: int) -> Any:
    """The source of bits that belongs to these seeds."""
    # How many there are is a seed, too: else those that end in zeros would not differ.
    return np.random.Philox(np.random.SeedSequence((len(seeds), *seeds)))


def permutation(count: int, *seeds: int) -> Any:
    """The integers below `count`, in an order that the seeds decide."""
    return np.argsort(bits(*seeds).random_raw(count), kind="stable")


def uniforms(count: int, *seeds: int) -> Any:
    """Numbers from 0 to 1 without 1, as doubles."""
    return (bits(*seeds).random_raw(count) >> np.uint64(11)) * 2.0**-53


def below(most: int, count: int, *seeds: int) -> Any:
    """`count` integers below `most`."""
    return (uniforms(count, *seeds) * most).astype(np.int64)
