"""Messages between a loader and its workers, which are processes.

Comes in: values, the files of a socket. Goes out: the same values in the other process. Arrays
travel beside the pickle of a value, so that they are not copied into it.
Never: a message from anybody but a process that this one started, or that started this one; what
the other one could not import.
"""

import io
import pickle
import struct
from collections.abc import Sequence
from types import FunctionType
from typing import Any, BinaryIO

COUNT = struct.Struct("<Q")
Parts = Sequence[Any]
"""A message: the pickle of a value, and the memory of the arrays in it."""


class _Pickler(pickle.Pickler):
    """Refuses functions and classes of the script, which only the process that runs it has."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, type | FunctionType) and obj.__module__ == "__main__":
            raise pickle.PicklingError(f"{obj.__qualname__} is defined in the script that is run")
        return NotImplemented


def packed(value: Any) -> Parts:
    """A value as a message; what cannot be pickled is a `PicklingError`."""
    head, beside = io.BytesIO(), list[pickle.PickleBuffer]()
    try:
        _Pickler(head, protocol=5, buffer_callback=beside.append).dump(value)
    except (AttributeError, TypeError) as problem:
        raise pickle.PicklingError(str(problem)) from None
    return [head.getvalue(), *[buffer.raw() for buffer in beside]]


def send(stream: BinaryIO, parts: Parts) -> None:
    """Write a message."""
    stream.write(COUNT.pack(len(parts)))
    for part in parts:
        stream.write(COUNT.pack(len(part)))
        stream.write(part)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read a message, and return its value; the end of the stream is an `EOFError`."""
    head, *beside = [_part(stream) for _ in range(_count(stream))]
    return pickle.loads(head, buffers=beside)


def _count(stream: BinaryIO) -> int:
    content = stream.read(COUNT.size)
    if len(content) < COUNT.size:
        raise EOFError
    return COUNT.unpack(content)[0]


def _part(stream: Any) -> bytearray:
    content = bytearray(_count(stream))
    if stream.readinto(content) < len(content):
        raise EOFError
    return content
