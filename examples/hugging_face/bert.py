"""BERT, from a folder of Hugging Face's, fills the gaps of a text, or says of which class it is.

    python examples/hugging_face/bert.py FOLDER "Paris is the [MASK] of France."
    python examples/hugging_face/bert.py FOLDER "How wonderful!" --classify

Without arguments small ones of random numbers are saved, loaded, and asked.
"""

import argparse
import tempfile
from dataclasses import dataclass, field
from typing import Literal

from folder import ACTIVATIONS, Activation, Layout, Pretrained
from generation import IGNORED, tokenizer

import brimstone as bs
from brimstone import nn

GAP = 103
"""The token of a gap, if no tokenizer says another."""

NEUTRAL = (
    "directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
    "pooler_size_per_head", "pooler_type",
)  # fmt: skip

NAMES = {
    "words.": "embeddings.word_embeddings.",
    "places.": "embeddings.position_embeddings.",
    "kinds.": "embeddings.token_type_embeddings.",
    "embedding_norm.": "embeddings.LayerNorm.",
    "layers.": "encoder.layer.",
    "attention.q_proj.": "attention.self.query.",
    "attention.k_proj.": "attention.self.key.",
    "attention.v_proj.": "attention.self.value.",
    "attention.o_proj.": "attention.output.dense.",
    "attention_norm.": "attention.output.LayerNorm.",
    "feed_forward.linear1.": "intermediate.dense.",
    "feed_forward.linear2.": "output.dense.",
    "output_norm.": "output.LayerNorm.",
    "transform.": "cls.predictions.transform.dense.",
    "transform_norm.": "cls.predictions.transform.LayerNorm.",
    "score_bias": "cls.predictions.bias",
    "pooler.": "pooler.dense.",
}


@dataclass(frozen=True)
class Config:
    """`config.json`; what has one choice here is refused where it says anything else."""

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: Activation = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    classifier_dropout: float | None = None
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    id2label: dict[int, str] = field(
        default_factory=lambda: {0: "LABEL_0", 1: "LABEL_1"}, hash=False
    )
    model_type: Literal["bert"] = "bert"
    position_embedding_type: Literal["absolute"] = "absolute"
    is_decoder: Literal[False] = False
    add_cross_attention: Literal[False] = False
    tie_word_embeddings: Literal[True] = True


class Layer(nn.Module):
    """Attention of all to all, then a network for each position; norms of what they add up to."""

    def __init__(self, config, key, dtype=None):
        size, keys = config.hidden_size, bs.random.split(key, 2)
        dropout, own = config.attention_probs_dropout_prob, {"key": keys[0], "dtype": dtype}
        self.attention = nn.GroupedQueryAttention(
            size, config.num_attention_heads, bias=True, dropout=dropout, **own
        )
        self.attention_norm = nn.LayerNorm(size, config.layer_norm_eps, dtype=dtype)
        self.feed_forward = nn.PositionWiseFeedForward(
            size, config.intermediate_size, activation=ACTIVATIONS[config.hidden_act],
            key=keys[1], dtype=dtype,
        )  # fmt: skip
        self.output_norm = nn.LayerNorm(size, config.layer_norm_eps, dtype=dtype)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask):
        x = self.attention_norm(x + self.dropout(self.attention(x, mask=mask)))
        return self.output_norm(x + self.dropout(self.feed_forward(x)))


class Bert(Pretrained):
    """Tokens in, a vector for each out; those below go on from there."""

    Config = Config
    layout = Layout(
        prefix="bert.",
        heads=("transform", "score_bias", "classifier."),
        names=NAMES,
        older={r"\.gamma$": ".weight", r"\.beta$": ".bias"},
        spare=r"position_ids$|^cls\.predictions\.decoder\.",  # the latter is that of `words`
        neutral=NEUTRAL,
    )

    def __init__(self, config, key=None, dtype=None):
        keys, size = bs.random.split(key, config.num_hidden_layers + 3), config.hidden_size
        self.config, padding = config, config.pad_token_id
        some = {"initialiser": nn.Normal(std=config.initializer_range), "dtype": dtype}
        self.words = nn.Embedding(config.vocab_size, size, padding, key=keys[0], **some)
        self.places = nn.Embedding(config.max_position_embeddings, size, key=keys[1], **some)
        self.kinds = nn.Embedding(config.type_vocab_size, size, key=keys[2], **some)
        self.embedding_norm = nn.LayerNorm(size, config.layer_norm_eps, dtype=dtype)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.layers = tuple([Layer(config, each, dtype) for each in keys[3:]])

    def hidden(self, tokens, counts=None, kinds=None):
        """tokens [batch, length] -> [batch, length, hidden_size].

        `counts`, like the tokens, is false where there is no text but padding; `kinds` says which
        part of the text a token is of, 0 or 1.
        """
        kinds = bs.zeros_like(tokens) if kinds is None else kinds
        x = self.words(tokens) + self.kinds(kinds) + self.places(bs.arange(tokens.shape[1]))
        x = self.dropout(self.embedding_norm(x))
        mask = None if counts is None else counts[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return x


class MaskedLanguageModel(Bert):
    """Tokens in, scores of what each could be out."""

    def __init__(self, config, key=None, dtype=None):
        keys, size = bs.random.split(key, 2), config.hidden_size
        super().__init__(config, keys[0], dtype)
        self.activation = ACTIVATIONS[config.hidden_act]
        self.transform = nn.Linear(size, size, key=keys[1], dtype=dtype)
        self.transform_norm = nn.LayerNorm(size, config.layer_norm_eps, dtype=dtype)
        self.score_bias = bs.zeros(config.vocab_size, dtype=dtype)

    def forward(self, tokens, counts=None, kinds=None):
        """tokens [batch, length] -> scores [batch, length, vocabulary], see `hidden`."""
        x = self.activation(self.transform(self.hidden(tokens, counts, kinds)))
        return self.transform_norm(x) @ self.words.weight.T + self.score_bias


class Classifier(Bert):
    """Tokens in, scores of classes out."""

    def __init__(self, config, key=None, dtype=None):
        keys, size = bs.random.split(key, 3), config.hidden_size
        super().__init__(config, keys[0], dtype)
        given = config.classifier_dropout
        self.head_dropout = nn.Dropout(config.hidden_dropout_prob if given is None else given)
        self.pooler = nn.Linear(size, size, key=keys[1], dtype=dtype)
        self.classifier = nn.Linear(size, len(config.id2label), key=keys[2], dtype=dtype)

    def forward(self, tokens, counts=None, kinds=None):
        """tokens [batch, length] -> scores [batch, classes], see `hidden`."""
        first = self.hidden(tokens, counts, kinds)[:, 0]
        return self.classifier(self.head_dropout(bs.tanh(self.pooler(first))))


def loss(model, tokens, labels, counts=None, kinds=None):
    """How unexpected tokens or classes are on average, but where a label is -100."""
    scores = model(tokens, counts, kinds)
    return nn.cross_entropy(scores, labels, axis=-1, ignore_index=IGNORED)


def load(folder, classify=False, **options):
    """The model of a folder; options are those of `Pretrained.load`."""
    return (Classifier if classify else MaskedLanguageModel).load(folder, **options)


def filled(model, tokens, gap=GAP):
    """The tokens, with the likeliest ones in the gaps."""
    row = bs.asarray([tokens])
    return bs.where(row == gap, bs.argmax(model(row), axis=-1), row)[0].tolist()


def class_of(model, tokens):
    """The name of the likeliest class."""
    return model.config.id2label[int(bs.argmax(model(bs.asarray([tokens]))[0]))]


def main(arguments=None):
    parser = argparse.ArgumentParser(description="BERT fills gaps, or tells classes.")
    parser.add_argument("folder", nargs="?", help="a folder with config.json and weights")
    parser.add_argument("text", nargs="?", default="", help="needs the package `tokenizers`")
    parser.add_argument("--tokens", nargs="+", type=int, help="instead of a text")
    parser.add_argument("--classify", action="store_true", help="tell the class of the text")
    given = parser.parse_args(arguments)
    if given.folder is None:
        return demonstrate()
    model = load(given.folder, given.classify, partial=True, follow_links=True)
    known = tokenizer(given.folder) if given.tokens is None else None
    tokens = given.tokens if known is None else known.encode(given.text).ids
    if given.classify:
        found = class_of(model, tokens)
    elif known is None:
        found = filled(model, tokens)
    else:
        found = known.decode(filled(model, tokens, known.token_to_id("[MASK]")))
    print(found)
    return found


def demonstrate():
    """Models of random numbers, saved, loaded, and asked about some tokens."""
    small = Config(
        vocab_size=128, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=48, max_position_embeddings=64,
    )  # fmt: skip
    tokens, found = [101, 7, GAP, 9, 102], []
    for kind, asked in ((MaskedLanguageModel, filled), (Classifier, class_of)):
        with tempfile.TemporaryDirectory() as folder:
            kind(small, key=bs.random.key(0)).save(folder)
            found.append(asked(kind.load(folder), tokens))
        print(f"{kind.__name__}: {tokens} -> {found[-1]}")
    return found


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
