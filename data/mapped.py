"""A dataset whose items are made of another one's.

Comes in: a dataset, a function. Goes out: a dataset of what the function makes of each item.
Never: an item made before somebody asks for it, or kept.
"""

from collections.abc import Callable
from typing import Any

from ..frontend.errors import expect_functions
from .dataset import Dataset, Items, expect_dataset


class Mapped(Dataset):
    """`function(item)` for each item of a dataset."""

    def __init__(self, dataset: Items[Any], function: Callable[[Any], Any]) -> None:
        expect_dataset("Mapped", dataset)
        expect_functions("Mapped", function)
        self.dataset, self.function = dataset, function

    def __len__(self) -> int:
        return len(self.dataset)

    def item(self, place: int) -> Any:
        return self.function(self.dataset[place])
