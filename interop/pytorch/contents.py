"""What a file of PyTorch's holds: a value in which tensors are described, and their bytes.

Comes in: mapped memory. Goes out: `Contents`, of either kind of file.
Never: a tensor; these are made by whoever wants them.
"""

from math import prod
from typing import Any, NamedTuple

from ..errors import Refused, shown
from ..stored import Stored
from .allowed import Storage, View
from .archive import LOCAL
from .legacy import MAGIC, Legacy
from .tree import views_of
from .zipped import Zipped

SPARE_BYTES = 1 << 24
SHARES = 8
"""How many times the size of its file the tensors of one may have: what is stored once can be seen
by many of them, or repeated in one."""


class Contents(NamedTuple):
    """A sound value, its different tensors, and where the bytes of each storage are."""

    tree: Any
    views: list[View]
    source: Zipped | Legacy

    def stored(self, view: View) -> Stored:
        """A tensor, where it lies."""
        size = view.dtype.itemsize
        strides = [size * step for step in view.strides]
        memory = self.source.bytes_of(view.storage)
        return Stored(memory, view.dtype, view.shape, size * view.offset, strides)


def begins_file(memory: memoryview) -> bool:
    """Whether a file begins as one of PyTorch's does, or as any archive of this kind."""
    return memory[: len(LOCAL)] == LOCAL or memory[: len(MAGIC)] == MAGIC


def contents_of(memory: memoryview, *, check: bool) -> Contents:
    """The contents of a file, all of which are found to be sound; `check` reads all bytes of it."""
    if memory[: len(LOCAL)] == LOCAL:
        source = Zipped(memory)
    elif memory[: len(MAGIC)] == MAGIC:
        source = Legacy(memory)
    else:
        raise Refused(f"it begins with {shown(bytes(memory[:8]))}, and no file of PyTorch's does")
    views = list(views_of(source.tree))
    _expect_in_proportion(views, len(memory))
    for each in {view.storage: None for view in views}:
        _expect_size(each, source.bytes_of(each, check=check))
    return Contents(source.tree, views, source)


def _expect_size(each: Storage, memory: memoryview) -> None:
    if len(memory) != each.size:
        problem = f"has {len(memory)} bytes, and {shown(each.size)} are described"
        raise Refused(f"the storage {shown(each.key)} {problem}")


def _expect_in_proportion(views: list[View], size: int) -> None:
    """Refuse tensors that would take far more memory than their file."""
    wanted, most = sum(_bytes(view) for view in views), SHARES * size + SPARE_BYTES
    if wanted > most:
        raise Refused(
            f"its {size} bytes would become tensors of {wanted} bytes, more than {most}",
            "tensors that share or repeat stored elements are read as copies: save less of them",
        )


def _bytes(view: View) -> int:
    return prod(view.shape) * view.dtype.itemsize
