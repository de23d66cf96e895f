"""Decoders: sequences whose positions attend to each other, and to another sequence, the memory.

Comes in: sequences, a memory, masks, caches. Goes out: sequences of the same shape, and the next
caches.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from ...frontend.errors import ArgumentError, fail
from ...frontend.tensor import Tensor
from ..attention.cache import KeyValueCache, Remembered
from ..attention.multi_head import MultiHeadAttention
from .block import Block, Options, choices_of, masks_of
from .stack import Caches, Layer, Stack


class Masks(TypedDict, total=False):
    """Which positions of a sequence (`tgt`) and of the memory count, as PyTorch calls it.

    Masks are those of `MultiHeadAttention`: true where something does not count.
    """

    tgt_mask: Any
    memory_mask: Any
    tgt_key_padding_mask: Any
    memory_key_padding_mask: Any
    tgt_is_causal: bool
    memory_is_causal: bool


class TransformerDecoderLayer(Block):
    """Attention to itself, attention to a memory, then a network for each position, each of which
    is added to what it is given.

    Unlike in PyTorch, the batch comes first unless `batch_first=False`.
    """

    multihead_attn: MultiHeadAttention
    norm3: Any

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, **options: Unpack[Options]
    ) -> None:
        choices = choices_of(type(self).__name__, d_model, nhead, dim_feedforward, options)
        super().__init__(choices)
        self.multihead_attn = choices.new_attention()
        self.norm3 = choices.new_norm()

    def forward(  # noqa: PLR0913 (as in PyTorch)
        self, tgt: Tensor, memory: Tensor | Remembered, tgt_mask: Any = None,
        memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False, *, cache: KeyValueCache | None = None,
    ) -> Any:  # fmt: skip
        """[batch, length, d_model], [batch, keys, d_model] -> [batch, length, d_model]

        The memory may also be what `remember` has returned. With a `cache` (see `empty_cache`), in
        which it goes on, the next one is returned, too.
        """
        of_itself = masks_of(tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        of_memory = masks_of(memory_mask, memory_key_padding_mask, memory_is_causal)
        found, after = self.attend_to_itself(self.given(tgt, self.norm1), cache, **of_itself)
        x = self.joined(tgt, found, self.norm1)
        found = self.multihead_attn(self.given(x, self.norm2), memory, **of_memory)
        x = self.joined(x, found, self.norm2)
        x = self.joined(x, self.feed_forward(self.given(x, self.norm3)), self.norm3)
        return x if cache is None else (x, after)

    def remember(self, memory: Tensor) -> Remembered:
        """The keys and values of a memory, for one that is attended to often."""
        return self.multihead_attn.remember(memory)


class TransformerDecoder(Stack):
    """Layers one above the other, and a norm at the end, if one is given.

    `decoder_layer` is a layer of which all are copies, and begin alike, as in PyTorch, or a
    function from the number of a layer to the layer.
    """

    def __init__(self, decoder_layer: Layer, num_layers: int, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Tensor, memory: Tensor | tuple[Remembered, ...], *, cache: Caches | None = None,
        **masks: Unpack[Masks],
    ) -> Any:  # fmt: skip
        """[batch, length, d_model], [batch, keys, d_model] -> [batch, length, d_model]

        The memory may also be what `remember` has returned. With a `cache` (see `empty_cache`), in
        which it goes on, the next one is returned, too.
        """
        count = len(self.layers)
        each = memory if isinstance(memory, tuple) else (memory,) * count
        if len(each) != count:
            problem = f"a memory is remembered for {len(each)} layers, and there are {count}"
            fail(ArgumentError, "TransformerDecoder", problem)
        return self.through(tgt, cache, [{"memory": own, **masks} for own in each])

    def remember(self, memory: Tensor) -> tuple[Remembered, ...]:
        """What each layer attends to in a memory, for one that is attended to often."""
        return tuple([layer.remember(memory) for layer in self.layers])
