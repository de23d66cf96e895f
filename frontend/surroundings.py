"""What is said around calls rather than in them: whether models train, and with which randomness.

Comes in: `nn.training` and `nn.inference`, as contexts. Goes out: what holds where a function runs,
also inside a function that is compiled; there the key of random numbers is an argument.
Never: a key that is baked into a compiled step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from inspect import Parameter, signature
from typing import Any
from zlib import crc32

from .blocks import Blocks
from .errors import TracedValueError, fail
from .functions.keys import fold_in
from .generator import each_time
from .handle import wrap
from .updates import Updates, collecting

KEY_PARAMETER = "surrounding_key"
"""By which name a compiled function gets the key of what surrounds it."""


class Surroundings:
    """Whether models train; the key that their randomness is made of, None for the default
    generator's; how often each part has drawn; and the values that they leave."""

    __slots__ = ("counts", "key", "training", "updates")

    def __init__(self, training: bool, key: Any, updates: Updates) -> None:
        self.training, self.key, self.updates = training, key, updates
        self.counts: dict[str, int] = {}

    def next_key(self, name: str) -> Any:
        """A key for who has this name: another one each time it asks, and at each step of a loop
        and for each element of a vmap; None for the default's."""
        self.counts[name] = self.counts.get(name, -1) + 1
        if self.key is None:
            return None
        key = fold_in(self.key, crc32(f"{name} {self.counts[name]}".encode()))
        return wrap(each_time(key.node, self.updates.trace))


_SURROUNDINGS = Blocks()


def current_surroundings() -> Surroundings | None:
    """What has been said around what this thread is doing."""
    return _SURROUNDINGS.innermost


@contextmanager
def surrounded(training: bool, key: Any = None) -> Iterator[Surroundings]:
    """While the block runs, models train or do not; values that they leave are collected."""
    with collecting() as updates:
        made = Surroundings(training, key, updates)
        with _SURROUNDINGS.saying(made):
            yield made


@contextmanager
def unsurrounded() -> Iterator[None]:
    """While the block runs, nothing has been said."""
    with _SURROUNDINGS.saying(None):
        yield


def within(function: Callable[..., Any], training: bool) -> Callable[..., Any]:
    """The function as it is in such surroundings, with their key as one more keyword argument."""

    def inside(*args: Any, surrounding_key: Any = None, **kwargs: Any) -> Any:
        with surrounded(training, surrounding_key) as around:
            result = function(*args, **kwargs)
        for place in around.updates.places:
            fail(
                TracedValueError, f"{type(place.owner).__name__}.update",
                f"{place.name} is updated inside a compiled function, and nobody there takes it",
                hint="enter `nn.training()` inside the function and return `context.updated(model)`"
                ", or use `bs.value_and_grad(..., updates=True)` there",
            )  # fmt: skip
        return result

    update_wrapper(inside, function, updated=())
    try:
        known = signature(function)
    except (TypeError, ValueError):  # Python does not know the parameters
        return inside
    named = Parameter(KEY_PARAMETER, Parameter.KEYWORD_ONLY, default=None)
    rest = [each for each in known.parameters.values() if each.kind is Parameter.VAR_KEYWORD]
    plain = [each for each in known.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    inside.__signature__ = known.replace(parameters=[*plain, named, *rest])  # pyright: ignore[reportFunctionMemberAccess]
    return inside
