"""CIFAR's binary files: what they hold, and why they are refused."""

from pathlib import Path

import numpy as np
import pytest

from brimstone import data


def record(*labels: int) -> bytes:
    """An image whose red is 1, green 2 and blue 3."""
    return bytes(labels) + b"\1" * 1024 + b"\2" * 1024 + b"\3" * 1024


def test_cifar_10(tmp_path: Path) -> None:
    for number in range(1, 6):
        (tmp_path / f"data_batch_{number}.bin").write_bytes(record(number) + record(0))
    (tmp_path / "test_batch.bin").write_bytes(record(9))
    dataset = data.Cifar10(tmp_path)
    assert [label for _, label in dataset] == [1, 0, 2, 0, 3, 0, 4, 0, 5, 0]
    assert dataset[0].input.shape == (3, 32, 32)
    assert dataset[0].input.dtype == np.uint8
    assert dataset[0].input[:, 31, 31].tolist() == [1, 2, 3]
    assert [label for _, label in data.Cifar10(tmp_path, train=False)] == [9]


def test_cifar_100(tmp_path: Path) -> None:
    (tmp_path / "train.bin").write_bytes(record(19, 99) + record(0, 3))
    assert [label for _, label in data.Cifar100(tmp_path)] == [99, 3]
    coarse = data.Cifar100(tmp_path, coarse=True)
    assert [label for _, label in coarse] == [19, 0]
    assert coarse[1].input[:, 0, 0].tolist() == [1, 2, 3]


BROKEN = {
    "empty": (b"", "0 bytes are no whole number"),
    "truncated": (record(1)[:-1], "3072 bytes are no whole number of images, each 3073"),
    "label": (record(1) + record(10), "a label 10 among 10 classes"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(tmp_path: Path, name: str) -> None:
    whole, words = BROKEN[name]
    (tmp_path / "test_batch.bin").write_bytes(whole)
    with pytest.raises(data.DataError, match=words):
        data.Cifar10(tmp_path, train=False)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(data.DataError, match=r"train\.bin: No such file"):
        data.Cifar100(tmp_path)
