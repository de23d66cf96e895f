"""The zip archives that PyTorch writes: entries that lie uncompressed in mapped memory.

Comes in: the memory of a file. Goes out: the memory of each entry.
Never: anything unpacked, to memory or to disk: an entry that is compressed, encrypted, called
otherwise in one place than in another, outside the file or on top of another entry is refused.
Python's own `zipfile` builds its list before anyone can look at its length, and copies entries.
"""

from struct import Struct, unpack_from
from typing import NamedTuple
from zlib import crc32

from ..errors import Refused, shown

MOST_ENTRIES = 1 << 18
LOCAL, CENTRAL, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
WIDE_END, WIDE_LOCATOR = b"PK\6\6", b"PK\6\7"
_LOCAL, _CENTRAL = Struct("<4s5H3I2H"), Struct("<4s6H3I5H2I")
_END, _WIDE_END, _WIDE_LOCATOR = Struct("<4s4H2IH"), Struct("<4sQ2H2I4Q"), Struct("<4sIQI")
_ENCRYPTED = 0x2041
_WIDE_16, _WIDE_32 = 0xFFFF, 0xFFFFFFFF
_WIDE_FIELDS = 1  # the number of the extra field that holds sizes above 32 bits


class Entry(NamedTuple):
    """Where the local header and the bytes of an entry lie."""

    name: str
    header: int
    begin: int
    end: int
    checksum: int


class Archive:
    """The entries of an archive by name, without the folder that holds them all."""

    def __init__(self, memory: memoryview) -> None:
        self.memory = memory
        first, last, count = _directory(memory)
        listed = _listed(memory, first, last, count)
        _expect_apart(listed, first)
        folders = {entry.name.partition("/")[0] for entry in listed}
        if len(folders) != 1:
            raise Refused("its entries are not all in one folder, so PyTorch has not written it")
        self.entries = {entry.name.partition("/")[2]: entry for entry in listed}
        if len(self.entries) != len(listed):
            raise Refused("an entry is there twice")

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def record(self, name: str, *, check: bool) -> memoryview:
        """The bytes of an entry; `check` compares them with their checksum, if they have one."""
        entry = self.entries.get(name)
        if entry is None:
            raise Refused(f"it has no entry {shown(name)}")
        record = self.memory[entry.begin : entry.end]
        # PyTorch writes 0 where it has been told to compute none.
        if check and entry.checksum and crc32(record) != entry.checksum:
            raise Refused(f"the entry {shown(name)} is damaged: its checksum is another")
        return record


def _directory(memory: memoryview) -> tuple[int, int, int]:
    """Where the directory begins and ends, and how many entries it lists."""
    end = _end_of(memory)
    _, disk, first_disk, here, count, size, first, _ = _END.unpack_from(memory, end)
    locator = end - _WIDE_LOCATOR.size
    if locator >= 0 and memory[locator : locator + 4] == WIDE_LOCATOR:
        end = _WIDE_LOCATOR.unpack_from(memory, locator)[2]
        if end != locator - _WIDE_END.size or memory[end : end + 4] != WIDE_END:
            raise Refused("the end of its directory is not where it is said to be")
        disk, first_disk, here, count, size, first = _WIDE_END.unpack_from(memory, end)[4:]
    if disk or first_disk or here != count:
        raise Refused("it is one of several parts of an archive")
    if first + size != end:
        raise Refused("its directory is not where it is said to be")
    if count > MOST_ENTRIES:
        raise Refused(f"it has {count} entries, more than {MOST_ENTRIES}")
    return first, end, count


def _end_of(memory: memoryview) -> int:
    """Where the record that ends the archive lies: at the end of the file, but for a comment."""
    tail = bytes(memory[-(_END.size + _WIDE_16) :])
    place = tail.rfind(END)
    if place < 0:
        raise Refused("it is cut short: its end, with the directory of a zip archive, is missing")
    rest = len(tail) - place - _END.size
    if rest < 0 or _END.unpack_from(tail, place)[-1] != rest:
        raise Refused("it does not end where its last record ends")
    return len(memory) - len(tail) + place


def _listed(memory: memoryview, place: int, last: int, count: int) -> list[Entry]:
    """The entries of the directory, each compared with its local header."""
    found: list[Entry] = []
    for _ in range(count):
        if last - place < _CENTRAL.size:
            raise Refused("its directory is shorter than it is said to be")
        fields = _CENTRAL.unpack_from(memory, place)
        name_size, extra_size, comment_size = fields[10:13]
        behind = place + _CENTRAL.size
        following = behind + name_size + extra_size + comment_size
        if fields[0] != CENTRAL or following > last:
            raise Refused("its directory is damaged")
        raw = bytes(memory[behind : behind + name_size])
        extra = memory[behind + name_size : behind + name_size + extra_size]
        found.append(_entry(memory, raw, fields, extra))
        place = following
    if place != last:
        raise Refused("its directory is longer than its entries")
    return found


def _entry(memory: memoryview, raw: bytes, fields: tuple[int, ...], extra: memoryview) -> Entry:
    """An entry of the directory; `fields` are those of its record there."""
    name = _name(raw)
    _, _, _, flags, method, _, _, checksum, packed, size, *_ = fields
    header = fields[-1]
    size, packed, header = _wide([size, packed, header], extra)
    if flags & _ENCRYPTED:
        raise Refused(f"the entry {shown(name)} is encrypted")
    if method or packed != size:
        raise Refused(
            f"the entry {shown(name)} is compressed, and PyTorch compresses none",
            "unpack the archive, if you trust it, and pack it again with `zip -0`",
        )
    if header + _LOCAL.size > len(memory):
        raise Refused(f"the entry {shown(name)} lies outside the file")
    local = _LOCAL.unpack_from(memory, header)
    begin = header + _LOCAL.size + local[9] + local[10]
    there = header + _LOCAL.size
    if local[0] != LOCAL or local[3] != method or memory[there : there + local[9]] != raw:
        raise Refused(f"the entry {shown(name)} is another one where it lies")
    return Entry(name, header, begin, begin + size, checksum)


def _wide(values: list[int], extra: memoryview) -> list[int]:
    """Sizes and places, those taken from the extra fields that do not fit into 32 bits."""
    missing = [at for at, value in enumerate(values) if value == _WIDE_32]
    place = 0
    while missing and place + 4 <= len(extra):
        kind, size = unpack_from("<2H", extra, place)
        if kind == _WIDE_FIELDS and 8 * len(missing) <= size <= len(extra) - place - 4:
            wide = unpack_from(f"<{len(missing)}Q", extra, place + 4)
            for at, value in zip(missing, wide, strict=True):
                values[at] = value
            return values
        place += 4 + size
    return values


def _name(raw: bytes) -> str:
    """The name of an entry, though no file is ever made of it."""
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        raise Refused(f"an entry is called {shown(raw)}, which is no text") from None
    parts = name.split("/")
    if len(parts) < 2 or {"", ".", ".."} & {*parts} or "\\" in name or not name.isprintable():
        raise Refused(f"an entry is called {shown(name)}, which is no plain path in a folder")
    return name


def _expect_apart(entries: list[Entry], directory: int) -> None:
    """Refuse entries that lie on top of each other or of the directory."""
    reached, before = 0, None
    for entry in sorted(entries, key=lambda entry: entry.header):
        if entry.end > directory:
            raise Refused(f"the entry {shown(entry.name)} is larger than the file has room for")
        if entry.header < reached:
            raise Refused(f"the entries {shown(before)} and {shown(entry.name)} overlap")
        reached, before = entry.end, entry.name
