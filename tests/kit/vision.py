"""Small models of images out of the examples, and images for them.

Comes in: the name of a model. Goes out: its settings, the model, images of noise with labels.
Never: PyTorch, or a file.
"""

import re
from typing import Any

import numpy as np

import brimstone as bs
from brimstone import nn
from kit.hugging_face import example

LABELS = ("ape", "bee", "cow", "doe")

vit, resnet, pictures = example("vit"), example("resnet"), example("pictures")

VIT = {
    "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20,
    "image_size": 8, "patch_size": 4,
}  # fmt: skip
RESNET = {"embedding_size": 4, "hidden_sizes": (8, 12), "depths": (1, 2)}
BASIC = {**RESNET, "depths": (1, 1), "layer_type": "basic"}

KINDS: dict[str, tuple[Any, dict[str, Any], tuple[int, int]]] = {
    "vit": (vit.ViT, VIT, (8, 8)),
    "resnet": (resnet.ResNet, RESNET, (17, 14)),
    "resnet, basic": (resnet.ResNet, BASIC, (21, 5)),
}
"""Classes of models, settings of small ones, and a height and a width of images."""


NORM = ["bias", "num_batches_tracked", "running_mean", "running_var", "weight"]


def norm(name: str, size: int) -> dict[str, tuple[int, ...]]:
    """The tensors of a batch norm in a file."""
    return {f"{name}.{each}": () if "tracked" in each else (size,) for each in NORM}


def pair(name: str, *shape: int) -> dict[str, tuple[int, ...]]:
    """A weight and a bias."""
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


TORCHVISION = {
    **{"conv1.weight": (4, 3, 7, 7), **norm("bn1", 4)},
    **{"layer1.0.conv1.weight": (2, 4, 1, 1), **norm("layer1.0.bn1", 2)},
    **{"layer1.0.conv2.weight": (2, 2, 3, 3), **norm("layer1.0.bn2", 2)},
    **{"layer1.0.conv3.weight": (8, 2, 1, 1), **norm("layer1.0.bn3", 8)},
    **{"layer1.0.downsample.0.weight": (8, 4, 1, 1), **norm("layer1.0.downsample.1", 8)},
    **{"layer2.0.conv1.weight": (3, 8, 1, 1), **norm("layer2.0.bn1", 3)},
    **{"layer2.0.conv2.weight": (3, 3, 3, 3), **norm("layer2.0.bn2", 3)},
    **{"layer2.0.conv3.weight": (12, 3, 1, 1), **norm("layer2.0.bn3", 12)},
    **{"layer2.0.downsample.0.weight": (12, 8, 1, 1), **norm("layer2.0.downsample.1", 12)},
    **{"layer2.1.conv1.weight": (3, 12, 1, 1), **norm("layer2.1.bn1", 3)},
    **{"layer2.1.conv2.weight": (3, 3, 3, 3), **norm("layer2.1.bn2", 3)},
    **{"layer2.1.conv3.weight": (12, 3, 1, 1), **norm("layer2.1.bn3", 12)},
    **pair("fc", 4, 12),
}
"""The small network with bottlenecks by torchvision's names."""


def config(kind: str, **settings: Any) -> Any:
    """The settings of a small model."""
    cls, own, _ = KINDS[kind]
    return cls.Config(**{"id2label": dict(enumerate(LABELS))} | own | settings)


def small(kind: str, dtype: Any = None, **settings: Any) -> Any:
    """A small model of random numbers."""
    return KINDS[kind][0](config(kind, **settings), bs.random.key(5), dtype)


def images(kind: str, count: int, size: tuple[int, int] | None = None) -> Any:
    """Images of noise that a small model takes."""
    drawn = np.random.default_rng(count).normal(size=(count, 3, *(size or KINDS[kind][2])))
    return bs.asarray(drawn, dtype=bs.float32)


def labels(count: int) -> Any:
    """A label for each image."""
    return bs.asarray(np.arange(count) * 3 % len(LABELS))


def loss(model: Any, images: Any, labels: Any) -> Any:
    """How unlikely a model finds the labels."""
    return nn.cross_entropy(model(images), labels)


def step(model: Any, images: Any, labels: Any) -> Any:
    """The loss in training, the model with what it has left, and the gradients."""
    with nn.training(3):
        (value, left), slopes = bs.value_and_grad(loss, updates=True)(model, images, labels)
    return value, left, slopes


def of_torchvision(without: str = "(?!)", changed: Any = None) -> dict[str, Any]:
    """The tensors of a file of torchvision's, some of them left out, or of another shape."""
    random = np.random.default_rng(2)
    made = {
        name: random.uniform(0.1, 1, shape).astype(np.float32)
        for name, shape in {**TORCHVISION, **(changed or {})}.items()
    }
    return {
        name: np.asarray(3) if "tracked" in name else each
        for name, each in made.items()
        if not re.search(without, name)
    }
