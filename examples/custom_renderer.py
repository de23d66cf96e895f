"""Training drawn as a line of blocks that sinks with the loss: a listener of one's own."""

from math import log

import brimstone as bs
from brimstone import nn, train

BLOCKS = " ▁▂▃▄▅▆▇█"


class Skyline:
    """A block for each epoch, as high as the logarithm of its loss."""

    def __init__(self):
        self.losses = []

    def __call__(self, event):
        """What happens, as the Learner tells it; to return a `train.Stop` would end the run."""
        if isinstance(event, train.EpochEnded) and event.split == "train":
            self.losses.append(log(event.values["loss"]))
        if isinstance(event, train.Ended):
            print(f"{self.drawn()}  {event.reason} after {event.step} steps")

    def drawn(self):
        low, high = min(self.losses), max(self.losses)
        heights = [(each - low) / ((high - low) or 1) for each in self.losses]
        return "".join([BLOCKS[round(height * (len(BLOCKS) - 1))] for height in heights])


def loss(model, batch):
    return nn.mse_loss(model(batch[0])[:, 0], batch[1])


def main(epochs=40):
    points = bs.random.normal(bs.random.key(0), (256, 3))
    values = points[:, 0] * 2 - points[:, 1]
    batches = [(points[at : at + 64], values[at : at + 64]) for at in range(0, 256, 64)]
    skyline = Skyline()
    learner = train.Learner(loss, train.SGD(lr=0.02))
    learner.fit(nn.Linear(3, 1, key=bs.random.key(1)), batches, epochs=epochs, listeners=[skyline])
    return skyline


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
