"""Images that are classified, by folder.

Comes in: a folder with a folder for each class. Goes out: a dataset of images and classes.
Never: an image read before somebody asks for it.
"""

from pathlib import Path
from typing import Any

from .folders import LabelledFiles
from .images import ENDINGS, read_image


class ImageFolder(LabelledFiles):
    """A folder a class, with images: items are an image and the number of its class."""

    endings = ENDINGS

    def __init__(self, folder: Any, mode: str = "RGB") -> None:
        super().__init__(folder)
        self.mode = mode

    def read(self, path: Path) -> Any:
        return read_image(path, self.mode, self._name)
