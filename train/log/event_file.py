"""TensorBoard's event files: records of protobuf messages, each with its checksums.

Comes in: scalars. Goes out: bytes, as TensorFlow's `RecordWriter` and `event.proto` say them: a
record is its length, a checksum of that, the message, and a checksum of that.
Never: a message but `Event`, `Summary` and `SessionLog`, or a field that a scalar has no need of.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

VERSION = "brain.Event:2"
"""What the first event of a file says."""
_POLYNOMIAL = 0x82F63B78  # Castagnoli's, its bits reversed
_DELTA = 0xA282EAD8  # by which checksums are masked that lie in the data they check
_WORD = 0xFFFFFFFF


def first_event(time: float) -> bytes:
    """The record that every file begins with."""
    return record(_double(1, time) + _bytes(3, VERSION.encode()))


def restart_event(time: float, step: int) -> bytes:
    """The record that says: what other files have from this step on is void."""
    started = _integer(1, 1)
    return record(_double(1, time) + _integer(2, step) + _bytes(7, started))


def scalars_event(time: float, step: int, values: Mapping[str, float]) -> bytes:
    """The record of some values after a step."""
    each = (_bytes(1, _bytes(1, tag.encode()) + _float(2, value)) for tag, value in values.items())
    return record(_double(1, time) + _integer(2, step) + _bytes(5, b"".join(each)))


def record(message: bytes) -> bytes:
    """A message with what stands around it."""
    length = struct.pack("<Q", len(message))
    return length + _checksum(length) + message + _checksum(message)


def crc32c(data: bytes) -> int:
    """The cyclic redundancy check by Castagnoli's polynomial."""
    state = _WORD
    for byte in data:
        state = _TABLE[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state ^ _WORD


def _checksum(data: bytes) -> bytes:
    check = crc32c(data)
    rotated = (check >> 15) | (check << 17)
    return struct.pack("<I", (rotated + _DELTA) & _WORD)


def _of_byte(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(map(_of_byte, range(256)))


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; all bytes but the last have their top bit set."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _integer(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _double(field: int, number: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", number)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _float(field: int, number: float) -> bytes:
    """A float of 32 bits; one that is too large for that is infinite."""
    try:
        packed = struct.pack("<f", number)
    except OverflowError:
        packed = struct.pack("<f", float("inf") if number > 0 else float("-inf"))
    return _varint(field << 3 | 5) + packed
