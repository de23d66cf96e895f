"""Clipping: gradients kept from being too large.

Comes in: a tree of gradients, with None for what is not trained. Goes out: a tree of the same
containers, in which None is still None and every leaf has its dtype.
Never: a branch on a value; what is small enough is multiplied by 1.
"""

from dataclasses import dataclass
from typing import Any

from .. import Tensor, clip, float32, minimum, result_type, sqrt, tree_leaves, tree_map
from ..frontend.errors import ArgumentError, fail
from .checks import expect_positive

Limit = float | Tensor


@dataclass(frozen=True)
class ClipValue:
    """`clip_by_value` for the Learner."""

    value: float

    def __post_init__(self) -> None:
        expect_positive(self, value=self.value)

    def __call__(self, gradients: Any) -> Any:
        """The gradients, clipped."""
        return clip_by_value(gradients, self.value)


@dataclass(frozen=True)
class ClipNorm:
    """`clip_by_norm` for the Learner."""

    maximum: float

    def __post_init__(self) -> None:
        expect_positive(self, maximum=self.maximum)

    def __call__(self, gradients: Any) -> Any:
        """The gradients, clipped."""
        return clip_by_norm(gradients, self.maximum)


@dataclass(frozen=True)
class ClipGlobalNorm:
    """`clip_by_global_norm` for the Learner."""

    maximum: float

    def __post_init__(self) -> None:
        expect_positive(self, maximum=self.maximum)

    def __call__(self, gradients: Any) -> Any:
        """The gradients, clipped."""
        return clip_by_global_norm(gradients, self.maximum)[0]


def clip_by_value(gradients: Any, value: Limit) -> Any:
    """Every element brought between -value and value."""
    _expect_limit("clip_by_value", value)
    return tree_map(lambda leaf: _between(leaf, value), gradients)


def clip_by_norm(gradients: Any, maximum: Limit) -> Any:
    """Every leaf scaled so that its own norm is at most `maximum`."""
    _expect_limit("clip_by_norm", maximum)
    return tree_map(lambda leaf: _scaled(leaf, _norm(leaf), maximum), gradients)


def clip_by_global_norm(gradients: Any, maximum: Limit) -> tuple[Any, Tensor]:
    """All leaves scaled by one number so that their norm together is at most `maximum`; and that
    norm as it was."""
    _expect_limit("clip_by_global_norm", maximum)
    norm = global_norm(gradients)
    return tree_map(lambda leaf: _scaled(leaf, norm, maximum), gradients), norm


def global_norm(gradients: Any) -> Tensor:
    """The norm of all leaves together, as of one vector."""
    leaves = tree_leaves(gradients)
    if not leaves:
        hint = "a tree of gradients has at least one tensor"
        fail(ArgumentError, "global_norm", "there are no gradients", hint=hint)
    norms = [_norm(leaf) for leaf in leaves]
    largest = result_type(*norms)
    total = sum(norm.astype(largest) ** 2 for norm in norms[1:])
    return sqrt(norms[0].astype(largest) ** 2 + total)


def _expect_limit(operation: str, limit: Limit) -> None:
    """Refuse a number that is not above 0; an argument of a compiled function is a tensor."""
    if not isinstance(limit, Tensor):
        expect_positive(operation, limit=limit)


def _between(leaf: Tensor, limit: Any) -> Tensor:
    """The leaf between -limit and limit."""
    if isinstance(limit, Tensor):
        limit = limit.astype(leaf.dtype)
    return clip(leaf, -limit, limit)


def _norm(leaf: Tensor) -> Tensor:
    """The norm of a leaf, computed in float32 at least."""
    wide = leaf.astype(result_type(leaf.dtype, float32), copy=False)
    return sqrt((wide * wide).sum())


def _scaled(leaf: Tensor, norm: Tensor, most: Limit) -> Tensor:
    """The leaf, smaller by as much as the norm is too large."""
    wide = leaf.astype(result_type(leaf.dtype, float32), copy=False)
    factor = minimum(most / norm, 1.0)  # of a norm of 0 it is 1
    return (wide * factor.astype(wide.dtype)).astype(leaf.dtype)
