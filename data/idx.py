"""IDX files, the format of MNIST: a header that says dtype and sizes, and the numbers.

Comes in: a file, compressed by gzip or not. Goes out: an array.
Never: memory for what the header promises and the file does not hold.
"""

import gzip
import math
import os
import zlib
from typing import Any, BinaryIO

import numpy as np

from .errors import Reading, refuse

DTYPES = {
    0x08: np.dtype(">u1"),
    0x09: np.dtype(">i1"),
    0x0B: np.dtype(">i2"),
    0x0C: np.dtype(">i4"),
    0x0D: np.dtype(">f4"),
    0x0E: np.dtype(">f8"),
}
GZIP = b"\x1f\x8b"
MOST_COMPRESSED = 1032
"""Bytes that a byte of gzip can stand for, at most."""
PIECE = 1 << 20


def read_idx(path: Any) -> Any:
    """The array in an IDX file."""
    broken = Reading("read_idx", path, EOFError, ValueError, zlib.error)
    with broken, open(path, "rb") as file:
        compressed = file.read(2) == GZIP
        file.seek(0)
        most = os.fstat(file.fileno()).st_size * (MOST_COMPRESSED if compressed else 1)
        if not compressed:
            return _read(path, file, most)
        with gzip.GzipFile(fileobj=file) as inside:
            return _read(path, inside, most)


def _read(path: Any, file: Any, most: int) -> Any:
    """The array of an open file that holds so many bytes at most."""
    dtype, shape = _header(path, file)
    promised = math.prod(shape) * dtype.itemsize
    if promised > most:
        refuse("read_idx", path, f"the header promises {promised} bytes, which it cannot hold")
    content = _content(file, promised + 1)
    if len(content) != promised:
        many = "more" if len(content) > promised else f"{len(content)}"
        refuse("read_idx", path, f"the header promises {promised} bytes, and there are {many}")
    return np.frombuffer(content, dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def _header(path: Any, file: BinaryIO) -> tuple[Any, tuple[int, ...]]:
    """The dtype and the sizes."""
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in DTYPES:
        hint = "IDX files begin with two zeros and a byte that says the dtype"
        refuse("read_idx", path, f"it begins with {magic.hex(' ')}, as no IDX file does", hint)
    rank = magic[3]
    sizes = file.read(4 * rank)
    if not rank:
        refuse("read_idx", path, "the header says that there are no axes")
    if len(sizes) < 4 * rank:
        refuse("read_idx", path, f"it ends within the sizes of its {rank} axes")
    return DTYPES[magic[2]], tuple(np.frombuffer(sizes, ">u4").tolist())


def _content(file: BinaryIO, most: int) -> bytearray:
    """What is left of a file, as far as that, read in pieces: what is not there takes no memory."""
    content = bytearray()
    while len(content) < most and (piece := file.read(min(PIECE, most - len(content)))):
        content += piece
    return content
