"""Layers of all kinds in one model, which learns inside a compiled step."""

from typing import Any

import numpy as np

import brimstone as bs
from brimstone import nn


def model_of(key: int) -> Any:
    """A small network for images of two channels."""
    keys = bs.random.split(bs.random.key(key), 4)
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding="same", padding_mode="circular", bias=False, key=keys[0]),
        nn.BatchNorm2d(4),
        bs.relu,
        nn.Dropout2d(0.1),
        nn.MaxPool2d(2, ceil_mode=True),
        nn.Conv2d(4, 4, 1, groups=4, key=keys[1]),
        nn.GroupNorm(2, 4),
        nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.ConvTranspose2d(4, 4, 2, key=keys[2]),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.LayerNorm(16),
        nn.Linear(16, 1, key=keys[3]),
    )


def loss(model: Any, images: Any, wanted: Any) -> bs.Tensor:
    return ((model(images)[:, 0] - wanted) ** 2).mean()


@bs.jit
def step(model: Any, images: Any, wanted: Any, key: Any) -> Any:
    """A model that is a little better, and how good the last one was."""
    with nn.training(key):
        (value, after), slope = bs.value_and_grad(loss, updates=True)(model, images, wanted)
    by = dict(zip(bs.tree_paths(slope), bs.tree_leaves(slope), strict=True))  # no buffers are there
    leaves, structure = bs.tree_flatten(after)
    pairs = zip(bs.tree_paths(after), leaves, strict=True)
    moved = [leaf - 0.02 * by[path] if path in by else leaf for path, leaf in pairs]
    return structure.build(moved), value


def test_a_model_learns() -> None:
    images = bs.asarray(np.random.default_rng(0).normal(size=(8, 2, 5, 5)), dtype=bs.float32)
    wanted = images[:, 0].mean((1, 2)) * 5
    model = begun = model_of(1)
    for count in range(20):
        model, _ = step(model, images, wanted, bs.random.key(count))
    assert float(loss(model, images, wanted)) < 0.8 * float(loss(begun, images, wanted))
    assert [int(each[1].num_batches_tracked) for each in (begun, model)] == [0, 20]
