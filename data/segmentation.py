"""Images whose every pixel has a class.

Comes in: a folder of images, and one of masks of the same names. Goes out: a dataset of both.
Never: a mask of another size than its image.
"""

from pathlib import Path
from typing import Any, NamedTuple

from .dataset import Dataset
from .errors import Reading, refuse
from .folders import files_in
from .images import ENDINGS, read_image


class Segmented(NamedTuple):
    """An image, and the class of each of its pixels."""

    image: Any
    mask: Any


class SegmentationFolder(Dataset):
    """Images and their masks, which have the image's name but for the ending.

    A mask's pixels are numbers of classes, as they are stored: grey, or those of a palette.
    """

    def __init__(self, images: Any, masks: Any, mode: str = "RGB") -> None:
        self.mode = mode
        with Reading("SegmentationFolder", images):
            found = _by_name(Path(images))
        with Reading("SegmentationFolder", masks):
            beside = _by_name(Path(masks))
        alone = min(found.keys() ^ beside.keys(), default=None)
        if alone is not None:
            kind, path = ("mask", found[alone]) if alone in found else ("image", beside[alone])
            refuse("SegmentationFolder", path, f"there is no {kind} of this name")
        if not found:
            refuse("SegmentationFolder", images, f"there are no files {', '.join(ENDINGS)}")
        self.files = [(found[name], beside[name]) for name in found]

    def __len__(self) -> int:
        return len(self.files)

    def item(self, place: int) -> Segmented:
        image_path, mask_path = self.files[place]
        image = read_image(image_path, self.mode, "SegmentationFolder")
        mask = read_image(mask_path, None, "SegmentationFolder")
        if mask.shape != image.shape[1:]:
            problem = f"the mask is {mask.shape} and the image {image.shape[1:]}"
            hint = "a mask has a number for each pixel and no colours"
            refuse("SegmentationFolder", mask_path, problem, hint)
        return Segmented(image, mask)


def _by_name(folder: Path) -> dict[str, Path]:
    """The images under a folder by their places in it, without their endings."""
    found: dict[str, Path] = {}
    for path in files_in(folder, ENDINGS):
        other = found.setdefault(str(path.relative_to(folder).with_suffix("")), path)
        if other is not path:
            refuse("SegmentationFolder", path, f"{other.name} has the same name")
    return found
