"""Scaling of losses, so that small gradients survive half precision.

Comes in: a `Scale`, and whether the gradients of a step are finite. Goes out: the next one: twice
as large after many good steps, half after a bad one.
Never: a gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..frontend.functions.creation import asarray
from ..frontend.functions.elementwise import maximum, minimum
from ..frontend.functions.logic import logical_and, where
from ..frontend.tensor import Tensor

FIRST, LEAST, MOST = 2.0**16, 1.0, 2.0**24
PATIENCE = 2000
"""After how many good steps in a row the scale grows."""


@dataclass(frozen=True)
class Scale:
    """What losses are multiplied by, and how many steps in a row were good."""

    value: Tensor
    good: Tensor

    @staticmethod
    def initial(device: Any = None) -> Scale:
        """The scale of the first step."""
        first = asarray(FIRST, dtype="float32", device=device)
        return Scale(first, asarray(0, device=device))

    def after(self, finite: Any) -> Scale:
        """The scale of the next step."""
        grows = logical_and(finite, self.good + 1 >= PATIENCE)
        larger = where(grows, minimum(self.value * 2.0, MOST), self.value)
        value = where(finite, larger, maximum(self.value * 0.5, LEAST))
        good = where(logical_and(finite, ~grows), self.good + 1, 0)
        return Scale(value, good)
