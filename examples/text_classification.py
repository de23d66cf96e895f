"""An LSTM tells whether sentences praise or complain; the sentences are put together here."""

import random

import numpy as np

import brimstone as bs
from brimstone import nn, train

THINGS = ["the film", "this book", "our hotel", "the soup", "that game", "the new phone"]
GOOD = ["a joy", "wonderful", "well made", "a pleasure", "brilliant", "worth every minute"]
BAD = ["a bore", "dreadful", "badly made", "a disappointment", "stale", "a waste of time"]
TWISTS = ["", "not ", "hardly ", "never "]
PARTS = (THINGS, GOOD, BAD, TWISTS, ["is"])
WORDS = sorted({word for part in PARTS for text in part for word in text.split()})
LONGEST = 12


def sentence(draw):
    """A sentence, and whether it praises: a twist turns its meaning round."""
    good, twist = draw.random() < 0.5, draw.choice(TWISTS)
    text = f"{draw.choice(THINGS)} is {twist}{draw.choice(GOOD if good else BAD)}"
    return text.split(), good != bool(twist)


def numbers(words):
    """The words as numbers from 1 on, filled up with zeros; and how many they are."""
    found = [WORDS.index(word) + 1 if word in WORDS else 0 for word in words]
    return found + [0] * (LONGEST - len(found)), len(found)


def batches(seed, count, size=64):
    draw = random.Random(seed)
    for _ in range(count):
        texts, labels = zip(*[sentence(draw) for _ in range(size)], strict=True)
        rows, lengths = zip(*map(numbers, texts), strict=True)
        yield tuple(map(bs.asarray, map(np.asarray, (rows, lengths, labels))))


class Reader(nn.Module):
    """Words in, one score out: above 0 for praise."""

    def __init__(self, width=32, key=None):
        keys = bs.random.split(key, 3)
        self.words = nn.Embedding(len(WORDS) + 1, width, padding_idx=0, key=keys[0])
        self.layers = nn.LSTM(width, width, bidirectional=True, key=keys[1])
        self.head = nn.Linear(2 * width, 1, key=keys[2])

    def forward(self, rows, lengths):
        _, (last, _) = self.layers(self.words(rows), lengths=lengths)
        return self.head(bs.concat([last[0], last[1]], axis=1))[:, 0]


def loss(model, batch):
    rows, lengths, labels = batch
    scores = model(rows, lengths)
    return nn.binary_cross_entropy_with_logits(scores, labels.astype(bs.float32)), scores


def accuracy(scores, batch):
    return ((scores > 0) == batch[2]).astype(bs.float32).mean()


def main(epochs=4, steps=40):
    learner = train.Learner(loss, train.AdamW(lr=5e-3), metrics={"accuracy": accuracy})
    model = Reader(key=bs.random.key(0))
    check = list(batches(-1, 4))
    run = learner.fit(model, lambda epoch: batches(epoch, steps), epochs=epochs, valid=check)
    print(f"{run.history[-1].values['accuracy']:.1%} of new sentences are understood")
    for text in ("the soup is wonderful", "this book is never a bore", "that game is stale"):
        row, length = numbers(text.split())
        score = run.model(bs.asarray([row]), bs.asarray([length])).item()
        print(f"{text}: {'praise' if score > 0 else 'complaint'}")
    return run


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
