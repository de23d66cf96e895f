"""Where a run's batches come from: iterables, functions of an epoch's number, loaders.

Comes in: a source, and where the run is. Goes out: the batches of an epoch that are left, how many
it has, what a loader needs to go on.
Never: an epoch without a batch, or a loader's place that counts batches nobody has taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, Protocol, runtime_checkable

from ..frontend.errors import ArgumentError, fail
from .saving import Position

Source = Iterable[Any] | Callable[[int], Iterable[Any]]
"""Batches, or a function from the number of an epoch to its batches."""


@runtime_checkable
class Restorable(Protocol):
    """A source that knows how far it is, and can go on there."""

    def __iter__(self) -> Iterator[Any]: ...

    def state(self) -> Any: ...

    def restore(self, state: Any, /) -> Any: ...


def batches_of(source: Source, epoch: int) -> Iterator[Any]:
    """All batches of an epoch, of which there is one at least."""
    batches = _begun(source, epoch)
    for first in batches:
        return chain([first], batches)
    hint = "an iterator can be read once: give a list, a loader, or a function of the epoch"
    fail(ArgumentError, "fit", f"epoch {epoch + 1} has no batches", hint=hint)


def batches_left(source: Source, position: Position) -> Iterator[Any]:
    """The batches of an epoch that are left: a loader goes on by itself, of others the batches that
    have been are left out."""
    if position.data is None or not isinstance(source, Restorable):
        return islice(batches_of(source, position.epoch), position.place, None)
    source.restore(position.data)
    begin = _begun if position.place else batches_of  # none may be left of an epoch that was begun
    return begin(source, position.epoch)


def state_of(source: Source) -> Any:
    """Where a loader is, if it can go on there."""
    return source.state() if isinstance(source, Restorable) else None


def length_of(source: Source) -> int | None:
    """How many batches an epoch has, if that is known before its end."""
    try:
        return len(source)  # pyright: ignore[reportArgumentType]
    except TypeError:
        return None


def _begun(source: Source, epoch: int) -> Iterator[Any]:
    return iter(source(epoch) if callable(source) else source)
