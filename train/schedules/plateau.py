"""A rate that falls when a metric no longer gets better.

Comes in: the metric, a number of the host, as often as it is measured. Goes out: a state whose
`scale` an update takes: `optimiser.update(model, gradients, state, scale=plateau.scale)`. A Learner
does all of that: `Learner(..., plateau=Plateau())`.
Never: a tensor of a compiled step; what depends on results is decided between steps.
"""

from dataclasses import dataclass, replace
from math import inf

from ..checks import expect_among, expect_at_least, expect_decays, expect_positive, expect_whole


@dataclass(frozen=True)
class PlateauState:
    """What the rate is multiplied by, the best metric, and for how long there was none better."""

    scale: float
    best: float
    waited: int = 0
    cooling: int = 0


@dataclass(frozen=True)
class Plateau:
    """Multiplies the rate by `factor` when more than `patience` measurements brought nothing.

    Better is what is lower (`mode` "min") or higher ("max") than the best by more than `threshold`,
    counted relative to the best ("rel") or not ("abs"). After a fall, `cooldown` measurements do
    not count. The scale does not fall below `minimum`. `value` is what a Learner measures it by,
    after each epoch.
    """

    mode: str = "min"
    factor: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    threshold_mode: str = "rel"
    cooldown: int = 0
    minimum: float = 0.0
    value: str = "valid.loss"

    def __post_init__(self) -> None:
        expect_among(self, ("min", "max"), mode=self.mode)
        expect_among(self, ("rel", "abs"), threshold_mode=self.threshold_mode)
        expect_positive(self, factor=self.factor)
        expect_decays(self, factor=self.factor)
        expect_whole(self, 0, patience=self.patience, cooldown=self.cooldown)
        expect_at_least(self, 0, threshold=self.threshold, minimum=self.minimum)

    def initial(self) -> PlateauState:
        """The state before the first measurement."""
        return PlateauState(1.0, inf if self.mode == "min" else -inf)

    def update(self, metric: float, state: PlateauState) -> PlateauState:
        """The state after one more measurement."""
        value = float(metric)
        best, waited = state.best, state.waited + 1
        if self._is_better(value, best):
            best, waited = value, 0
        if state.cooling:
            waited = 0
        after = PlateauState(state.scale, best, waited, max(0, state.cooling - 1))
        if waited <= self.patience:
            return after
        scale = max(state.scale * self.factor, self.minimum)
        return replace(after, scale=scale, waited=0, cooling=self.cooldown)

    def _is_better(self, value: float, best: float) -> bool:
        """Whether a metric is better than the best by more than the threshold; NaN never is."""
        change = -self.threshold if self.mode == "min" else self.threshold
        bar = best * (1 + change) if self.threshold_mode == "rel" else best + change
        return value < bar if self.mode == "min" else value > bar
