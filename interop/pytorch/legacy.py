"""Files as PyTorch wrote them before version 1.6, and still writes when asked to.

Comes in: mapped memory: five pickles (a number, a version, the machine, the value, the names of the
storages), then the storages in that order, each behind its count of elements. Goes out: the value
and the bytes of each storage.
Never: the archives of tar that came before version 0.1.10.
"""

from typing import Any

from ..errors import Refused, shown
from .allowed import Storage, storage
from .machine import Machine

MAGIC = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"
VERSION = 1001
_COUNT = 8


class Legacy:
    """The value of a file, in which tensors are described."""

    def __init__(self, memory: memoryview) -> None:
        self.memory, self.place = memory, len(MAGIC)
        self.storages: dict[str, Storage] = {}
        if self._pickle() != VERSION:
            raise Refused(f"it is not of version {VERSION} of its format")
        self._expect_little(self._pickle())
        self.tree = self._pickle()
        self.regions = self._regions(self._pickle())

    def bytes_of(self, each: Storage, *, check: bool = False) -> memoryview:
        """The bytes of a storage, which have no checksum here."""
        return self.regions[each.key]

    def _pickle(self) -> Any:
        """The next pickle."""
        machine = Machine(self.memory, self._storage, self.place)
        value = machine.run()
        self.place = machine.place
        return value

    def _storage(self, identity: tuple[Any, ...]) -> Storage:
        """What a persistent id stands for, which is the same every time."""
        found = storage(identity)
        if self.storages.setdefault(found.key, found) != found:
            raise Refused(f"the storage {shown(found.key)} is described in two ways")
        return found

    def _expect_little(self, machine: Any) -> None:
        if not isinstance(machine, dict) or machine.get("little_endian") is not True:
            raise Refused("its order of bytes is not the little-endian one, which is read")

    def _regions(self, keys: Any) -> dict[str, memoryview]:
        """Where the storages lie, end to end up to the end of the file."""
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise Refused("the names of its storages are no texts")
        if len({*keys}) != len(keys) or {*keys} != self.storages.keys():
            raise Refused("the storages that are listed are not those that tensors have")
        regions: dict[str, memoryview] = {}
        for key in keys:
            regions[key] = self._region(self.storages[key])
        if self.place != len(self.memory):
            raise Refused(f"{len(self.memory) - self.place} bytes at its end belong to no storage")
        return regions

    def _region(self, each: Storage) -> memoryview:
        count = int.from_bytes(self.memory[self.place : self.place + _COUNT], "little")
        begin = self.place + _COUNT
        self.place = begin + each.size
        if self.place > len(self.memory):
            raise Refused(f"it is cut short in the storage {shown(each.key)}")
        width = 1 if each.dtype is None else each.dtype.itemsize
        if count * width != each.size:
            raise Refused(f"the storage {shown(each.key)} has another size than described")
        return self.memory[begin : self.place]
