"""Groups: one optimiser for some leaves of a model, others for the rest.

Comes in: rules, each a regular expression that is searched in the path of a leaf, or a function of
path and leaf. Goes out: an optimiser whose state holds one state for each group.
Never: a leaf in two groups; the first rule that fits decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ... import Tensor
from ...frontend.errors import ArgumentError, fail, shown
from ...frontend.paths import aligned, paths_of
from ...frontend.tree import flatten
from .optimiser import Optimiser

Rule = str | Callable[[str, Any], bool]


@dataclass(frozen=True, init=False)
class Groups(Optimiser):
    """`Groups({"bias|norm": AdamW(weight_decay=0), is_matrix: Muon()}, AdamW())`.

    Leaves for which no rule fits go by `default`; without one they stay as they are.
    """

    groups: tuple[tuple[Rule, Optimiser], ...]
    default: Optimiser | None

    def __init__(self, groups: Mapping[Rule, Optimiser], default: Optimiser | None = None) -> None:
        if not isinstance(groups, Mapping):
            problem = f"groups are a mapping of rules to optimisers, not {shown(groups)}"
            fail(ArgumentError, "Groups", problem)
        for rule, optimiser in groups.items():
            _expect_rule(rule)
            _expect_optimiser(optimiser)
        if default is not None:
            _expect_optimiser(default)
        object.__setattr__(self, "groups", tuple(groups.items()))
        object.__setattr__(self, "default", default)

    @property
    def optimisers(self) -> list[Optimiser]:
        """The optimiser of each group, the default's last."""
        every = [optimiser for _, optimiser in self.groups]
        return every if self.default is None else [*every, self.default]

    def initial(self, model: Any) -> tuple[Any, ...]:
        """The state of each group before the first step."""
        leaves, structure = flatten(model)
        numbers = self._numbers(leaves, paths_of(structure))
        return tuple(
            optimiser.initial(structure.build(_of_group(leaves, numbers, number)))
            for number, optimiser in enumerate(self.optimisers)
        )

    def update(
        self, model: Any, gradients: Any, state: tuple[Any, ...], *, scale: Any = 1.0
    ) -> tuple[Any, tuple[Any, ...]]:
        """The next model and states; `scale`, a number or tensor, multiplies the rates."""
        leaves, structure = flatten(model)
        given = aligned(structure, gradients, "Groups.update")
        numbers = self._numbers(leaves, paths_of(structure))
        states: list[Any] = []
        for number, (optimiser, before) in enumerate(zip(self.optimisers, state, strict=True)):
            slopes = structure.build(_of_group(given, numbers, number))
            model, after = optimiser.update(model, slopes, before, scale=scale)
            states.append(after)
        return model, tuple(states)

    def rate(self, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """The rate of the next step of each group."""
        return tuple(
            optimiser.rate(each) for optimiser, each in zip(self.optimisers, state, strict=True)
        )

    def _numbers(self, leaves: list[Any], paths: Sequence[str]) -> list[int]:
        """For each leaf the number of its group."""
        return [self._number(path, leaf) for path, leaf in zip(paths, leaves, strict=True)]

    def _number(self, path: str, leaf: Any) -> int:
        fits = (place for place, (rule, _) in enumerate(self.groups) if _fits(rule, path, leaf))
        return next(fits, len(self.groups))


def is_matrix(path: str, leaf: Any) -> bool:
    """Whether a leaf has two axes or more: a rule for `Groups`."""
    return isinstance(leaf, Tensor) and leaf.ndim >= 2


def _fits(rule: Rule, path: str, leaf: Any) -> bool:
    if isinstance(rule, str):
        return re.search(rule, path) is not None
    return rule(path, leaf)


def _of_group(leaves: list[Any], numbers: list[int], number: int) -> list[Any]:
    """The leaves of one group, None in the place of the others."""
    pairs = zip(leaves, numbers, strict=True)
    return [leaf if group == number else None for leaf, group in pairs]


def _expect_rule(rule: Any) -> None:
    if isinstance(rule, str):
        try:
            re.compile(rule)
        except re.error as problem:
            fail(ArgumentError, "Groups", f"a rule is no regular expression: {problem}", rule)
    elif not callable(rule):
        problem = "a rule is a regular expression, or a function of path and leaf"
        fail(ArgumentError, "Groups", problem, rule)


def _expect_optimiser(optimiser: Any) -> None:
    if not isinstance(optimiser, Optimiser):
        problem = f"expected an optimiser, got {type(optimiser).__name__}"
        fail(ArgumentError, "Groups", problem, optimiser)
