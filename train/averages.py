"""Averages of models: what they were over many steps, which often is better than the last one.

Comes in: a model after each step. Goes out: a tree of the same containers, whose floats are
averages in float32 at least, and whose other leaves are the last model's.
Never: a change of the model itself.
"""

from dataclasses import dataclass
from typing import Any

from .. import asarray, int32, minimum
from ..frontend.paths import aligned
from ..frontend.tree import flatten, register
from .checks import expect_decays
from .optimisers.optimiser import device_of, is_trainable, widened


@dataclass(frozen=True)
class AverageState:
    """The average of so many models."""

    step: Any
    model: Any


@dataclass(frozen=True)
class EMA:
    """A running average: `decay` of the average before, the rest of the new model.

    With `warm`, the average of n models keeps (1 + n) / (10 + n) of itself while that is less, so
    that the first, random model is soon forgotten.
    """

    decay: float = 0.999
    warm: bool = False

    def __post_init__(self) -> None:
        expect_decays(self, decay=self.decay)

    def initial(self, model: Any) -> AverageState:
        """The average before the first step: the model itself, in memory of its own."""
        leaves, structure = flatten(model)
        kept = [widened(each) + 0.0 if is_trainable(each) else each for each in leaves]
        step = asarray(0, dtype=int32, device=device_of(leaves))
        return AverageState(step, structure.build(kept))

    def update(self, model: Any, state: AverageState) -> AverageState:
        """The average with one more model."""
        leaves, structure = flatten(model)
        before = aligned("EMA.update", structure, state.model)
        pairs = zip(leaves, before, strict=True)
        after = [self._mixed(new, old, state.step) for new, old in pairs]
        return AverageState(state.step + 1, structure.build(after))

    def averaged(self, model: Any, state: AverageState) -> Any:
        """The average in the dtypes of the model."""
        leaves, structure = flatten(model)
        before = aligned("EMA.averaged", structure, state.model)
        pairs = zip(leaves, before, strict=True)
        return structure.build(
            [old.astype(new.dtype) if is_trainable(new) else old for new, old in pairs]
        )

    def _mixed(self, new: Any, old: Any, step: Any) -> Any:
        """The average of a leaf: `old` where it is a float, else the new one."""
        if not is_trainable(new):
            return new
        decay: Any = self.decay
        if self.warm:
            count = step.astype(old.dtype)
            decay = minimum((1.0 + count) / (10.0 + count), decay)
        return old + (1.0 - decay) * (new.astype(old.dtype) - old)


register(EMA, lambda average: ((), average), lambda average, _: average)
