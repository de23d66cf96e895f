"""Checkpoints: a run as it was after a step, so that it can go on as if it had never ended."""

from .position import Position
from .saver import Saver, Saving
from .strategies import Composed, KeepAll, KeepBest, KeepLast, Record, Strategy

__all__ = [
    "Composed",
    "KeepAll",
    "KeepBest",
    "KeepLast",
    "Position",
    "Record",
    "Saver",
    "Saving",
    "Strategy",
]
