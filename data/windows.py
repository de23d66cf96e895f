"""Windows that slide over a sequence.

Comes in: a dataset, or an array, whose items follow each other. Goes out: a dataset of runs of so
many items, each a batch.
Never: a run that goes past the end.
"""

from typing import Any

import numpy as np

from .collate import stack
from .dataset import Dataset, Items, expect_count, expect_dataset
from .in_memory import InMemory
from .selected import at_once


class Windows(Dataset):
    """Runs of `length` items, of which each begins `step` items after the one before."""

    def __init__(self, dataset: Items[Any], length: int, step: int = 1) -> None:
        expect_dataset("Windows", dataset)
        self.dataset = InMemory(dataset) if isinstance(dataset, np.ndarray) else dataset
        self.length = expect_count("Windows", "length", length, least=1)
        self.step = expect_count("Windows", "step", step, least=1)

    def __len__(self) -> int:
        return max(0, (len(self.dataset) - self.length) // self.step + 1)

    def item(self, place: int) -> Any:
        start = place * self.step
        places = range(start, start + self.length)
        batch = at_once(self.dataset, places)
        return batch() if batch else stack([self.dataset[place] for place in places])
