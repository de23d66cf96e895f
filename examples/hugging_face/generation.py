"""Texts continued token by token, by models whose blocks remember what they have seen.

Comes in: a model, and tokens [batch, length]; or a folder and a text, from the command line. Goes
out: tokens, or a text.
Never: a step that is compiled anew because the text has grown.
"""

import argparse
import tempfile
from abc import abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any

import brimstone as bs
from brimstone import nn

IGNORED = -100
"""The target of what no loss is taken of."""


class LanguageModel(nn.Module):
    """Tokens in, scores of the next token out; `blocks` are called one after the other."""

    blocks: tuple[Any, ...]

    @abstractmethod
    def embedded(self, tokens, counts, cache):
        """Vectors of tokens, for the first block."""

    @abstractmethod
    def scores(self, hidden):
        """Scores of the next token, of what the last block makes."""

    def forward(self, tokens, counts=None, cache=None):
        """tokens [batch, length] -> scores [batch, length, vocabulary].

        `counts`, [batch, keys], is false where there is no text but padding. With a `cache` the
        tokens go on where it ends, `counts` has its capacity, and the next one is returned, too.
        """
        hidden, cache = self.hidden(tokens, counts, cache)
        return self.scores(hidden) if cache is None else (self.scores(hidden), cache)

    def hidden(self, tokens, counts=None, cache=None):
        """What the last block makes of each token, and the next cache."""
        x, after = self.embedded(tokens, counts, cache), []
        for number, block in enumerate(self.blocks):
            x, kept = block(x, counts, None if cache is None else cache[number])
            after.append(kept)
        return x, None if cache is None else tuple(after)

    def empty_cache(self, batch, capacity):
        """Room for what each block remembers of as many tokens."""
        return tuple([block.attention.empty_cache(batch, capacity) for block in self.blocks])


def ends(setting):
    """The tokens that end a text, of which configs name one, several, or None."""
    return () if setting is None else (setting,) if isinstance(setting, int) else setting


def places(tokens, counts, cache):
    """Where each token stands in its text, [batch or 1, length], which begins behind padding."""
    found = bs.arange(tokens.shape[1])[None]
    if cache is not None:
        found = found + cache[0].position
    if counts is None:
        return found
    return bs.maximum(found - bs.argmax(counts.astype(bs.int32), axis=1, keepdims=True), 0)


def loss(model, tokens, counts=None):
    """How unexpected each token is after those before it, on average."""
    targets = tokens[:, 1:]
    if counts is not None:
        targets = bs.where(counts[:, 1:], targets, IGNORED)
    scores = model(tokens, counts)[:, :-1]
    return nn.cross_entropy(scores, targets, axis=-1, ignore_index=IGNORED)


@bs.jit(donate="cache")
def step(model, tokens, counts, cache, temperature, key):
    """The next token of each text, and the next cache; without a temperature, the likeliest one."""
    hidden, after = model.hidden(tokens, counts, cache)
    scores = model.scores(hidden[:, -1])
    if temperature is None:
        return bs.argmax(scores, axis=-1), after
    own = bs.random.fold_in(key, cache[0].position)
    return bs.random.categorical(own, scores / temperature), after


def generate(model, tokens, count, *, counts=None, temperature=None, key=None, end=()):
    """Lists of at most `count` tokens, with which the model continues each row of tokens.

    A text ends with a token of `end`. Shorter texts have padding in front, where `counts` is false.
    Tokens are the likeliest ones, or, with a temperature, drawn by a key.
    """
    batch, length = tokens.shape
    cache = model.empty_cache(batch, length + count)
    if counts is not None:
        if not counts[:, -1].all():
            raise ValueError("padding stands in front of a text that is continued, not behind it")
        counts = bs.concat([counts, bs.ones((batch, count), dtype=bs.bool)], axis=1)
    drawn = (None, None)
    if temperature is not None:
        drawn = bs.asarray(float(temperature)), bs.random.key(0) if key is None else key
    made = [[] for _ in range(batch)]
    for _ in range(count):
        found, cache = step(model, tokens, counts, cache, *drawn)
        for text, token in zip(made, found.tolist(), strict=True):
            if not text or text[-1] not in end:
                text.append(token)
        if all([text[-1] in end for text in made]):
            break
        tokens = found[:, None]
    return made


def tokenizer(folder):
    """What makes tokens of texts and texts of tokens, of the package `tokenizers`."""
    try:
        library = import_module("tokenizers")
    except ImportError:
        raise SystemExit("texts need the package `tokenizers`; or give --tokens 1 2 3") from None
    return library.Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))


def main(kind, small, arguments=None):
    """What the command line asks for; without a folder, of a model of random numbers."""
    parser = argparse.ArgumentParser(description=f"{kind.__name__} continues a text.")
    parser.add_argument("folder", nargs="?", help="a folder with config.json and weights")
    parser.add_argument("text", nargs="?", help="needs the package `tokenizers`")
    parser.add_argument("--tokens", nargs="+", type=int, help="instead of a text")
    parser.add_argument("--count", type=int, default=20, help="how many tokens to add")
    parser.add_argument("--temperature", type=float, help="draw tokens; not the likeliest ones")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.folder is None:
        return demonstrate(kind, small, given)
    model = kind.load(given.folder, follow_links=True)
    if given.tokens is not None:
        print(made := continued(model, given.tokens, given))
        return made
    known = tokenizer(given.folder)
    tokens = known.encode(given.text or "").ids
    made = continued(model, tokens, given)
    print(known.decode([*tokens, *made]))
    return made


def demonstrate(kind, small, given):
    """A model of random numbers, saved, loaded, and asked to continue a few tokens."""
    with tempfile.TemporaryDirectory() as folder:
        kind(small, key=bs.random.key(given.seed)).save(folder)
        print("saved:", *sorted([path.name for path in Path(folder).iterdir()]))
        model = kind.load(folder)
    made = continued(model, given.tokens or [1, 2, 3], given)
    print(f"{given.tokens or [1, 2, 3]} goes on {made}")
    return made


def continued(model, tokens, given):
    """The tokens that the model adds to a text."""
    key = bs.random.key(given.seed)
    options = {"temperature": given.temperature, "key": key, "end": model.config.ends}
    return generate(model, bs.asarray([tokens]), given.count, **options)[0]
