"""Datasets that workers can import, and what they do wrong.

Comes in: a size, a place where something happens. Goes out: datasets, and functions for loaders.
"""

import os
import signal
from collections.abc import Iterator
from time import sleep
from typing import Any

import numpy as np


class Squares:
    """Places and their squares."""

    def __init__(self, count: int = 10) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> dict[str, Any]:
        return {"place": place, "square": float(place) ** 2, "name": f"n{place}"}


class Failing(Squares):
    """One item cannot be had."""

    def __getitem__(self, place: int) -> Any:
        if place == 5:
            raise ValueError("five is out of order")
        return super().__getitem__(place)


class Deadly(Squares):
    """One item kills whoever asks for it."""

    def __getitem__(self, place: int) -> Any:
        if place == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(place)


class Endless(Squares):
    """Most items take an hour."""

    def __getitem__(self, place: int) -> Any:
        if place >= 5:
            sleep(3600)
        return super().__getitem__(place)


class Processes(Squares):
    """Who makes the items."""

    def __getitem__(self, place: int) -> int:
        return os.getpid()


def jittered(item: dict[str, Any], generator: np.random.Generator) -> dict[str, Any]:
    """An item with noise."""
    return {**item, "noise": float(generator.random())}


def shaken(batch: dict[str, Any], generator: np.random.Generator) -> dict[str, Any]:
    """A batch with a number for each item that only the batch decides."""
    return {**batch, "shake": generator.random(len(batch["place"]))}


def generated(dataset: Any) -> Iterator[Any]:
    """The items of a dataset as a stream."""
    return map(dataset.__getitem__, range(len(dataset)))


def lazily(items: Any) -> Iterator[Any]:
    """What no process can send to another one."""
    return (item for item in items)


def counted(count: int) -> Iterator[int]:
    """The integers below `count`."""
    return iter(range(count))
