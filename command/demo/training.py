"""How the demo's network is trained, and whether a step of that is right.

Comes in: a seed, and digits. Goes out: a run, whose bits depend on nothing else; a hash of weights;
the distance of a step from the interpreter's.
Never: what is shown of them.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from ... import asarray, device, random, tree_leaves, tree_map
from ...data import Example, InMemory, Loader
from ...ir.shared.properties import cached_property
from ...train import Adam, Learner, Listener, Run, State
from ...train.schedules import OneCycle
from .digits import Array, Network, accuracy, loss, moved, with_margin

EPOCHS, BATCH, RATE = 20, 64, 8e-3
"""How long, and how fast; of what is held out, each of the seeds 0 to 9 then reads over 98.8 %."""
TOLERANCE = 1e-4
"""How far a step may be from the interpreter's, relative to max(1, |x|): sums are reordered."""
HASH_LETTERS = 12


@dataclass(frozen=True)
class Training:
    """A network that learns to read `learned`, and is judged by `held`."""

    learned: Example
    held: Example
    seed: int = 0
    epochs: int = EPOCHS

    def run(self, *listeners: Listener) -> Run:
        """All epochs, as others watch."""
        held = Loader(InMemory(self.held), len(self.held.label))
        return self.learner.fit(
            Network(random.key(self.seed)), self.batches, epochs=self.epochs, valid=held,
            listeners=listeners, name="digits",
        )  # fmt: skip

    @cached_property
    def batches(self) -> Loader:
        """Images in another order each epoch, each moved a little; the seed decides how."""
        wide = InMemory(with_margin(self.learned))
        return Loader(
            wide, BATCH, shuffle=True, seed=self.seed, drop_last=True, augment_batch=moved
        )

    @cached_property
    def learner(self) -> Learner:
        """A step of training: its rate rises, then falls to almost nothing."""
        rate = OneCycle(RATE, self.epochs * len(self.batches))
        return Learner(loss, Adam(rate), metrics={"accuracy": accuracy}, seed=self.seed)

    @property
    def batch(self) -> Example:
        """The first images, as they are, to look at a step with."""
        return Example(self.learned.input[:BATCH], self.learned.label[:BATCH])


def read(network: Network, images: Array) -> Array:
    """Which digit a network reads in each image."""
    return network(asarray(images)).argmax(axis=1).numpy()


def fingerprint(network: Network) -> str:
    """The beginning of a hash of all weights: another one if a single bit is."""
    found = sha256()
    for each in tree_leaves(network):
        found.update(each.numpy().tobytes())
    return found.hexdigest()[:HASH_LETTERS]


def difference(learner: Learner, state: State, batch: Example) -> tuple[int, float]:
    """One step from a state, and the same by the interpreter: how many tensors, how far apart.

    The greatest difference is relative to max(1, |x|). The state may be read again.
    """
    expected = tree_leaves(stepped(learner, state, batch, "reference"))
    made = tree_leaves(stepped(learner, state, batch, str(state.step.device)))
    pairs = zip(made, expected, strict=True)
    return len(made), max([apart(one.numpy(), other.numpy()) for one, other in pairs])


def stepped(learner: Learner, state: State, batch: Example, place: str) -> Any:
    """What a step gives on a device: a state, a loss and an accuracy."""

    with device(place):
        own = tree_map(lambda tensor: asarray(np.array(tensor)), state)
        state, report = learner.step(own, tree_map(asarray, batch))
    return state, report.loss, report.values


def apart(one: Array, other: Array) -> float:
    """The greatest difference of two arrays."""
    one, other = one.astype(np.float64), other.astype(np.float64)
    return float(np.max(np.abs(one - other) / np.maximum(1, np.abs(other)), initial=0))
