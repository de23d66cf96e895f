"""AG News: pieces of news of four classes.

Comes in: a folder with `train.csv` and `test.csv`: class, title, description. Goes out: a dataset
of texts and classes.
Never: a download.
"""

from pathlib import Path
from typing import Any

from .csv_file import Csv
from .dataset import Dataset, Example
from .errors import refuse


class AgNews(Dataset):
    """A title and a description, with a space in between, and the number of their class."""

    classes = ("World", "Sports", "Business", "Sci/Tech")

    def __init__(self, folder: Any, train: bool = True) -> None:
        self.path = Path(folder, "train.csv" if train else "test.csv")
        self._rows = Csv(self.path, columns=("label", "title", "description"))

    def __len__(self) -> int:
        return len(self._rows)

    def item(self, place: int) -> Example:
        row = self._rows.item(place)
        if row["label"] not in ("1", "2", "3", "4"):
            refuse("AgNews", self.path, f"record {place} is of class {row['label']!r:.20}")
        return Example(f"{row['title']} {row['description']}", int(row["label"]) - 1)
