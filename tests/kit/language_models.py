"""Small language models of the examples of Hugging Face's layouts.

Comes in: a name of the table. Goes out: a model of random numbers, those of norms and biases, too.
Never: a model of more than one layer.
"""

from dataclasses import replace
from typing import Any

import numpy as np

import brimstone as bs
from kit.hugging_face import example

bert, generation, gpt2, llama = map(example, ("bert", "generation", "gpt2", "llama"))

GPT2 = gpt2.Config(
    vocab_size=20, n_positions=24, n_embd=8, n_layer=1, n_head=2, initializer_range=0.5,
    eos_token_id=None,
)  # fmt: skip
ROPE = llama.Rope("llama3", rope_theta=100.0, factor=8.0, original_max_position_embeddings=32)
LLAMA = llama.Config(
    vocab_size=20, hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=4,
    num_key_value_heads=2, rope_parameters=ROPE, initializer_range=0.5, eos_token_id=None,
)  # fmt: skip
BERT = bert.Config(
    vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=12,
    max_position_embeddings=16, id2label={0: "bad", 1: "so", 2: "good"},
)  # fmt: skip
WRITERS = {
    "gpt2": (gpt2.GPT2, GPT2),
    "gpt2, a head of its own": (gpt2.GPT2, replace(GPT2, tie_word_embeddings=False)),
    "llama": (llama.Llama, LLAMA),
    "llama, tied": (llama.Llama, replace(LLAMA, tie_word_embeddings=True, attention_bias=True)),
}
READERS = {"bert": (bert.MaskedLanguageModel, BERT), "bert, classes": (bert.Classifier, BERT)}
MODELS = {**WRITERS, **READERS}
TOKENS = np.random.default_rng(1).integers(3, 20, (2, 5))


def made(name: str) -> Any:
    """A model of random numbers, its norms and biases too."""
    kind, config = MODELS[name]
    model, random = kind(config, key=bs.random.key(2)), np.random.default_rng(4)
    return model.map(
        lambda each: each + bs.asarray(random.uniform(-0.4, 0.4, each.shape), dtype=each.dtype)
    )
