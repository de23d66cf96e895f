"""The transformer that translates: an encoder, and a decoder that attends to its output.

Comes in: a sequence, and one that is continued. Goes out: a sequence like the latter.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from typing import Any, Unpack

from ...frontend.tensor import Tensor
from ..module import Module
from .block import Options, choices_of
from .decoder import Masks, TransformerDecoder, TransformerDecoderLayer
from .encoder import TransformerEncoder, TransformerEncoderLayer


class Transformer(Module):
    """An encoder and a decoder, with a norm at the end of each.

    Masks are those of `MultiHeadAttention`. Unlike in PyTorch, the batch comes first unless
    `batch_first=False`.
    """

    encoder: TransformerEncoder
    decoder: TransformerDecoder

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, **options: Unpack[Options],
    ) -> None:  # fmt: skip
        choices = choices_of("Transformer", d_model, nhead, dim_feedforward, options)

        def made(layer: Any) -> Any:
            own: Any = {**options, "key": choices.keys.next()}
            return layer(d_model, nhead, dim_feedforward, **own)

        self.encoder = TransformerEncoder(
            lambda _: made(TransformerEncoderLayer), num_encoder_layers, choices.new_norm()
        )
        self.decoder = TransformerDecoder(
            lambda _: made(TransformerDecoderLayer), num_decoder_layers, choices.new_norm()
        )

    def forward(
        self, src: Tensor, tgt: Tensor, *, src_mask: Any = None, src_key_padding_mask: Any = None,
        src_is_causal: bool = False, **masks: Unpack[Masks],
    ) -> Tensor:  # fmt: skip
        """[batch, keys, d_model], [batch, length, d_model] -> [batch, length, d_model]

        To continue a sequence step by step, call `encoder` once, and `decoder` with a cache.
        """
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(tgt, memory, **masks)
