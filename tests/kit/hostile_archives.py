"""Zip archives that somebody made to do harm.

Comes in: nothing. Goes out: a table of what is wrong with a file, the file and the reason for which
it is refused.
Never: an archive that is unpacked.
"""

import io
import struct
import warnings
import zipfile

from kit.hostile_pickles import FLOATS, STORED, Hostile
from kit.pickles import pickled
from kit.torch_files import archive, tensor, zipped

GOOD = zipped({"a": tensor("0", FLOATS)}, STORED)
DIRECTORY = GOOD.index(b"PK\1\2")
END = GOOD.index(b"PK\5\6")
LAST = GOOD.rindex(b"PK\1\2")  # of the entry with the elements


def patched(reason: str, place: int, raw: bytes) -> Hostile:
    """The good file with other bytes somewhere."""
    return Hostile(lambda _: GOOD[:place] + raw + GOOD[place + len(raw) :], reason)


def named(name: str, reason: str = "is no plain path in a folder") -> Hostile:
    """A further entry of a name."""
    entries = {"model/data.pkl": pickled(None), name: b"x"}
    return Hostile(lambda _: archive(entries), reason)


def twice(_: str) -> bytes:
    """An archive in which one name is there two times."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for raw in (pickled(None), pickled([])):
            file.writestr("model/data.pkl", raw)
    return memory.getvalue()


def bomb(_: str) -> bytes:
    """16 MB of zeros in 16 kB."""
    return archive(
        {"model/data.pkl": pickled(None), "model/data/0": bytes(1 << 24)}, zipfile.ZIP_DEFLATED
    )


def wide(size: int) -> bytes:
    """The last entry's sizes, as those are written that 32 bits do not hold."""
    name = GOOD[LAST + 46 : END]
    record = bytearray(GOOD[LAST:END])
    struct.pack_into("<2I", record, 20, 0xFFFFFFFF, 0xFFFFFFFF)
    struct.pack_into("<H", record, 30, 20)
    extra = struct.pack("<2H2Q", 1, 16, size, size)
    record[46 + len(name) :] = extra
    end = bytearray(GOOD[END:])
    struct.pack_into("<I", end, 12, END - DIRECTORY + len(extra))
    return GOOD[:LAST] + bytes(record) + bytes(end)


NAMES = {
    f"an entry called {name!r}": named(name)
    for name in (
        "../x", "/etc/passwd", "model/../../x", "model//x", "model/./x", "model\\..\\x",
        "model/\x07", "model/", "x", "model/\u202ex",
    )
}  # fmt: skip
ARCHIVES = {
    **NAMES,
    "two folders": named("other/data/0", "not all in one folder"),
    "an entry twice": Hostile(twice, "is there twice"),
    "16 MB of zeros in 16 kB": Hostile(bomb, "is compressed"),
    "no entry": Hostile(lambda _: b"PK\3\4" + archive({}), "not all in one folder|is not where"),
    "a TorchScript program": named("model/constants.pkl", "is a TorchScript program"),
    "arrays of numpy's": Hostile(
        lambda _: archive({"model/a.npy": b"\x93NUMPY"}), "not one that PyTorch has written"
    ),
    "another order of bytes": Hostile(lambda _: zipped(None, byteorder=b"big"), "b'big'"),
    "cut short": Hostile(lambda _: GOOD[:-1], "cut short|does not end"),
    "cut in half": Hostile(lambda _: GOOD[: len(GOOD) // 2], "is cut short"),
    "bytes at the end": Hostile(lambda _: GOOD + b"x", "does not end where its last record ends"),
    "bytes at the start": Hostile(
        lambda _: GOOD[:30] + GOOD, "directory is not where it is said to be"
    ),
    "several disks": patched("one of several parts", END + 4, b"\1\0"),
    "fewer entries than listed": patched("longer than its entries", END + 8, b"\1\0\1\0"),
    "more entries than listed": patched("shorter than it is said", END + 8, b"\xff\xff\xff\xff"),
    "a directory elsewhere": patched("is not where it is said", END + 16, b"\0\0\0\0"),
    "a directory of another kind": patched("directory is damaged", DIRECTORY, b"PK\3\4"),
    "a name beyond the directory": patched("directory is damaged", LAST + 28, b"\xff\xff"),
    "an encrypted entry": patched("is encrypted", LAST + 8, b"\1\0"),
    "a compressed entry": patched("is compressed", LAST + 10, b"\10\0"),
    "an entry larger than the file": patched(
        "larger than the file has room for", LAST + 20, b"\xff\xff\xff\x7f" * 2
    ),
    "an entry outside the file": patched("lies outside the file", LAST + 42, b"\xff\xff\xff\x7f"),
    "an entry in the place of another": patched(
        "is another one where it lies", LAST + 42, b"\0\0\0\0"
    ),
    "an entry of another name": patched(
        "is another one where it lies", LAST + 46 + len("model/data/"), b"7"
    ),
    "a name that is no text": patched("which is no text", LAST + 46, b"\xff"),
    "entries that overlap": patched("overlap", DIRECTORY + 20, struct.pack("<2I", 200, 200)),
    "an entry of 8 exabytes": Hostile(lambda _: wide(1 << 62), "larger than the file has room"),
    "elements that are damaged": patched(
        "the entry 'data/0' is damaged", GOOD.index(FLOATS.tobytes()), b"\7"
    ),
    "a pickle that is damaged": patched(
        "the entry 'data.pkl' is damaged", GOOD.index(b"\x80\2}"), b"\x80\3"
    ),
}
