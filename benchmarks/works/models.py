"""Steps of training of whole models: the character GPT, the network that reads digits, an MLP.

Comes in: a device. Goes out: works. All sides begin with the same weights, so losses agree after
some steps; every call reads the loss as a number.
Never: data that is loaded; all steps see one batch.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.harness.work import Run, Work
from benchmarks.learning import cases
from benchmarks.learning.case import Case
from benchmarks.learning.trainers import Trainer, ours, peers

STEPS_BEFORE = 5
"""After so many steps losses must agree: each has seen all gradients of those before."""
STEPS_TOGETHER = 5
"""So many follow each other in a turn, as they do where somebody trains: after a pause the first
one finds cold caches and cores that sleep."""


def works(device: str) -> Iterator[Work]:
    """A step of each model."""
    for case in cases().values():
        yield step(case, device)


def step(case: Case, device: str) -> Work:
    """One step of the Learner beside PyTorch's, op by op and compiled."""
    return Work(
        group="training of models",
        name=case.name,
        inputs=lambda: next(case.batches()),
        sides={
            "brimstone": partial(_carried_on, partial(ours, case, device)),
            "torch": partial(_carried_on, partial(peers, case)),
            "torch compiled": partial(_carried_on, partial(peers, case, compiled=True)),
        },
        operations=sum(case.operations.values()),
        tolerance=1e-4,
        calls_before=STEPS_BEFORE,
        together=STEPS_TOGETHER,
    )


def _carried_on(begin: Callable[[], Trainer], given: Any, wanted: Any) -> Run:
    """A step on the same batch again and again."""
    trainer = begin()
    return partial(trainer.step, trainer.put((given, wanted)))
