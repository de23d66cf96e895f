"""What sizes layers refuse by name, before a parameter is made."""

from collections.abc import Callable
from typing import Any

import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check

SIZES: dict[str, tuple[Callable[[], Any], str]] = {
    "linear": (lambda: nn.Linear(-1, 2), "Linear: `in_features` is at least 0, but -1 was given"),
    "outputs": (lambda: nn.Linear(2, -2), "Linear: `out_features` is at least 0"),
    "a convolution": (lambda: nn.Conv2d(-4, 2, 3), "Conv2d: `channels` is at least 0"),
    "an embedding": (lambda: nn.Embedding(-1, 2), "Embedding: `num_embeddings` is at least 0"),
    "a batch norm": (lambda: nn.BatchNorm2d(-3), "BatchNorm2d: `num_features` is at least 0"),
    "a norm without scales": (lambda: nn.InstanceNorm1d(-1), "`num_features` is at least 0"),
    "a group norm": (lambda: nn.GroupNorm(2, -4), "`num_channels` is at least 0"),
    "what is added": (lambda: nn.BatchNorm1d(3, eps=-1.0), "eps is 0 or more"),
    "a layer norm": (lambda: nn.LayerNorm((3, -1)), "`normalized_shape` is at least 0"),
    "no axes": (lambda: nn.RMSNorm(()), "`normalized_shape` is the size of the last axis"),
    "neighbours": (lambda: nn.LocalResponseNorm(0), "LocalResponseNorm: `size` is at least 1"),
    "pixels": (lambda: nn.PixelShuffle(0), "PixelShuffle: `upscale_factor` is at least 1"),
    "slopes": (lambda: nn.PReLU(0), "PReLU: `num_parameters` is at least 1"),
    "a cell": (lambda: nn.GRUCell(3, 0), "GRUCell: `hidden_size` is at least 1"),
    "positions": (lambda: nn.LearnedPositionalEncoding(0, 4), "`capacity` is at least 1"),
    "a base": (lambda: nn.RotaryEncoding(4, base=0.0), "base is more than 0"),
    "a head": (lambda: nn.GroupedQueryAttention(8, 4, head_dim=0), "`head_dim` is at least 1"),
    "a context": (lambda: nn.CrossAttention(8, 0, 4), "`context_dim` is at least 1"),
    "what is hidden": (lambda: nn.GatedFeedForward(4, 0), "`hidden_size` is at least 1"),
    "a loss": (lambda: nn.MSELoss("average"), "MSELoss: reduction is one of 'mean', 'sum', 'none'"),  # pyright: ignore[reportArgumentType]
    "a divergence": (lambda: nn.KLDivLoss(reduction="batch"), "'none', 'batchmean'"),  # pyright: ignore[reportArgumentType]
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES)
def test_mistakes(name: str) -> None:
    call, words = SIZES[name]
    check(Mistake(call, bs.ArgumentError, words))


def test_sizes_are_integers() -> None:
    check(Mistake(lambda: nn.Linear(2.0, 3), bs.DTypeError, "`in_features` is an integer"))  # pyright: ignore[reportArgumentType]
