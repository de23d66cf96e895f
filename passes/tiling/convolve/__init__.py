"""Convolutions: products of the kernel with windows of the images, which are never all in memory.

Comes in: a kernel func of the tensor floor that consists of one convolution. Goes out: `Stages`.
Never: a number of a machine, or a size of images; the chooser says how large blocks are.

`geometry` sees a convolution as places, windows and channels, and `phases` sees one of dilated
images as several of others, each of which takes a part of the kernel (`taking`). Weights are packed
in panels, as those of a product are. A program packs the `windows` of some output pixels into
memory of its own, where a pixel is a column, and multiplies them with all panels (`blocks`); where
windows are large and places few, it loads along the window (`turned`); where a group has hardly any
channels, a program makes a line of `one_channel`: it runs `along` the images instead, or along
large windows (`deep`). `reading` reads images, `elements` has the loops over windows, `lines` those
over lines of output pixels; `summing` and `storing` make and store sums. `plan` chooses.
"""

from typing import TYPE_CHECKING, Any

from ....ir.func import Func
from ..schedule import Chooser

if TYPE_CHECKING:
    from ..parts import Stages


def tile_convolution(func: Func, op: Any, choose: Chooser) -> "Stages":
    """The stages of a convolution, by `plan`, which is loaded when there is one."""
    from .plan import tile_convolution

    return tile_convolution(func, op, choose)
