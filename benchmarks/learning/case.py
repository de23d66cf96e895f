"""A model that learns in both libraries: what it is, what it sees, and what a step computes.

Comes in: sizes, in each model's own file. Goes out: a `Case`, of which rows, curves and profiles
are made.
Never: a number that is drawn twice: both libraries begin with the same weights and see the same
batches. For the same reason nothing is dropped at random.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Batch = tuple[np.ndarray, np.ndarray]
"""What a model is given, and the numbers of the classes that it is to find."""

MATMUL, UPDATING = "matmul", "matmul and update"
CONVOLUTION, ATTENTION = "convolution", "attention"


@dataclass(frozen=True)
class Case:
    """A model that gives scores of classes, and learns by AdamW and their cross-entropy.

    `ours` and `peer` make it, in Brimstone and in PyTorch, with parameters of the same names.
    `operations` are those of a step, by the kind of kernel that does them: products that give
    gradients of weights are `UPDATING`.
    """

    name: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    batches: Callable[[], Iterator[Batch]]
    operations: Mapping[str, int]
    rate: float = 1e-3

    @cached_property
    def weights(self) -> dict[str, np.ndarray]:
        """What both begin with."""
        return {name: weight.numpy() for name, weight in self.ours().state_dict().items()}
