"""Models of sequences: their weights as arrays, and whether their gradients are slopes.

Comes in: modules. Goes out: copies with other weights; complaints.
Never: a model that is changed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import brimstone as bs

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(23)
STEP = 1e-5


def arrays_of(model: Any) -> dict[str, Array]:
    """The parameters of a model by their paths."""
    pairs = zip(bs.tree_paths(model), bs.tree_leaves(model), strict=True)
    return {path: leaf.numpy() for path, leaf in pairs}


def with_arrays(model: Any, arrays: dict[str, Array]) -> Any:
    """The model with these parameters, each of which it must have."""
    paths = bs.tree_paths(model)
    assert sorted(paths) == sorted(arrays)
    shapes = [leaf.shape for leaf in bs.tree_leaves(model)]
    assert shapes == [arrays[path].shape for path in paths]
    return bs.tree_flatten(model)[1].build([bs.asarray(arrays[path]) for path in paths])


def spread(model: Any) -> Any:
    """The model with other weights, biases included, all of them far from 0."""
    return with_arrays(model, {path: drawn(*each.shape) for path, each in arrays_of(model).items()})


def drawn(*shape: int) -> Array:
    """Numbers of either sign."""
    return RNG.uniform(-0.8, 0.8, shape)


def close(found: Any, expected: Any) -> None:
    """Complain unless a tensor has these numbers, to eleven digits."""
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-11, atol=1e-13)


def check_slopes(loss: Callable[[Any], Any], tree: Any) -> None:
    """Complain unless the gradient of `loss` is how it changes, along a direction of all leaves."""
    towards = bs.tree_map(lambda leaf: bs.asarray(drawn(*leaf.shape)), tree)
    gradient = bs.grad(loss)(tree)
    pairs = zip(bs.tree_leaves(gradient), bs.tree_leaves(towards), strict=True)
    expected = sum([float((slope * way).sum()) for slope, way in pairs])
    there, back = (
        float(loss(bs.tree_map(lambda leaf, way, by=by: leaf + by * way, tree, towards)))
        for by in (STEP, -STEP)
    )
    np.testing.assert_allclose(expected, (there - back) / (2 * STEP), rtol=1e-5, atol=1e-7)
