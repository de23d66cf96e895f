"""IDX files, and MNIST's: what they hold, and why they are refused."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from brimstone import data
from brimstone.data import idx


def content(array: np.ndarray, code: int) -> bytes:
    """An array as an IDX file."""
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, code, array.ndim]) + sizes + array.astype(idx.DTYPES[code]).tobytes()


SMALL = content(np.arange(6).reshape(2, 3), 0x08)


@pytest.mark.parametrize("code", idx.DTYPES, ids=hex)
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
def test_every_dtype(tmp_path: Path, code: int, compressed: bool) -> None:
    array = np.arange(6).reshape(1, 2, 3)
    whole = content(array, code)
    (tmp_path / "a").write_bytes(gzip.compress(whole) if compressed else whole)
    read = data.read_idx(tmp_path / "a")
    assert read.dtype == idx.DTYPES[code].newbyteorder("=")
    assert read.dtype.isnative
    assert np.array_equal(read, array)


def test_no_rows(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content(np.zeros((0, 28, 28)), 0x08))
    assert data.read_idx(tmp_path / "a").shape == (0, 28, 28)


HUGE = bytes([0, 0, 0x0E, 4]) + b"\xff" * 16
BROKEN = {
    "nothing": (b"", "begins with , as no IDX"),
    "text": (b"hello world", "begins with 68 65 6c 6c"),
    "dtype": (b"\0\0\x0a\1\0\0\0\0", "begins with 00 00 0a 01"),
    "no axes": (b"\0\0\x08\0", "says that there are no axes"),
    "too many axes": (b"\0\0\x08\xff" + b"\0\0\0\1" * 255 + b"7", "dimension"),
    "empty and endless": (b"\0\0\x08\4" + b"\0" * 4 + b"\xff" * 12, "read_idx"),
    "half a header": (SMALL[:9], "within the sizes of its 2 axes"),
    "truncated": (SMALL[:-1], "promises 6 bytes, and there are 5"),
    "longer": (SMALL + b"\0", "promises 6 bytes, and there are more"),
    "promises too much": (HUGE, "the header promises 27222589.* bytes, which it cannot hold"),
    "cut off": (gzip.compress(SMALL)[:-9], "end-of-stream"),
    "no deflate": (gzip.compress(SMALL)[:10] + b"\xff" * 20, "invalid"),
    "checksum": (gzip.compress(SMALL)[:-8] + b"\0" * 8, "CRC"),
    "compressed, truncated": (gzip.compress(SMALL[:-1]), "promises 6 bytes, and there are 5"),
    "compressed, longer": (gzip.compress(SMALL + b"\0" * 5000), "and there are more"),
    "compressed, promises too much": (gzip.compress(HUGE), "which it cannot hold"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(tmp_path: Path, name: str) -> None:
    whole, words = BROKEN[name]
    (tmp_path / "a").write_bytes(whole)
    with pytest.raises(data.DataError, match=words):
        data.read_idx(tmp_path / "a")


def test_no_memory_for_what_is_not_there(tmp_path: Path) -> None:
    asked: list[int] = []

    class File:
        """Begins as an IDX file of a gigabyte, and ends."""

        left = bytes([0, 0, 8, 1]) + struct.pack(">I", 1 << 30) + b"12"

        def read(self, count: int) -> bytes:
            asked.append(count)
            found, self.left = self.left[:count], self.left[count:]
            return found

    with pytest.raises(data.DataError, match="and there are 2"):
        idx._read("a", File(), 1 << 40)
    assert max(asked) <= idx.PIECE


def write_mnist(folder: Path, images: np.ndarray, labels: np.ndarray, part: str = "train") -> None:
    zipped = gzip.compress(content(images, 0x08))
    (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(zipped)
    (folder / f"{part}-labels-idx1-ubyte").write_bytes(content(labels, 0x08))


def test_mnist(tmp_path: Path) -> None:
    images = np.arange(3 * 28 * 28).reshape(3, 28, 28) % 256
    write_mnist(tmp_path, images, np.array([5, 0, 4]))
    dataset = data.Mnist(tmp_path)
    assert len(dataset) == 3
    assert dataset[2].input.dtype == np.uint8
    assert np.array_equal(dataset[2].input, images[2])
    assert dataset[2].label == 4
    assert dataset.batch([0, 1]).label.dtype == np.int64


def test_mnist_that_is_refused(tmp_path: Path) -> None:
    with pytest.raises(data.DataError, match="neither t10k-images-idx3-ubyte nor"):
        data.Mnist(tmp_path, train=False)
    write_mnist(tmp_path, np.zeros((2, 4, 4)), np.zeros(3))
    with pytest.raises(data.DataError, match="2 images and 3 labels"):
        data.Mnist(tmp_path)
    write_mnist(tmp_path, np.zeros((2, 4)), np.zeros(2))
    with pytest.raises(data.DataError, match=r"3 axes, got uint8\[2, 4\]"):
        data.Mnist(tmp_path)
