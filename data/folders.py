"""Files in folders.

Comes in: a folder, and the endings of the files that count. Goes out: their paths in a fixed order,
with the numbers of their classes where there is a folder a class.
Never: a hidden file, or a link to a folder followed within that of a class.
"""

import os
from abc import abstractmethod
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from .dataset import Dataset, Example
from .errors import Reading, refuse


class LabelledFiles(Dataset):
    """A folder a class: items are what `read` makes of a file, and the number of its class.

    `classes` are the names of the folders, in alphabetical order.
    """

    endings: Collection[str] = ()

    def __init__(self, folder: Any) -> None:
        self._name = type(self).__name__
        self.folder = Path(folder)
        with Reading(self._name, folder):
            found = sorted(each.name for each in os.scandir(folder) if is_open_folder(each))
            self.classes = found
            self.files = [
                (path, label)
                for label, name in enumerate(found)
                for path in files_in(self.folder / name, self.endings)
            ]
        if not self.files:
            hint = f"expected a folder for each class, with files {', '.join(self.endings)}"
            refuse(self._name, folder, "there is no such file in it", hint)

    def __len__(self) -> int:
        return len(self.files)

    def item(self, place: int) -> Example:
        path, label = self.files[place]
        return Example(self.read(path), label)

    @abstractmethod
    def read(self, path: Path) -> Any:
        """What is in a file."""


class TextFolder(LabelledFiles):
    """A folder a class, with texts: items are a text and the number of its class."""

    endings = (".txt",)

    def read(self, path: Path) -> str:
        with Reading(self._name, path, UnicodeDecodeError, hint="expected UTF-8"):
            return path.read_text("utf-8")


def files_in(folder: Path, endings: Collection[str]) -> Iterator[Path]:
    """The files under a folder whose names end in one of these, ordered by their paths."""
    for place, inner, names in os.walk(folder, onerror=_raise):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(tuple(endings)) and not name.startswith("."):
                yield Path(place, name)


def is_open_folder(entry: os.DirEntry[str]) -> bool:
    """Whether this is a folder, and not a hidden one."""
    return entry.is_dir() and not entry.name.startswith(".")


def _raise(problem: OSError) -> None:
    raise problem
