"""A convolutional network learns to read digits of 8 by 8 pixels, with the Learner.

`pip install scikit-learn` brings the digits. `brimstone demo` shows more of such a network.
"""

import numpy as np
from sklearn.datasets import load_digits  # pyright: ignore[reportMissingImports]

import brimstone as bs
from brimstone import nn, train


def network(key):
    keys = bs.random.split(key, 4)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, key=keys[0]),
        bs.relu,
        nn.Conv2d(16, 32, 3, padding=1, key=keys[1]),
        bs.relu,
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(32 * 4 * 4, 64, key=keys[2]),
        bs.relu,
        nn.Linear(64, 10, key=keys[3]),
    )


def loss(model, batch):
    images, labels = batch
    scores = model(images)
    return nn.cross_entropy(scores, labels), scores


def accuracy(scores, batch):
    return (scores.argmax(axis=1) == batch[1]).astype(bs.float32).mean()


def main(epochs=12, size=64):
    images, labels = load_digits(return_X_y=True)
    images = (images / 8 - 1).astype(np.float32).reshape(-1, 1, 8, 8)
    order = np.random.default_rng(0).permutation(len(images))
    held_out, learned = order[:360], order[360:]

    def batches(epoch):
        shuffled = np.random.default_rng(epoch).permutation(learned)
        for first in range(0, len(shuffled) - size + 1, size):
            places = shuffled[first : first + size]
            yield bs.asarray(images[places]), bs.asarray(labels[places])

    held = [(bs.asarray(images[held_out]), bs.asarray(labels[held_out]))]
    learner = train.Learner(loss, train.AdamW(lr=2e-3), metrics={"accuracy": accuracy})
    run = learner.fit(network(bs.random.key(0)), batches, epochs=epochs, valid=held)
    for event in run.history:
        if event.split == "valid":
            values = event.values
            print(f"epoch {event.epoch}: {values['loss']:.4f} {values['accuracy']:.2%}")
    return run


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
