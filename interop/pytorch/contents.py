"""What a file of PyTorch's holds: a value in which tensors are described, and their bytes.

Comes in: mapped memory. Goes out: `Contents`, of either kind of file.
Never: a tensor; these are made by whoever wants them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import Refused, shown
from ..stored import Stored
from .allowed import Storage, View, storage
from .archive import LOCAL, Archive
from .legacy import MAGIC, Legacy
from .machine import Machine
from .tree import views_of

SPARE_BYTES = 1 << 24
SHARES = 8
"""How many times the size of its file the tensors of one may have: what is stored once can be seen
by many of them, or repeated in one."""


class Contents(NamedTuple):
    """A sound value, its different tensors, and where the bytes of each storage are."""

    tree: Any
    views: list[View]
    bytes_of: Callable[[Storage], memoryview]

    def stored(self, view: View) -> Stored:
        """A tensor, where it lies."""
        size = view.dtype.itemsize
        strides = [size * step for step in view.strides]
        memory = self.bytes_of(view.storage)
        return Stored(memory, view.dtype, view.shape, size * view.offset, strides)


def begins_file(memory: memoryview) -> bool:
    """Whether a file begins as one of PyTorch's does, or as any archive of this kind."""
    return memory[: len(LOCAL)] == LOCAL or memory[: len(MAGIC)] == MAGIC


def contents_of(memory: memoryview, *, check: bool) -> Contents:
    """The contents of a file, all of which are found to be sound; `check` reads all bytes of it."""
    if memory[: len(LOCAL)] == LOCAL:
        tree, bytes_of = _zipped(memory, check)
    elif memory[: len(MAGIC)] == MAGIC:
        legacy = Legacy(memory)
        tree, bytes_of = legacy.tree, legacy.bytes_of
    else:
        raise Refused(f"it begins with {shown(bytes(memory[:8]))}, and no file of PyTorch's does")
    views = list(views_of(tree))
    _expect_in_proportion(views, len(memory))
    for each in {view.storage: None for view in views}:
        _expect_size(each, bytes_of(each))
    return Contents(tree, views, bytes_of)


def _zipped(memory: memoryview, check: bool) -> tuple[Any, Callable[[Storage], memoryview]]:
    """The value in an archive, and its storages, each an entry."""
    archive = Archive(memory)
    _expect_weights(archive)
    tree = Machine(archive.record("data.pkl", check=True), find=storage).run()
    checked: set[str] = set()

    def bytes_of(each: Storage) -> memoryview:
        first = each.key not in checked
        checked.add(each.key)
        return archive.record(f"data/{each.key}", check=check and first)

    return tree, bytes_of


def _expect_weights(archive: Archive) -> None:
    """Refuse archives of another kind, and numbers whose highest byte comes first."""
    if "constants.pkl" in archive:
        raise Refused("it is a TorchScript program, which is code", "save its `state_dict()`")
    if "data.pkl" not in archive:
        raise Refused("it is a zip archive, but not one that PyTorch has written")
    order = b"little"
    if "byteorder" in archive:
        order = bytes(archive.record("byteorder", check=True)[:16])
    if order != b"little":
        raise Refused(f"its order of bytes is {shown(order)}, and b'little' is read")


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
    count = view.dtype.itemsize
    for size in view.shape:
        count *= size
    return count
