"""Windows of images as columns, and columns added up to images.

Comes in: images [N, C, space…], or columns [N, C * elements of a window, windows]; how windows
move. Goes out: the other.
Never: an element twice in memory until somebody asks for the columns.
"""

from __future__ import annotations

from math import prod as product
from typing import Any

from ...frontend.errors import ShapeError, fail
from ...frontend.functions.creation import zeros
from ...frontend.functions.manipulation import stack
from ...frontend.functions.padding import pad
from ...frontend.functions.space import each_axis
from ...frontend.grad import vjp
from ...frontend.tensor import Tensor
from ...ir.tensor.windows import spread
from .common import as_images, known_size, sizes_of, widened
from .steps import Steps


def unfold(
    x: Any, /, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Of images [N, C, space…] columns [N, C * elements of a window, windows].

    Windows begin `stride` apart, and their elements are `dilation` apart. Around x there are as
    many zeros as `padding` says.
    """
    image = as_images("unfold", x, space=1)
    count = image.ndim - 2
    steps = Steps("unfold", count, kernel_size, stride, padding, dilation)
    windows = product(steps.places(steps.sizes(image), image))
    made = pad(image, ((0, 0), (0, 0), *steps.around))
    for at in reversed(range(count)):
        made = _lines(made, at + 2, steps.window[at], steps.stride[at], steps.dilation[at])
    order = (0, 1, *range(2, 2 + 2 * count, 2), *range(3, 3 + 2 * count, 2))
    batch, channels = sizes_of(image)[:2]
    return made.permute_dims(order).reshape((batch, channels * product(steps.window), windows))


def fold(
    x: Any, /, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Tensor:  # fmt: skip
    """Of columns, images [N, C, *output_size]: elements of windows are added where these overlap.

    It is the transpose of `unfold`, which makes columns of the shape of x of such images.
    """
    wide, dtype = widened("fold", x)
    count = len(output_size) if isinstance(output_size, tuple | list) else 2
    sizes = each_axis("fold", "output_size", output_size, count)
    steps = Steps("fold", count, kernel_size, stride, padding, dilation)
    elements, windows = product(steps.window), product(steps.places(sizes, wide))
    _check_columns(wide, elements, windows)
    image = zeros((sizes_of(wide)[0], wide.shape[1] // elements, *sizes), dtype=wide.dtype)
    _, back = vjp(lambda image: unfold(image, kernel_size, dilation, padding, stride), image)
    return back(wide)[0].astype(dtype)


def _check_columns(x: Tensor, elements: int, windows: int) -> None:
    """Refuse columns that windows of so many elements do not make."""
    if x.ndim != 3 or known_size("fold", x, 1) % elements or known_size("fold", x, 2) != windows:
        problem = f"takes [N, C * {elements}, {windows}], as many elements and windows as there are"
        fail(ShapeError, "fold", problem, x)


def _lines(x: Tensor, axis: int, size: int, stride: int, apart: int) -> Tensor:
    """An axis as two: which element of a window, and which window."""
    before = (slice(None),) * axis
    length = (x.shape[axis] - spread(size, apart)) // stride * stride + 1
    firsts = [number * apart for number in range(size)]
    return stack([x[(*before, slice(at, at + length, stride))] for at in firsts], axis=axis)
