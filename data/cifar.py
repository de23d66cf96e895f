"""CIFAR-10 and CIFAR-100, as their binary files have them.

Comes in: a folder with the binary files. Goes out: a dataset of images and classes.
Never: a download, or a pickle, as which they are published too.
"""

from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Example
from .errors import Reading, refuse
from .in_memory import InMemory

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32


class Cifar10(InMemory):
    """Images, [3, 32, 32] of uint8, and the numbers of their 10 classes.

    The files are `data_batch_1.bin` to `data_batch_5.bin`, or `test_batch.bin`.
    """

    def __init__(self, folder: Any, train: bool = True) -> None:
        names = [f"data_batch_{number}.bin" for number in range(1, 6)]
        paths = [Path(folder, name) for name in (names if train else ["test_batch.bin"])]
        records = np.concatenate([_records("Cifar10", path, (10,)) for path in paths])
        super().__init__(_examples(records, 0))


class Cifar100(InMemory):
    """Images, [3, 32, 32] of uint8, and the numbers of their 100 classes, or of 20 coarse ones.

    The files are `train.bin` and `test.bin`.
    """

    def __init__(self, folder: Any, train: bool = True, coarse: bool = False) -> None:
        path = Path(folder, "train.bin" if train else "test.bin")
        super().__init__(_examples(_records("Cifar100", path, (20, 100)), 0 if coarse else 1))


def _records(operation: str, path: Path, classes: tuple[int, ...]) -> Any:
    """The rows of a file: a byte for each label, then the pixels."""
    with Reading(operation, path):
        content = np.fromfile(path, np.uint8)
    width = len(classes) + PIXELS
    if not len(content) or len(content) % width:
        problem = f"{len(content)} bytes are no whole number of images, each {width} bytes"
        refuse(operation, path, problem, hint="expected the binary version of the dataset")
    records = content.reshape(-1, width)
    for column, count in enumerate(classes):
        if records[:, column].max() >= count:
            problem = f"there is a label {records[:, column].max()} among {count} classes"
            refuse(operation, path, problem)
    return records


def _examples(records: Any, column: int) -> Example:
    images = np.ascontiguousarray(records[:, -PIXELS:]).reshape(-1, *SHAPE)
    return Example(images, records[:, column].astype(np.int64))
