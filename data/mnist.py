"""MNIST, and what has its files: Fashion-MNIST, KMNIST, EMNIST.

Comes in: a folder with the IDX files, compressed or not. Goes out: a dataset of images and digits.
Never: a download.
"""

from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Example
from .errors import refuse
from .idx import read_idx
from .in_memory import InMemory


class Mnist(InMemory):
    """Images, [height, width] of uint8, and the numbers of their classes.

    The files are `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, or those of `t10k`, with
    `.gz` or without.
    """

    def __init__(self, folder: Any, train: bool = True) -> None:
        part = "train" if train else "t10k"
        images = self._read(Path(folder), f"{part}-images-idx3-ubyte", 3)
        labels = self._read(Path(folder), f"{part}-labels-idx1-ubyte", 1)
        if len(images) != len(labels):
            refuse("Mnist", folder, f"there are {len(images)} images and {len(labels)} labels")
        super().__init__(Example(images, labels.astype(np.int64)))

    @staticmethod
    def _read(folder: Path, name: str, rank: int) -> Any:
        plain, compressed = folder / name, folder / f"{name}.gz"
        path = plain if plain.exists() else compressed
        if not path.exists():
            refuse("Mnist", folder, f"there is neither {name} nor {name}.gz")
        array = read_idx(path)
        if array.ndim != rank or array.dtype != np.uint8:
            problem = f"expected bytes with {rank} axes, got {array.dtype}{list(array.shape)}"
            refuse("Mnist", path, problem)
        return array
