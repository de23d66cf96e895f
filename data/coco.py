"""Objects in images, as COCO describes them.

Comes in: a folder of images, and a JSON file with `images`, `annotations` and `categories`. Goes
out: a dataset of images, boxes and classes.
Never: a path out of the folder, whatever the file says.
"""

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from .dataset import Dataset
from .errors import Reading, refuse
from .images import read_image

FAR = 2**31
"""No pixel has such a coordinate."""


class Detected(NamedTuple):
    """An image, the boxes of its objects [count, 4], and the number of the class of each."""

    image: Any
    boxes: Any
    labels: Any


class CocoDetection(Dataset):
    """Images and their objects; a box is x, y, width, height in pixels, x and y of its corner.

    `classes` are the names of the categories, in the order of their ids. Objects that are crowds
    are left out.
    """

    def __init__(self, folder: Any, annotations: Any, mode: str = "RGB") -> None:
        self.folder, self.mode = Path(folder), mode
        about = _Annotations(annotations)
        self.classes = about.classes
        self.objects = about.objects

    def __len__(self) -> int:
        return len(self.objects)

    def item(self, place: int) -> Detected:
        name, boxes, labels = self.objects[place]
        return Detected(read_image(self.folder / name, self.mode, "CocoDetection"), boxes, labels)


class _Annotations:
    """What the file says, all of which has been looked at."""

    def __init__(self, path: Any) -> None:
        self._path = path
        with Reading("CocoDetection", path, ValueError, RecursionError):
            about = json.loads(Path(path).read_bytes())
        if not isinstance(about, Mapping):
            refuse("CocoDetection", path, "expected an object with images and annotations")
        names = self._by_id(about, "categories", "name")
        numbers = {id_: number for number, id_ in enumerate(sorted(names))}
        self.classes = [names[id_] for id_ in numbers]
        images = self._by_id(about, "images", "file_name")
        for name in images.values():
            self._check_inside(name)
        boxes: dict[int, list[Any]] = {id_: [] for id_ in images}
        for each in self._get(about, "annotations", list):
            if not self._get(each, "iscrowd", int, 0):
                image = self._known(self._get(each, "image_id", int), images)
                category = self._known(self._get(each, "category_id", int), numbers)
                boxes[image].append((self._box(each), numbers[category]))
        self.objects = [(name, *_arrays(boxes[id_])) for id_, name in images.items()]

    def _by_id(self, about: Any, kind: str, field: str) -> dict[int, str]:
        """A field of each record of a kind."""
        found: dict[int, str] = {}
        for each in self._get(about, kind, list):
            id_ = self._get(each, "id", int)
            if id_ in found:
                refuse("CocoDetection", self._path, f"two of {kind} have the id {id_}")
            found[id_] = self._get(each, field, str)
        return found

    def _get(self, record: Any, key: str, kind: type, default: Any = None) -> Any:
        found = record.get(key, default) if isinstance(record, Mapping) else None
        if type(found) is not kind:
            problem = f"expected {key!r} as {kind.__name__} in {record!r:.60}"
            refuse("CocoDetection", self._path, problem)
        return found

    def _known(self, id_: int, those: Mapping[int, Any]) -> int:
        if id_ not in those:
            refuse("CocoDetection", self._path, f"an object refers to {id_}, which is not there")
        return id_

    def _box(self, record: Any) -> list[float]:
        box = self._get(record, "bbox", list)
        good = all(type(each) in (int, float) and abs(each) < FAR for each in box)
        if len(box) != 4 or not good:
            refuse("CocoDetection", self._path, f"expected four numbers as a box, got {box!r:.60}")
        return box

    def _check_inside(self, name: str) -> None:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or "\0" in name:
            refuse("CocoDetection", self._path, f"{name!r} leads out of the folder of images")


def _arrays(objects: list[tuple[list[float], int]]) -> tuple[Any, Any]:
    boxes = np.array([box for box, _ in objects], np.float32).reshape(-1, 4)
    return boxes, np.array([label for _, label in objects], np.int64)
