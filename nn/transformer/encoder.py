"""Encoders: sequences whose positions attend to each other.

Comes in: sequences, masks, caches. Goes out: sequences of the same shape, and the next caches.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from typing import Any, Unpack

from ...frontend.tensor import Tensor
from ..attention.cache import KeyValueCache
from .block import Block, Options, choices_of, masks_of
from .stack import Caches, Layer, Stack


class TransformerEncoderLayer(Block):
    """Attention, then a network for each position, each of which is added to what it is given.

    Masks are those of `MultiHeadAttention`. Unlike in PyTorch, the batch comes first unless
    `batch_first=False`.
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, **options: Unpack[Options]
    ) -> None:
        name = type(self).__name__
        super().__init__(choices_of(name, d_model, nhead, dim_feedforward, options))

    def forward(
        self, src: Tensor, src_mask: Any = None, src_key_padding_mask: Any = None,
        is_causal: bool = False, *, cache: KeyValueCache | None = None,
    ) -> Any:  # fmt: skip
        """[batch, length, d_model] -> the same.

        With a `cache` (see `empty_cache`), in which it goes on, the next one is returned, too.
        """
        masks = masks_of(src_mask, src_key_padding_mask, is_causal)
        found, after = self.attend_to_itself(self.given(src, self.norm1), cache, **masks)
        x = self.joined(src, found, self.norm1)
        x = self.joined(x, self.feed_forward(self.given(x, self.norm2)), self.norm2)
        return x if cache is None else (x, after)


class TransformerEncoder(Stack):
    """Layers one above the other, and a norm at the end, if one is given.

    `encoder_layer` is a layer of which all are copies, and begin alike, as in PyTorch, or a
    function from the number of a layer to the layer.
    """

    def __init__(self, encoder_layer: Layer, num_layers: int, norm: Any = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self, src: Tensor, mask: Any = None, src_key_padding_mask: Any = None,
        is_causal: bool = False, *, cache: Caches | None = None,
    ) -> Any:  # fmt: skip
        """[batch, length, d_model] -> the same.

        With a `cache` (see `empty_cache`), in which it goes on, the next one is returned, too.
        """
        options = {
            "src_mask": mask, "src_key_padding_mask": src_key_padding_mask, "is_causal": is_causal,
        }  # fmt: skip
        return self.through(src, cache, [options] * len(self.layers))
