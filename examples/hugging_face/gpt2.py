"""GPT-2, from a folder of Hugging Face's, continues a text.

    python examples/hugging_face/gpt2.py FOLDER "Once upon a time"

Without arguments a small one of random numbers is saved, loaded, and continues some tokens.
"""

from dataclasses import dataclass
from typing import Literal

import generation
from folder import ACTIVATIONS, Activation, Layout, Pretrained

import brimstone as bs
from brimstone import nn

NEUTRAL = (
    "n_ctx", "reorder_and_upcast_attn", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj",
)  # fmt: skip


@dataclass(frozen=True)
class Config:
    """`config.json`; what has one choice here is refused where it says anything else."""

    vocab_size: int = 50257
    n_positions: int = 1024
    n_embd: int = 768
    n_layer: int = 12
    n_head: int = 12
    n_inner: int | None = None
    activation_function: Activation = "gelu_new"
    layer_norm_epsilon: float = 1e-5
    embd_pdrop: float = 0.1
    attn_pdrop: float = 0.1
    resid_pdrop: float = 0.1
    initializer_range: float = 0.02
    tie_word_embeddings: bool = True
    eos_token_id: int | tuple[int, ...] | None = 50256
    model_type: Literal["gpt2"] = "gpt2"
    scale_attn_weights: Literal[True] = True
    scale_attn_by_inverse_layer_idx: Literal[False] = False
    add_cross_attention: Literal[False] = False

    @property
    def ends(self):
        """The tokens that end a text."""
        return generation.ends(self.eos_token_id)


class Block(nn.Module):
    """Attention to what came before, then a network for each position, each added to its input."""

    def __init__(self, config, key, dtype=None):
        size, keys = config.n_embd, bs.random.split(key, 2)
        self.ln_1 = nn.LayerNorm(size, config.layer_norm_epsilon, dtype=dtype)
        self.attention = nn.MultiHeadAttention(
            size, config.n_head, config.attn_pdrop, key=keys[0], dtype=dtype
        )
        self.ln_2 = nn.LayerNorm(size, config.layer_norm_epsilon, dtype=dtype)
        self.mlp = nn.PositionWiseFeedForward(
            size, config.n_inner or 4 * size, activation=ACTIVATIONS[config.activation_function],
            key=keys[1], dtype=dtype,
        )  # fmt: skip
        self.dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, x, counts, cache):
        padding = None if counts is None else ~counts
        options = {"key_padding_mask": padding, "is_causal": True, "cache": cache}
        found = self.attention(self.ln_1(x), **options)
        found, cache = (found, None) if cache is None else found
        x = x + self.dropout(found)
        return x + self.dropout(self.mlp(self.ln_2(x))), cache


class GPT2(Pretrained, generation.LanguageModel):
    """Tokens in, scores of the next token out."""

    Config = Config
    layout = Layout(
        prefix="transformer.",
        heads=("lm_head.",),
        names={
            "blocks.": "h.",
            "attention.in_proj_": "attn.c_attn.",
            "attention.out_proj.": "attn.c_proj.",
            "mlp.linear1.": "mlp.c_fc.",
            "mlp.linear2.": "mlp.c_proj.",
        },
        transposed=r"(in_proj_|out_proj\.|linear[12]\.)weight$",
        spare=r"^lm_head\.|\.attn\.(masked_)?bias$",  # the latter hides what comes after a token
        neutral=NEUTRAL,
    )

    def __init__(self, config, key=None, dtype=None):
        keys, size = bs.random.split(key, config.n_layer + 3), config.n_embd
        self.config = config
        some = {"initialiser": nn.Normal(std=config.initializer_range), "dtype": dtype}
        self.wte = nn.Embedding(config.vocab_size, size, key=keys[0], **some)
        self.wpe = nn.Embedding(config.n_positions, size, key=keys[1], **some)
        self.dropout = nn.Dropout(config.embd_pdrop)
        self.blocks = tuple([Block(config, each, dtype) for each in keys[3:]])
        self.ln_f = nn.LayerNorm(size, config.layer_norm_epsilon, dtype=dtype)
        self.lm_head = None
        if not config.tie_word_embeddings:
            self.lm_head = nn.Linear(size, config.vocab_size, False, key=keys[2], **some)

    def embedded(self, tokens, counts, cache):
        places = generation.places(tokens, counts, cache)
        return self.dropout(self.wte(tokens) + self.wpe(places))

    def scores(self, hidden):
        head = self.wte if self.lm_head is None else self.lm_head
        return self.ln_f(hidden) @ head.weight.T


load = GPT2.load


def main(arguments=None):
    small = Config(vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=4, eos_token_id=None)
    return generation.main(GPT2, small, arguments)


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
