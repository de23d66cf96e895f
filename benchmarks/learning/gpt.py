"""The character GPT: it learns to write like the documents of this repository, byte by byte.

Comes in: sizes. Goes out: a case.
Never: dropout, which the model of `examples/character_gpt.py` has besides.
"""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import brimstone as bs
from benchmarks.learning.case import ATTENTION, MATMUL, UPDATING, Batch, Case
from brimstone import nn

DOCS = Path(__file__).resolve().parents[2] / "docs"
PRODUCTS_OF_ATTENTION = 7
"""Two forward, and five that its gradients need."""


class GPT(nn.Module):
    """Letters in, scores of the next letter out."""

    def __init__(self, letters: int, length: int, width: int, heads: int, layers: int) -> None:
        keys = bs.random.split(bs.random.key(0), layers + 3)
        self.letters = nn.Embedding(letters, width, key=keys[0])
        self.places = nn.Embedding(length, width, key=keys[1])
        self.head = nn.Linear(width, letters, bias=False, key=keys[2])

        def block(number: int) -> Any:
            return nn.TransformerEncoderLayer(
                width, heads, 4 * width, dropout=0.0, activation="gelu", norm_first=True,
                key=keys[3 + number],
            )  # fmt: skip

        self.blocks = nn.TransformerEncoder(block, layers, norm=nn.LayerNorm(width))

    def forward(self, text: Any) -> Any:
        """[batch, length] -> [batch, length, letters]"""
        hidden = self.letters(text) + self.places.weight[: text.shape[1]]
        return self.head(self.blocks(hidden, is_causal=True))


def case(layers: int, width: int, heads: int, vocabulary: int, batch: int, tokens: int) -> Case:
    """The GPT at these sizes."""
    weights = layers * 12 * width**2 + width * vocabulary
    seen = batch * tokens
    scores = layers * seen * tokens // 2  # for one head; half of all, as it is causal
    sizes = (vocabulary, tokens, width, heads, layers)
    return Case(
        name=f"character GPT, {layers} layers, {width} wide, {batch}x{tokens}",
        ours=partial(GPT, *sizes),
        peer=lambda: import_module("benchmarks.learning.peers").GPT(*sizes),
        batches=partial(batches, batch, tokens),
        operations={
            MATMUL: 2 * 2 * seen * weights,
            UPDATING: 2 * seen * weights,
            ATTENTION: 2 * PRODUCTS_OF_ATTENTION * scores * width,
        },
    )


def batches(batch: int, tokens: int) -> Iterator[Batch]:
    """Pieces of the documents, and the letters that follow each of theirs."""
    text = b"".join([path.read_bytes() for path in sorted(DOCS.glob("*.md"))])
    letters = np.frombuffer(text, np.uint8).astype(np.int64)
    draws = np.random.default_rng(0)
    while True:
        starts = draws.integers(0, len(letters) - tokens - 1, (batch, 1))
        places = starts + np.arange(tokens)
        yield letters[places], letters[places + 1]
