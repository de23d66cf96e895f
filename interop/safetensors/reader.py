"""Safetensors files, read.

Comes in: a path. Goes out: tensors by name, or a reader that gives one at a time.
Never: a tensor before the whole header is found to be sound.
"""

from typing import Any

from ...frontend.tensor import Tensor
from ..errors import About
from ..mapped import mapped
from ..stored import Reader, Stored
from .header import read_header


def load(path: Any, *, dtype: Any = None, device: Any = None) -> dict[str, Tensor]:
    """Every tensor of a file by its name; floats become `dtype`, where one is given."""
    return open(path).read(dtype=dtype, device=device)


def open(path: Any) -> Reader:
    """The tensors of a file, each of which is read when it is asked for."""
    with About("safetensors", path) as about:
        return reader_of(about.path, mapped(about.path))


def reader_of(path: str, memory: memoryview) -> Reader:
    """The tensors that lie in mapped memory."""
    header = read_header(memory)
    tensors = {
        name: Stored(memory, entry.dtype, entry.shape, header.data + entry.begin)
        for name, entry in header.entries.items()
    }
    return Reader(path, tensors, header.metadata)
