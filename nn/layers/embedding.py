"""Embeddings: a vector that is learnt for each of so many things.

Comes in: how many things there are, and how long vectors are. Goes out: a module.
Never: a place outside the table read as one inside.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ArgumentError, fail
from ...frontend.tensor import Tensor
from ..arguments import check_counts
from ..functions.embedding import embedding
from ..initialisers import Initialiser, Keys, Normal
from ..module import Module


class Embedding(Module):
    """Rows of a table. The one of `padding_idx` begins as zeros, and has no gradient."""

    weight: Tensor  # [num_embeddings, embedding_dim]

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, *,
        initialiser: Initialiser | None = None, key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        check_counts("Embedding", num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        made = (initialiser or Normal())((num_embeddings, embedding_dim), Keys(key).next(), dtype)
        self.padding_idx = padding_idx
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                problem = f"`padding_idx` is {padding_idx}, and there are {num_embeddings} rows"
                fail(ArgumentError, "Embedding", problem)
            self.padding_idx = padding_idx % num_embeddings
            made = made.at[self.padding_idx].set(0)
        self.weight = made

    def forward(self, indices: Tensor) -> Tensor:
        """integers […] -> […, embedding_dim]"""
        return embedding(indices, self.weight, self.padding_idx)
