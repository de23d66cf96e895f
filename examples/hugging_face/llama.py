"""Llama, from a folder of Hugging Face's, continues a text.

    python examples/hugging_face/llama.py FOLDER "Once upon a time"

Without arguments a small one of random numbers is saved, loaded, and continues some tokens.
"""

from dataclasses import dataclass
from typing import Literal

import generation
from folder import ACTIVATIONS, Activation, Layout, Pretrained

import brimstone as bs
from brimstone import nn

NEUTRAL = ("max_position_embeddings", "pretraining_tp")


@dataclass(frozen=True)
class Rope:
    """How positions turn queries and keys; older files call `rope_type` only `type`."""

    rope_type: Literal["default", "linear", "llama3"] | None = None
    type: Literal["default", "linear", "llama3"] | None = None
    rope_theta: float | None = None
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_max_position_embeddings: int = 8192

    @property
    def scaling(self):
        """What changes the angles per position."""
        kind = self.rope_type or self.type or "default"
        if kind == "llama3":
            low, high = self.low_freq_factor, self.high_freq_factor
            length = self.original_max_position_embeddings
            return nn.LlamaScaling(self.factor, low, high, length)
        return nn.LinearScaling(self.factor) if kind == "linear" else None


@dataclass(frozen=True)
class Config:
    """`config.json`; what has one choice here is refused where it says anything else."""

    vocab_size: int = 32000
    hidden_size: int = 4096
    intermediate_size: int = 11008
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    hidden_act: Activation = "silu"
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    rope_scaling: Rope | None = None
    rope_parameters: Rope | None = None  # in newer files, instead of both
    attention_bias: bool = False
    attention_dropout: float = 0.0
    mlp_bias: bool = False
    initializer_range: float = 0.02
    tie_word_embeddings: bool = False
    pad_token_id: int | None = None
    eos_token_id: int | tuple[int, ...] | None = 2
    model_type: Literal["llama"] = "llama"

    @property
    def head_size(self):
        """The numbers of each head."""
        return self.head_dim or self.hidden_size // self.num_attention_heads

    @property
    def rotary(self):
        """What turns queries and keys."""
        rope = self.rope_parameters or self.rope_scaling or Rope()
        base = rope.rope_theta or self.rope_theta
        return nn.RotaryEncoding(self.head_size, base, scaling=rope.scaling)

    @property
    def ends(self):
        """The tokens that end a text."""
        return generation.ends(self.eos_token_id)


class Block(nn.Module):
    """Attention to what came before, then a network for each position, each added to its input."""

    def __init__(self, config, key, dtype=None):
        size, keys = config.hidden_size, bs.random.split(key, 2)
        self.input_layernorm = nn.RmsNorm(size, config.rms_norm_eps, dtype=dtype)
        self.attention = nn.GroupedQueryAttention(
            size, config.num_attention_heads, num_kv_heads=config.num_key_value_heads,
            head_dim=config.head_size, bias=config.attention_bias, rotary=config.rotary,
            dropout=config.attention_dropout, key=keys[0], dtype=dtype,
        )  # fmt: skip
        self.post_attention_layernorm = nn.RmsNorm(size, config.rms_norm_eps, dtype=dtype)
        self.mlp = nn.GatedFeedForward(
            size, config.intermediate_size, ACTIVATIONS[config.hidden_act], bias=config.mlp_bias,
            key=keys[1], dtype=dtype,
        )  # fmt: skip

    def forward(self, x, counts, cache):
        mask = None if counts is None else counts[:, None, None, :]
        found = self.attention(self.input_layernorm(x), mask=mask, causal=True, cache=cache)
        found, cache = (found, None) if cache is None else found
        x = x + found
        return x + self.mlp(self.post_attention_layernorm(x)), cache


class Llama(Pretrained, generation.LanguageModel):
    """Tokens in, scores of the next token out."""

    Config = Config
    layout = Layout(
        prefix="model.",
        heads=("lm_head.",),
        names={"blocks.": "layers.", "attention.": "self_attn."},
        spare=r"^lm_head\.|\.rotary_emb\.inv_freq$",  # the latter follows from the settings
        neutral=NEUTRAL,
    )

    def __init__(self, config, key=None, dtype=None):
        keys, size = bs.random.split(key, config.num_hidden_layers + 2), config.hidden_size
        self.config = config
        some = {"initialiser": nn.Normal(std=config.initializer_range), "dtype": dtype}
        padding = config.pad_token_id
        self.embed_tokens = nn.Embedding(config.vocab_size, size, padding, key=keys[0], **some)
        self.blocks = tuple([Block(config, each, dtype) for each in keys[2:]])
        self.norm = nn.RmsNorm(size, config.rms_norm_eps, dtype=dtype)
        self.lm_head = None
        if not config.tie_word_embeddings:
            self.lm_head = nn.Linear(size, config.vocab_size, False, key=keys[1], **some)

    def embedded(self, tokens, counts, cache):
        return self.embed_tokens(tokens)  # queries and keys are turned by how far they are apart

    def scores(self, hidden):
        head = self.embed_tokens if self.lm_head is None else self.lm_head
        return self.norm(hidden) @ head.weight.T


load = Llama.load


def main(arguments=None):
    rope = Rope("llama3", rope_theta=500000.0, factor=8.0, original_max_position_embeddings=32)
    small = Config(
        vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, rope_parameters=rope, eos_token_id=None,
    )  # fmt: skip
    return generation.main(Llama, small, arguments)


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
