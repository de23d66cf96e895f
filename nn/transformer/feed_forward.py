"""Networks that see one position at a time: wider, through a curve, and narrow again.

Comes in: sizes, a curve. Goes out: modules.
Never: a name of a parameter that is not PyTorch's, or Llama's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.activations import gelu, relu, silu
from ...frontend.functions.elementwise import tanh
from ...frontend.tensor import Tensor
from ..arguments import check_counts
from ..functions.common import check_last
from ..initialisers import Keys
from ..layers.dropout import Dropout
from ..layers.linear import Linear
from ..module import Module

Activation = str | Callable[[Any], Any]
"""A function, a module, or the name of one of these."""

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": relu, "gelu": gelu, "silu": silu, "tanh": tanh,
}  # fmt: skip


class PositionWiseFeedForward(Module):
    """linear2(activation(linear1(x))), with dropout in between."""

    linear1: Linear
    linear2: Linear

    def __init__(
        self, size: int, hidden_size: int, dropout: float = 0.0, activation: Activation = "relu", *,
        bias: bool = True, key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        keys = Keys(key)
        check_counts(type(self).__name__, 1, size=size, hidden_size=hidden_size)
        self.size, self.activation = size, known(type(self).__name__, activation)
        self.linear1 = Linear(size, hidden_size, bias, key=keys.next(), dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(hidden_size, size, bias, key=keys.next(), dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """[…, size] -> […, size]"""
        check_last("PositionWiseFeedForward", x, (self.size,))
        return self.linear2(self.dropout(activated(self.activation, self.linear1(x))))


class GatedFeedForward(Module):
    """down_proj(activation(gate_proj(x)) * up_proj(x)): with "silu", SwiGLU."""

    gate_proj: Linear
    up_proj: Linear
    down_proj: Linear

    def __init__(
        self, size: int, hidden_size: int, activation: Activation = "silu", *, bias: bool = False,
        key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        keys = Keys(key)
        check_counts(type(self).__name__, 1, size=size, hidden_size=hidden_size)
        self.size, self.activation = size, known(type(self).__name__, activation)
        self.gate_proj = Linear(size, hidden_size, bias, key=keys.next(), dtype=dtype)
        self.up_proj = Linear(size, hidden_size, bias, key=keys.next(), dtype=dtype)
        self.down_proj = Linear(hidden_size, size, bias, key=keys.next(), dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """[…, size] -> […, size]"""
        check_last("GatedFeedForward", x, (self.size,))
        return self.down_proj(activated(self.activation, self.gate_proj(x)) * self.up_proj(x))


def known(name: str, activation: Activation) -> Activation:
    """What can be an activation."""
    if not callable(activation) and activation not in ACTIVATIONS:
        problem = f"`activation` is a function or one of {', '.join(ACTIVATIONS)}"
        fail(ArgumentError, name, problem, activation)
    return activation


def activated(activation: Activation, x: Tensor) -> Tensor:
    """The activation of x."""
    return (ACTIVATIONS[activation] if isinstance(activation, str) else activation)(x)
