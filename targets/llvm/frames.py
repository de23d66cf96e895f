"""How a process and those that compile for it talk: in frames, each a length and so many bytes.

Comes in: what is to be said, or a stream. Goes out: frames.
Never: what compiles; who only asks need not load it.
"""

import json
import struct
from dataclasses import asdict
from typing import BinaryIO

from .machines import CPU

LENGTH = struct.Struct("<Q")
READY, CODE, REFUSED = b"ready", b"code", b"refused"


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Write one frame."""
    stream.write(LENGTH.pack(len(content)) + content)


def read_frame(stream: BinaryIO) -> bytes:
    """Read one frame; the end of the stream is an `EOFError`."""
    (length,) = LENGTH.unpack(_read(stream, LENGTH.size))
    return _read(stream, length)


def _read(stream: BinaryIO, count: int) -> bytes:
    content = stream.read(count)
    if len(content) < count:
        raise EOFError
    return content


def machine_bytes(machine: CPU) -> bytes:
    """A CPU as a frame."""
    return json.dumps(asdict(machine)).encode()


def machine_of(frame: bytes) -> CPU:
    """The CPU that a frame tells of."""
    return CPU(**json.loads(frame))
