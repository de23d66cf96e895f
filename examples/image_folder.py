"""Circles and squares in a folder of images, told apart; `pip install 'brimstone[images]'`."""

import random
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

import brimstone as bs
from brimstone import data, nn, train

SIDE = 24


def draw_images(folder, count=120):
    """A folder for each class, with images of one shape somewhere."""
    draw = random.Random(0)
    for name in ("circle", "square"):
        (folder / name).mkdir()
        for number in range(count):
            image = Image.new("RGB", (SIDE, SIDE), tuple(draw.randrange(100) for _ in range(3)))
            x, y, size = draw.randrange(1, 10), draw.randrange(1, 10), draw.randrange(8, 13)
            canvas, colour = (
                ImageDraw.Draw(image),
                tuple(draw.randrange(150, 256) for _ in range(3)),
            )
            shape = canvas.ellipse if name == "circle" else canvas.rectangle
            shape((x, y, x + size, y + size), fill=colour)
            image.save(folder / name / f"{number}.png")


def network(key):
    keys = bs.random.split(key, 3)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, key=keys[0]), nn.BatchNorm2d(8), bs.relu, nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, key=keys[1]), nn.BatchNorm2d(16), bs.relu,
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 2, key=keys[2]),
    )  # fmt: skip


def loss(model, batch):
    images, labels = batch
    scores = model(images.astype(bs.float32) / 255)
    return nn.cross_entropy(scores, labels), scores


def accuracy(scores, batch):
    return (scores.argmax(axis=1) == batch[1]).astype(bs.float32).mean()


def main(epochs=16, count=120):
    with tempfile.TemporaryDirectory() as folder:
        draw_images(Path(folder), count)
        images = data.ImageFolder(folder)
        learned, held_out = data.split(images, [0.75, 0.25], seed=0)
        loader = data.Loader(learned, 32, shuffle=True, workers="threads")
        learner = train.Learner(loss, train.AdamW(lr=5e-3), metrics={"accuracy": accuracy})
        run = learner.fit(
            network(bs.random.key(0)), loader, epochs=epochs, valid=data.Loader(held_out, 30)
        )
    print(f"{run.history[-1].values['accuracy']:.1%} of the images that were held out")
    return run


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
