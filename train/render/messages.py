"""What the process that trains tells the one that draws.

Comes in: events, and how the process is. Goes out: what can be pickled, and cheaply: of batches
there may be thousands a second; then the same again.
Never: a tensor, or a table of values that somebody may still change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..events import Ended, EpochEnded, Event, Progress
from .health import Health

Message = Event | Health


def packed(message: Message) -> Any:
    """What is sent. A batch is a row of what it holds: that costs a tenth of the object."""
    if isinstance(message, Progress):
        place = message.epoch, message.step, message.place, message.steps
        return (message.split, *place, dict(message.values), message.items, message.seconds)
    if isinstance(message, EpochEnded | Ended):
        return replace(message, values=dict(message.values))
    return message


def unpacked(sent: Any) -> Message:
    """The message that was sent."""
    return Progress(*sent) if isinstance(sent, tuple) else sent
