"""Mixed precision: parameters in f32, the work in half of that.

Comes in: a model, a batch, a dtype. Goes out: both with their floats in that dtype; gradients flow
back through the casts and arrive in f32.
Never: buffers, such as running means: they stay as they are.
"""

from __future__ import annotations

from typing import Any, Literal

from ..frontend.paths import paths_of
from ..frontend.tree import flatten, tree_map
from ..frontend.updates import stands_for
from ..nn.parameters import leaves as leaves_with_paths
from .optimisers.optimiser import is_trainable

Precision = Literal["float32", "bfloat16", "float16"]
PRECISIONS = ("float32", "bfloat16", "float16")


def model_in(model: Any, precision: str) -> Any:
    """The model with its parameters cast."""
    if precision == "float32":
        return model
    buffers = {each.path for each in leaves_with_paths(model) if each.is_buffer}
    leaves, structure = flatten(model)
    paths = paths_of(structure)
    cast = [
        leaf.astype(precision) if is_trainable(leaf) and path not in buffers else leaf
        for leaf, path in zip(leaves, paths, strict=True)
    ]
    return stands_for(structure.build(cast), model)


def batch_in(batch: Any, precision: str) -> Any:
    """The batch with its floats cast."""
    if precision == "float32":
        return batch
    return tree_map(lambda leaf: leaf.astype(precision) if is_trainable(leaf) else leaf, batch)
