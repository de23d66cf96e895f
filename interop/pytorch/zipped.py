"""Files as PyTorch writes them: an archive of a pickle and the bytes of each storage.

Comes in: mapped memory. Goes out: the value and the bytes of each storage.
Never: an archive with a program in it, or of numbers whose highest byte comes first.
"""

from typing import Any

from ..errors import Refused, shown
from .allowed import Storage, storage
from .archive import Archive
from .machine import Machine


class Zipped:
    """The value of a file, in which tensors are described."""

    def __init__(self, memory: memoryview) -> None:
        self.archive = Archive(memory)
        self._expect_weights()
        self._expect_little()
        self.tree: Any = Machine(self.archive.record("data.pkl", check=True), storage).run()

    def bytes_of(self, each: Storage, *, check: bool = False) -> memoryview:
        """The bytes of a storage; `check` compares them with their checksum."""
        return self.archive.record(f"data/{each.key}", check=check)

    def _expect_weights(self) -> None:
        if "constants.pkl" in self.archive:
            raise Refused("it is a TorchScript program, which is code", "save its `state_dict()`")
        if "data.pkl" not in self.archive:
            raise Refused("it is a zip archive, but not one that PyTorch has written")

    def _expect_little(self) -> None:
        if "byteorder" not in self.archive:
            return  # older than PyTorch 2.1
        order = bytes(self.archive.record("byteorder", check=True)[:16])
        if order != b"little":
            raise Refused(f"its order of bytes is {shown(order)}, and b'little' is read")
