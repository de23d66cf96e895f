"""A kernel written by hand, with its gradient, as the activation of a model that learns."""

import brimstone as bs
from brimstone import nn, tiles, train


@bs.kernel
def bent_slope(x, cotangent, *, tile=256):
    """The cotangent times the derivative of `bent`."""
    size = tiles.equal(x.shape[0], cotangent.shape[0])
    out = tiles.result(x.shape, x.dtype)
    at = tiles.grid(tiles.ceil_div(size, tile)) * tile
    below = 1.0 + tiles.abs(x.load(at, tile))
    out.store(at, cotangent.load(at, tile) / (below * below))


def bent_gradient(inputs, output, cotangent):
    return (bent_slope(inputs[0], cotangent),)


@bs.kernel(gradient=bent_gradient)
def bent(x, *, tile=256):
    """x / (1 + |x|), in one pass."""
    out = tiles.result(x.shape, x.dtype)
    at = tiles.grid(tiles.ceil_div(x.shape[0], tile)) * tile
    loaded = x.load(at, tile)
    out.store(at, loaded / (1.0 + tiles.abs(loaded)))


class Bent(nn.Module):
    """The kernel as a layer; it takes lines, so that the rest is made one."""

    def forward(self, x):
        return bent(x.reshape(-1)).reshape(x.shape)


def loss(model, batch):
    x, y = batch
    return nn.mse_loss(model(x)[:, 0], y)


def main(epochs=200):
    x = bs.linspace(-3, 3, 256)[:, None]
    model = nn.Sequential(
        nn.Linear(1, 32, key=bs.random.key(0)), Bent(), nn.Linear(32, 1, key=bs.random.key(1))
    )
    learner = train.Learner(loss, train.Adam(lr=0.02))
    run = learner.fit(model, [(x, bs.sin(2 * x[:, 0]))], epochs=epochs)
    first, last = run.history[0].values["loss"], run.history[-1].values["loss"]
    print(f"mean squared error of a sine: {first:.3f} before, {last:.5f} after")
    return run


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
