"""Whether models train, and with which randomness: said around a call, never in a module.

Comes in: `with nn.training(key):` and `with nn.inference():`. Goes out: what modules ask: whether
they train, and keys of random numbers, each another one.
Never: state. Outside any context models infer; the same tree in the same context gives the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..frontend.errors import ArgumentError, fail
from ..frontend.functions.keys import key as key_of
from ..frontend.generator import draw_key
from ..frontend.handle import Handle, wrap
from ..frontend.surroundings import Surroundings, current_surroundings, surrounded
from .scope import path_of, running_module


class Context:
    """What a block says; it collects what modules leave to be updated."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def updated(self, tree: Any) -> Any:
        """The tree with the values that its modules have left so far, such as running means."""
        return self._surroundings.updates.applied(tree)


@contextmanager
def training(key: Any = None) -> Iterator[Context]:
    """While the block runs, models train: dropout drops, norms of batches use the batch.

    Random numbers are made of `key`, a key or a seed; without one, of the default generator.
    """
    if isinstance(key, bool):
        hint = "`nn.inference()` says that models do not train"
        fail(ArgumentError, "training", "a key or a seed is given, and no boolean", key, hint=hint)
    made = key if key is None or isinstance(key, Handle) else key_of(key)
    with surrounded(True, made) as surroundings:
        yield Context(surroundings)


@contextmanager
def inference() -> Iterator[Context]:
    """While the block runs, models infer, whatever is said around it."""
    with surrounded(False) as surroundings:
        yield Context(surroundings)


def is_training() -> bool:
    """Whether models train where this is asked."""
    surroundings = current_surroundings()
    return surroundings is not None and surroundings.training


def next_key() -> Any:
    """A key for random numbers of the module that is being called, another one at each call.

    It is a function of the context's key, of where the module is in the model, and of how often
    it has asked.
    """
    module, surroundings = running_module(), current_surroundings()
    path = "" if module is None else path_of(module)
    found = None if surroundings is None else surroundings.next_key(path)
    return wrap(draw_key()) if found is None else found
