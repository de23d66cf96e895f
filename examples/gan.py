"""Two networks learn against each other, in a loop of one's own: points on a ring, from noise."""

from functools import partial
from itertools import pairwise

import brimstone as bs
from brimstone import nn, train


def network(sizes, key):
    """Linear layers with rectifiers in between."""
    layers = []
    for number, (one, other) in enumerate(pairwise(sizes)):
        layers += [nn.Linear(one, other, key=bs.random.fold_in(key, number)), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def ring(key, count):
    """Points near a circle."""
    angle = bs.random.uniform(key, (count,), maxval=6.2831853)
    points = bs.stack([bs.cos(angle), bs.sin(angle)], axis=1)
    return points + 0.05 * bs.random.normal(bs.random.fold_in(key, 1), points.shape)


def judged(judge, points, real):
    """How badly a judge of points does."""
    scores = judge(points)[:, 0]
    return nn.binary_cross_entropy_with_logits(scores, bs.full_like(scores, float(real)))


def judge_loss(judge, maker, noise, points):
    made = bs.stop_gradient(maker(noise))
    return judged(judge, points, True) + judged(judge, made, False)


def maker_loss(maker, judge, noise):
    return judged(judge, maker(noise), True)


@partial(bs.jit, donate=("maker", "judge", "memories"), static="optimiser")
def step(maker, judge, memories, key, optimiser):
    """The judge learns, then the maker does."""
    keys = bs.random.split(key, 3)
    noise = [bs.random.normal(keys[number], (128, 4)) for number in range(2)]
    value, slopes = bs.value_and_grad(judge_loss)(judge, maker, noise[0], ring(keys[2], 128))
    judge, for_judge = optimiser.update(judge, slopes, memories[1])
    _, slopes = bs.value_and_grad(maker_loss)(maker, judge, noise[1])
    maker, for_maker = optimiser.update(maker, slopes, memories[0])
    return maker, judge, (for_maker, for_judge), value


def main(steps=2000):
    maker = network([4, 64, 64, 2], bs.random.key(1))
    judge = network([2, 64, 64, 1], bs.random.key(2))
    optimiser = train.Adam(lr=1e-3, betas=(0.5, 0.99))
    memories = optimiser.initial(maker), optimiser.initial(judge)
    for number in range(steps):
        key = bs.random.key(number)
        maker, judge, memories, value = step(maker, judge, memories, key, optimiser)
    made = maker(bs.random.normal(bs.random.key(9), (1000, 4)))
    radius = bs.linalg.vector_norm(made, axis=1)
    print(f"judge {value:.2f}; points at a distance of {radius.mean():.2f} ± {radius.std():.2f}")
    return radius


if __name__ == "__main__":
    with bs.device("cpu"):
        main()
