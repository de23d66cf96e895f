"""Pictures as PNG.

Comes in: rows of red, green and blue, a byte each. Goes out: the bytes of a file.
Never: a palette, or transparency.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
EIGHT_BITS, COLOURS = 8, 2
ABOVE = 2
"""The filter that keeps of each row how it differs from the one above."""


def png(pixels: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """A picture of height × width × 3 bytes as a file."""
    height, width, _ = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, EIGHT_BITS, COLOURS, 0, 0, 0)
    rows = pixels.reshape(height, -1)
    differences = np.diff(rows, axis=0, prepend=np.zeros((1, rows.shape[1]), np.uint8))
    filtered = np.insert(differences, 0, ABOVE, axis=1)
    data = zlib.compress(filtered.tobytes())
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
