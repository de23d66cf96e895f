"""A line through points of a CSV file: the smallest use of a dataset, a loader and the Learner."""

import random
import tempfile
from pathlib import Path

import brimstone as bs
from brimstone import data, nn, train


def write_houses(path, count=500):
    """A table of made-up houses: their size, their age, and a price with some noise."""
    draw = random.Random(0)
    with open(path, "w", encoding="utf-8") as file:
        print("size,age,price", file=file)
        for _ in range(count):
            size, age = draw.uniform(0.4, 2.0), draw.uniform(0.0, 1.0)
            price = 3.0 * size - 0.5 * age + 0.25 + draw.gauss(0, 0.05)
            print(f"{size:.4f},{age:.4f},{price:.4f}", file=file)


def loss(model, batch):
    points = bs.stack([batch["size"], batch["age"]], axis=1).astype(bs.float32)
    return nn.mse_loss(model(points)[:, 0], batch["price"].astype(bs.float32))


def main(epochs=20):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "houses.csv"
        write_houses(path)
        houses = data.Csv(path, convert=dict.fromkeys(["size", "age", "price"], float))
        learned, held_out = data.split(houses, [0.8, 0.2], seed=0)
        loader = data.Loader(learned, 32, shuffle=True, seed=0)
        check = data.Loader(held_out, 100)
        learner = train.Learner(loss, train.Adam(lr=0.1))
        model = nn.Linear(2, 1, key=bs.random.key(0))
        run = learner.fit(model, loader, epochs=epochs, valid=check)
    weights = run.model.weight.numpy()[0].round(2).tolist()
    print(f"price = {weights[0]} size + {weights[1]} age + {run.model.bias.item():.2f}")
    print(f"mean squared error of houses that were held out: {run.history[-1].values['loss']:.4f}")
    return run


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
