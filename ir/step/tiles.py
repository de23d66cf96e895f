"""Launching kernels of the tile floor: every program of a grid, on views of memory.

Comes in: a launch whose kernel takes views: first of what it reads, then of what it writes; sizes
of the host are its scalars. Goes out: nothing; the programs have stored. A launch with an empty
grid runs the grid that the kernel states itself.
Never: a result; such a kernel returns nothing.
"""

from collections.abc import Sequence
from typing import Any

from .. import types
from ..errors import require
from ..func import Func
from ..payloads import Array
from ..tile import Window, row_major, run_kernel
from ..types import Scalar, Type, View
from .launch import KERNELS, Group, Kernels


class TileKernels(Kernels):
    """Kernels of the tile floor."""

    def check(self, launch: Group, kernel: Func) -> None:
        given = [value.type for value in (*launch.reads, *launch.writes)]
        takes = [argument.type for argument in kernel.arguments]
        require(not kernel.results, f"@{kernel.name} returns values; a kernel of views stores them")
        require(
            len(takes) == len(given),
            f"@{kernel.name} has {len(takes)} arguments, the launch {len(given)}",
        )
        for place, (type_, found) in enumerate(zip(takes, given, strict=True)):
            fits = _sees(type_, found)
            require(
                fits, f"argument {place} of @{kernel.name} is a {type_}, and no window on {found}"
            )
        stated = bool(launch.grid) or "grid" in kernel.attributes
        require(stated, f"neither the launch nor @{kernel.name} states a grid")

    def run(
        self,
        launch: Group,
        kernel: Func,
        frame: Any,
        reads: Sequence[Array],
        writes: Sequence[Array],
    ) -> None:
        grid = frame.shape(launch.grid) or None
        pairs = zip(kernel.arguments, (*reads, *writes), strict=True)
        arguments = [_argument(value.type, array) for value, array in pairs]
        run_kernel(kernel, arguments, grid, frame.module)


def _sees(type_: Type, found: Type) -> bool:
    """Whether an argument of a kernel can stand for what a launch hands over."""
    if isinstance(type_, View) and isinstance(found, types.Array):
        return type_.rank == found.rank and type_.dtype is found.dtype
    return isinstance(type_, Scalar) and type_ is found


def _argument(type_: Type, array: Array) -> Window | Array:
    """An array in row-major order has its strides also where it has no elements: numpy has not."""
    dense = isinstance(type_, View) and array.flags.c_contiguous
    return row_major(array.reshape(-1), array.shape) if dense else array


KERNELS[View] = TileKernels()
