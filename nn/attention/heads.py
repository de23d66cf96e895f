"""Heads: the parts of a vector that attend apart.

Comes in: [..., length, heads * size]. Goes out: [..., heads, length, size], and back.
Never: a look at how many there are in a batch.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.manipulation import swapaxes
from ...frontend.tensor import Tensor
from ..functions.common import sizes_of


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[..., length, heads * size] -> [..., heads, length, size]"""
    sizes: Any = sizes_of(x)
    return swapaxes(x.reshape((*sizes[:-1], heads, sizes[-1] // heads)), -2, -3)


def join_heads(x: Tensor) -> Tensor:
    """[..., heads, length, size] -> [..., length, heads * size]"""
    joined = swapaxes(x, -2, -3)
    sizes: Any = sizes_of(joined)
    return joined.reshape((*sizes[:-2], sizes[-2] * sizes[-1]))


def check_heads(name: str, embed_dim: int, num_heads: int) -> None:
    """Refuse heads that do not share a vector equally."""
    if num_heads < 1 or embed_dim < 1 or embed_dim % num_heads:
        problem = f"{num_heads} heads cannot share {embed_dim} numbers equally"
        fail(ArgumentError, name, problem, hint="embed_dim is a multiple of num_heads")


def check_groups(name: str, num_heads: int, num_kv_heads: int) -> None:
    """Refuse heads of keys that heads of queries cannot share equally."""
    if num_kv_heads < 1 or num_heads < 1 or num_heads % num_kv_heads:
        problem = f"{num_heads} heads of queries cannot share {num_kv_heads} heads of keys"
        fail(ArgumentError, name, problem, hint="num_heads is a multiple of num_kv_heads")
