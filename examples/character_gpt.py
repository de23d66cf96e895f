"""A small GPT learns to write like the documents of this repository, letter by letter."""

from pathlib import Path

import numpy as np

import brimstone as bs
from brimstone import nn, train

DOCS = Path(__file__).resolve().parents[1] / "docs"


class GPT(nn.Module):
    """Letters in, scores of the next letter out."""

    def __init__(self, letters, length, width=128, heads=4, layers=3, key=None):
        keys = bs.random.split(key, 4)
        self.letters = nn.Embedding(letters, width, key=keys[0])
        self.places = nn.Embedding(length, width, key=keys[1])
        block = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.1, activation="gelu", norm_first=True, key=keys[2]
        )
        self.blocks = nn.TransformerEncoder(block, layers, norm=nn.LayerNorm(width))
        self.head = nn.Linear(width, letters, bias=False, key=keys[3])

    def forward(self, text):
        hidden = self.letters(text) + self.places.weight[: text.shape[1]]
        return self.head(self.blocks(hidden, is_causal=True))


def loss(model, text):
    scores = model(text[:, :-1])
    return nn.cross_entropy(scores.reshape(-1, scores.shape[-1]), text[:, 1:].reshape(-1))


def written(model, start, count, length, key):
    """The start, continued by so many letters, each drawn from what the model expects."""
    choose = bs.jit(lambda model, text, last, key: bs.random.categorical(key, model(text)[0, last]))
    text = list(start)
    for step in range(count):
        seen = text[-length:]
        row = bs.asarray(seen + [0] * (length - len(seen)))[None]
        at = bs.asarray(len(seen) - 1)
        text.append(int(choose(model, row, at, bs.random.fold_in(key, step))))
    return text


def main(steps=300, batch=16, length=64, **sizes):
    text = "".join([path.read_text("utf-8") for path in sorted(DOCS.glob("*.md"))])
    letters = sorted(set(text))
    places = {letter: place for place, letter in enumerate(letters)}
    data = np.asarray([places[letter] for letter in text])
    random = np.random.default_rng(0)

    def batches(_):
        for _ in range(steps):
            starts = random.integers(0, len(data) - length - 1, batch)
            yield bs.asarray(np.stack([data[at : at + length + 1] for at in starts]))

    model = GPT(len(letters), length, key=bs.random.key(0), **sizes)
    rate = train.schedules.OneCycle(3e-3, steps)
    learner = train.Learner(loss, train.AdamW(lr=rate))
    run = learner.fit(model, batches, listeners=[train.render.Lines()])
    start = [places[letter] for letter in "The "]
    made = written(run.model, start, 200, length, bs.random.key(1))
    print("".join([letters[place] for place in made]))
    return run


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
