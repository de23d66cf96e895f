"""Layers of no examples and of no steps: shapes hold, and slopes are empty."""

from collections.abc import Callable
from typing import Any

import pytest

import brimstone as bs
from brimstone import nn

Made = Callable[[Any], Any]
KEY = bs.random.key(0)

LAYERS: dict[str, tuple[Made, tuple[int, ...], tuple[int, ...]]] = {
    "linear": (nn.Linear(3, 2, key=KEY), (0, 3), (0, 2)),
    "convolution": (nn.Conv2d(4, 6, 3, groups=2, key=KEY), (0, 4, 5, 6), (0, 6, 3, 4)),
    "transposed": (nn.ConvTranspose1d(4, 6, 3, 2, key=KEY), (0, 4, 5), (0, 6, 11)),
    "largest": (nn.MaxPool2d(3, 2, ceil_mode=True), (0, 4, 5, 6), (0, 4, 2, 3)),
    "means": (nn.AdaptiveAvgPool2d((2, None)), (0, 4, 5, 6), (0, 4, 2, 6)),
    "border": (nn.CircularPad1d((2, 1)), (0, 4, 5), (0, 4, 8)),
    "mirror": (nn.ReflectionPad1d((2, 1)), (0, 4, 5), (0, 4, 8)),
    "columns": (nn.Unfold((2, 3)), (0, 4, 5, 6), (0, 24, 16)),
    "images": (nn.Fold((5, 6), (2, 3)), (0, 24, 16), (0, 4, 5, 6)),
    "pixels": (nn.PixelShuffle(2), (0, 8, 2, 3), (0, 2, 4, 6)),
    "larger": (nn.Upsample(scale_factor=2, mode="bilinear"), (0, 4, 2, 3), (0, 4, 4, 6)),
    "groups": (nn.GroupNorm(2, 4), (0, 4, 5), (0, 4, 5)),
    "responses": (nn.LocalResponseNorm(3), (0, 4, 5, 6), (0, 4, 5, 6)),
    "vectors": (nn.LayerNorm(4), (2, 0, 4), (2, 0, 4)),
    "positions": (nn.PositionalEncoding(5), (2, 0, 5), (2, 0, 5)),
    "turned": (nn.RotaryEncoding(4), (2, 0, 4), (2, 0, 4)),
    "attention": (nn.MultiHeadAttention(4, 2, key=KEY), (2, 0, 4), (2, 0, 4)),
    "no sequences": (nn.GroupedQueryAttention(8, 4, key=KEY), (0, 3, 8), (0, 3, 8)),
    "encoder": (nn.TransformerEncoderLayer(4, 2, 8, key=KEY), (0, 3, 4), (0, 3, 4)),
    "steps": (lambda x: nn.GRU(3, 4, bidirectional=True, key=KEY)(x)[0], (2, 0, 3), (2, 0, 8)),
    "cell": (lambda x: nn.LSTMCell(3, 4, key=KEY)(x)[0], (0, 3), (0, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    layer, taken, given = LAYERS[name]
    x = bs.zeros(taken)
    assert layer(x).shape == bs.jit(layer)(x).shape == given
    assert bs.grad(lambda x: layer(x).sum())(x).numpy().shape == taken


@pytest.mark.parametrize("taken", [(0, 3), (2, 0)])
def test_a_mask_of_no_sequences_or_no_queries(taken: tuple[int, int]) -> None:
    batch, length = taken
    x, mask = bs.zeros((batch, length, 4)), bs.zeros((batch * 2, length, length), dtype=bool)
    attended = nn.MultiHeadAttention(4, 2, key=KEY)(x, attn_mask=mask)
    assert attended.shape == (batch, length, 4)


def test_a_loss_that_counts_along_rows_of_no_examples() -> None:
    wanted = bs.zeros((0, 4), dtype="int64")
    slopes = bs.grad(lambda x: nn.multilabel_margin_loss(x, wanted, reduction="sum"))
    assert slopes(bs.zeros((0, 4))).tolist() == []
