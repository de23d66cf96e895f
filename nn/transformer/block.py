"""What the layers of encoders and of decoders have in common.

Comes in: sizes, a curve, a norm. Goes out: the parts of a layer, and how they are joined.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from ...frontend.tensor import Tensor
from ..arguments import check_counts
from ..attention.cache import KeyValueCache
from ..attention.multi_head import MultiHeadAttention
from ..initialisers import Keys
from ..layers.dropout import Dropout
from ..layers.layer_norm import LayerNorm
from ..layers.linear import Linear
from ..module import Module
from .feed_forward import Activation, activated, known


class Options(TypedDict, total=False):
    """What a layer may be told besides its sizes, as PyTorch calls it.

    `norm` makes a norm of a size, instead of `LayerNorm`; with `norm_first` it is applied to what
    each part is given, else to what comes out. The batch comes first unless `batch_first=False`.
    """

    dropout: float
    activation: Activation
    layer_norm_eps: float
    batch_first: bool
    norm_first: bool
    bias: bool
    norm: Callable[[int], Any] | None
    key: Any
    dtype: Any


@dataclass(frozen=True)
class Choices:
    """The sizes of a layer, and what it was told besides; what its parts are made by."""

    d_model: int
    nhead: int
    dim_feedforward: int
    keys: Keys
    dropout: float = 0.1
    activation: Activation = "relu"
    layer_norm_eps: float = 1e-5
    batch_first: bool = True
    norm_first: bool = False
    bias: bool = True
    norm: Callable[[int], Any] | None = None
    dtype: Any = None

    def new_attention(self) -> MultiHeadAttention:
        """Attention, the weights of which are dropped like all else."""
        return MultiHeadAttention(
            self.d_model, self.nhead, self.dropout, self.bias, batch_first=self.batch_first,
            key=self.keys.next(), dtype=self.dtype,
        )  # fmt: skip

    def new_linear(self, inputs: int, outputs: int) -> Linear:
        """A product with a matrix."""
        return Linear(inputs, outputs, self.bias, key=self.keys.next(), dtype=self.dtype)

    def new_norm(self) -> Any:
        """A norm of the last axis."""
        if self.norm is not None:
            return self.norm(self.d_model)
        return LayerNorm(self.d_model, self.layer_norm_eps, bias=self.bias, dtype=self.dtype)


class Block(Module):
    """Attention of a sequence to itself, and a network for each position."""

    self_attn: MultiHeadAttention
    linear1: Linear
    linear2: Linear
    norm1: Any
    norm2: Any

    def __init__(self, choices: Choices) -> None:
        size, hidden = choices.d_model, choices.dim_feedforward
        self.activation = known(type(self).__name__, choices.activation)
        self.norm_first = choices.norm_first
        self.self_attn = choices.new_attention()
        self.linear1 = choices.new_linear(size, hidden)
        self.linear2 = choices.new_linear(hidden, size)
        self.norm1, self.norm2 = choices.new_norm(), choices.new_norm()
        self.dropout = Dropout(choices.dropout)

    def empty_cache(self, batch: int, capacity: int, dtype: Any = None) -> KeyValueCache:
        """Room for what attention remembers of as many positions."""
        return self.self_attn.empty_cache(batch, capacity, dtype)

    def attend_to_itself(
        self, x: Tensor, cache: KeyValueCache | None, **masks: Any
    ) -> tuple[Tensor, KeyValueCache | None]:
        """What a sequence finds in itself, and the next cache."""
        if cache is None:
            return self.self_attn(x, **masks), None
        return self.self_attn(x, cache=cache, **masks)

    def feed_forward(self, x: Tensor) -> Tensor:
        """What becomes of each position."""
        hidden = self.dropout(activated(self.activation, self.linear1(x)))
        return self.linear2(hidden)

    def given(self, x: Tensor, norm: Any) -> Tensor:
        """What a part of the layer is given, for a sequence that has come so far."""
        return norm(x) if self.norm_first else x

    def joined(self, x: Tensor, made: Tensor, norm: Any) -> Tensor:
        """The sequence with what a part has made of it."""
        x = x + self.dropout(made)
        return x if self.norm_first else norm(x)


def choices_of(
    name: str, d_model: int, nhead: int, dim_feedforward: int, options: Options
) -> Choices:
    """The choices of a layer; sizes that no layer has are refused."""
    check_counts(name, 1, dim_feedforward=dim_feedforward)
    rest: Any = {what: value for what, value in options.items() if what != "key"}
    return Choices(d_model, nhead, dim_feedforward, Keys(options.get("key")), **rest)


def masks_of(mask: Any, padding: Any, is_causal: bool) -> dict[str, Any]:
    """Masks by the names that attention has for them."""
    return {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
