"""Images as arrays.

Comes in: the path of a file that Pillow reads. Goes out: an array of bytes, channels first, as
convolutions take them.
Never: Pillow imported before an image is read, or pixels decoded beyond Pillow's limit.
"""

from math import inf
from typing import Any

import numpy as np

from .errors import Reading, of_extra, refuse

ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")


def read_image(path: Any, mode: str | None = "RGB", operation: str = "read_image") -> Any:
    """The pixels of an image: of mode RGB an array [3, height, width], of uint8.

    Other modes are Pillow's: "L" is grey, [1, height, width]. None leaves the image as it is
    stored, without an axis for channels if it has one: a palette's numbers, grey, 16 bits.
    """
    library = of_extra("PIL.Image", "images", operation)
    # What Pillow's many decoders raise about a broken file is of many kinds.
    with Reading(operation, path, Exception), library.open(path) as image:
        width, height = image.size
        if width * height > (library.MAX_IMAGE_PIXELS or inf):
            refuse(operation, path, f"{width} by {height} pixels are beyond Pillow's limit")
        pixels = np.array(image if mode is None else image.convert(mode))
    if pixels.ndim == 3:
        return np.ascontiguousarray(pixels.transpose(2, 0, 1))
    return pixels if mode is None else pixels[None]
