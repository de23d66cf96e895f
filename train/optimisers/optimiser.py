"""What optimisers have in common: settings that say how one leaf changes, applied to a tree.

Comes in: a model, gradients of the same containers with None for what is not trained, a state. Goes
out: the next model and state. An update is a pure function, to be called in a compiled step.
Never: a branch on a value of a tensor, or a change of a leaf without a gradient: it stays the same
object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Any, NamedTuple, Self

from ... import Tensor, asarray, expm1, float32, int32, isdtype, result_type, sqrt
from ...frontend.elsewhere import OF_OPTIMISERS, tell
from ...frontend.errors import ArgumentError, DTypeError, ShapeError, fail
from ...frontend.paths import aligned, constants_of, paths_of
from ...frontend.tree import Structure, flatten, register
from ..schedules.schedule import Rate, rate_at

Slots = dict[str, Tensor]
"""What an optimiser remembers of one leaf."""


@dataclass(frozen=True)
class OptimiserState:
    """What an optimiser remembers: the steps made, and for each slot a tree like the model's."""

    step: Any
    slots: dict[str, Any]


class Now(NamedTuple):
    """The step that is being made, in the dtype of a leaf's arithmetic: its number, the rate."""

    step: Any
    rate: Any

    def corrected(self, decay: float) -> Any:
        """1 - decay ** step, which is what an average that began at 0 has gathered so far."""
        return gathered(decay, self.step)


class Optimiser:
    """Settings that say how a leaf changes: a class of them adds `first` and `leaf`."""

    lr: Rate
    maximize: bool = False

    def __new__(cls, *given: Any, **settings: Any) -> Self:
        """Settings alone, and no parameters, which other libraries' optimisers are given."""
        if given and _has_parameters(given[0]):
            hint = f"`train.{cls.__name__}(lr=...)` is given to a `train.Learner`, with a loss"
            problem = "an optimiser is settings; it gets the model with each `update`"
            fail(ArgumentError, cls.__name__, problem, hint=hint)
        return super().__new__(cls)

    def first(self, parameter: Tensor) -> Slots:
        """What is remembered of a leaf before the first step."""
        return {}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and what is remembered of it."""
        raise NotImplementedError

    def initial(self, model: Any) -> OptimiserState:
        """The state before the first step; what is not trained has no slots."""
        leaves, structure = flatten(model)
        trained = trained_places(leaves, structure)
        rows = {at: self.first(widened(leaves[at])) for at in trained}
        slots: dict[str, Any] = {}
        for name in dict.fromkeys(name for row in rows.values() for name in row):
            column = [rows.get(at, {}).get(name) for at in range(len(leaves))]
            slots[name] = structure.build(column)
        return OptimiserState(asarray(0, dtype=int32, device=device_of(leaves)), slots)

    def update(
        self, model: Any, gradients: Any, state: OptimiserState, *, scale: Any = 1.0
    ) -> tuple[Any, OptimiserState]:
        """The next model and state; `scale`, a number or tensor, multiplies the rate."""
        operation = f"{type(self).__name__}.update"
        if not isinstance(state, OptimiserState):
            problem = f"the state is {type(state).__name__}, expected what `initial(model)` gives"
            fail(ArgumentError, operation, problem)
        leaves, structure = flatten(model)
        given = aligned(structure, gradients, operation)
        check_gradients(operation, paths_of(structure), leaves, given)
        slots = {name: aligned(structure, tree, operation) for name, tree in state.slots.items()}
        now = self._clock(state.step, scale)
        for place, (parameter, gradient) in enumerate(zip(leaves, given, strict=True)):
            if gradient is None:
                continue
            wide = widened(parameter)
            slope = gradient.astype(wide.dtype)
            kept = _slots_at(operation, slots, place, structure)
            slope = -slope if self.maximize else slope
            try:
                made, kept = self.leaf(wide, slope, kept, now(wide.dtype))
            except KeyError as missing:
                problem = f"the state has no {missing}: another optimiser made it"
                fail(ArgumentError, operation, problem, hint="begin with that of `initial`")
            leaves[place] = made.astype(parameter.dtype)
            for name, value in kept.items():
                slots[name][place] = value
        trees = {name: structure.build(column) for name, column in slots.items()}
        return structure.build(leaves), OptimiserState(state.step + 1, trees)

    def rate(self, state: OptimiserState) -> Any:
        """The rate of the next step."""
        return rate_at(self.lr, state.step)

    def _clock(self, step: Tensor, scale: Any) -> Callable[[Any], Now]:
        """For each dtype the number of the next step and its rate, computed once."""

        @cache
        def now(dtype: Any) -> Now:
            share = scale.astype(dtype) if isinstance(scale, Tensor) else scale
            rate = rate_at(self.lr, step.astype(dtype)) * share
            narrow = isinstance(rate, Tensor)
            return Now((step + 1).astype(dtype), rate.astype(dtype) if narrow else rate)

        return now


tell(Optimiser, OF_OPTIMISERS)


def _has_parameters(given: Any) -> bool:
    """Whether something is a model, or a container of tensors."""
    inside = given.values() if isinstance(given, dict) else given
    are_many = isinstance(given, dict | list | tuple)
    return hasattr(given, "params") or (are_many and any([isinstance(x, Tensor) for x in inside]))


# Settings are a part of a tree's structure: to a compiled function they are no arguments.
register(Optimiser, lambda optimiser: ((), optimiser), lambda optimiser, _: optimiser)


def is_trainable(leaf: Any) -> bool:
    """Whether a leaf is a tensor of real floats."""
    return isinstance(leaf, Tensor) and isdtype(leaf.dtype, "real floating")


def trained_places(leaves: list[Any], structure: Structure) -> list[int]:
    """The numbers of the leaves that are trained: of floats, and neither buffers nor frozen."""
    constant = constants_of(structure)
    return [at for at, leaf in enumerate(leaves) if is_trainable(leaf) and at not in constant]


def widened(leaf: Tensor) -> Tensor:
    """A leaf in the dtype that it is computed with: float32 at least."""
    return leaf.astype(result_type(leaf.dtype, float32), copy=False)


def norm(leaf: Tensor) -> Tensor:
    """The length of a leaf as a vector."""
    return sqrt((leaf * leaf).sum())


def device_of(leaves: list[Any]) -> Any:
    """The device of the first tensor."""
    return next((leaf.device for leaf in leaves if isinstance(leaf, Tensor)), None)


def gathered(decay: float, step: Any) -> Any:
    """1 - decay ** step; the difference is small at first, and would be inexact in float32."""
    return -expm1(step * log(decay)) if decay else 1.0


def _slots_at(
    operation: str, slots: dict[str, list[Any]], place: int, structure: Structure
) -> Slots:
    """What is remembered of the leaf at a place."""
    found = {name: column[place] for name, column in slots.items() if column[place] is not None}
    if slots and not found:
        path = paths_of(structure)[place]
        fail(
            ArgumentError, operation, f"{path or 'the model'} has a gradient and no state",
            hint="what is trained from now on needs a new state, of `initial`",
        )  # fmt: skip
    return found


def check_gradients(
    operation: str, paths: Sequence[str], leaves: list[Any], gradients: list[Any]
) -> None:
    """Refuse gradients of what cannot be trained, or of other shapes."""
    for path, leaf, gradient in zip(paths, leaves, gradients, strict=True):
        if gradient is None:
            continue
        if not is_trainable(leaf):
            fail(
                DTypeError, operation, f"{path or 'the model'} is not of real floats", leaf,
                hint="give None in the place of its gradient",
            )  # fmt: skip
        if not isinstance(gradient, Tensor):
            problem = f"the gradient of {path or 'the model'} is no tensor"
            fail(ArgumentError, operation, problem, gradient)
        if not _are_alike(leaf, gradient):
            problem = f"the gradient of {path or 'the model'} has another shape"
            fail(ShapeError, operation, problem, leaf, gradient)


def _are_alike(leaf: Tensor, gradient: Tensor) -> bool:
    """Whether two tensors have one shape; open sizes are looked at only if need be."""
    same = leaf.node.type.shape == gradient.node.type.shape
    return same or tuple(leaf.shape) == tuple(gradient.shape)
