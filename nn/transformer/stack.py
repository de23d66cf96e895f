"""Layers of one kind, one above the other.

Comes in: a layer that is copied, or a function that makes each. Goes out: a module.
Never: one module at two places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...frontend.errors import ArgumentError, expect_functions, fail
from ...frontend.tensor import Tensor
from ...frontend.tree import tree_map
from ..arguments import check_counts
from ..attention.cache import KeyValueCache
from ..module import Module

Layer = Module | Callable[[int], Any]
"""A layer of which all are copies, or a function from the number of a layer to the layer."""

Caches = tuple[KeyValueCache, ...]


class Stack(Module):
    """Layers, and a norm at the end, if one is given."""

    layers: tuple[Any, ...]
    norm: Any

    def __init__(self, layer: Layer, num_layers: int, norm: Any = None) -> None:
        name = type(self).__name__
        check_counts(name, 1, num_layers=num_layers)
        expect_functions(name, layer)
        numbers = range(num_layers)
        copied = isinstance(layer, Module)
        self.layers = tuple([tree_map(_same, layer) if copied else layer(at) for at in numbers])
        self.norm = norm

    def empty_cache(self, batch: int, capacity: int, dtype: Any = None) -> Caches:
        """Room for what each layer remembers of as many positions."""
        return tuple([layer.empty_cache(batch, capacity, dtype) for layer in self.layers])

    def through(self, x: Tensor, caches: Caches | None, options: Sequence[dict[str, Any]]) -> Any:
        """x through all layers, each called with its own options; with the next caches, if any."""
        if caches is None:
            for layer, own in zip(self.layers, options, strict=True):
                x = layer(x, **own)
            return self._ended(x)
        self._check(caches)
        after: list[KeyValueCache] = []
        for layer, own, cache in zip(self.layers, options, caches, strict=True):
            x, kept = layer(x, cache=cache, **own)
            after.append(kept)
        return self._ended(x), tuple(after)

    def _ended(self, x: Tensor) -> Tensor:
        return x if self.norm is None else self.norm(x)

    def _check(self, caches: Any) -> None:
        """Refuse what is not a cache for each layer."""
        count = len(self.layers)
        if not isinstance(caches, tuple | list) or len(caches) != count:
            problem = f"takes {count} caches, one for each layer"
            fail(ArgumentError, type(self).__name__, problem, hint="`empty_cache` makes them")


def _same(leaf: Any) -> Any:
    return leaf
