"""Kernels that were written by hand: tile funcs that travel as text in a `tensor.custom`.

Comes in: the settings {name: "k", program: "func @k…"} of such an op, whose func takes a view of
each argument and then of each result, with facts that say their sizes, and states its grid, and by
`fill` with which number which result begins, as in {grid: [4], fill: [[0, -inf]]}; and the
arguments, as arrays or as their shapes. Goes out: the func, its sizes, its results.
Never: a size that no argument has; those of the results follow from them.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..attributes import Frozen, Shape
from ..dims import Size, Symbol, substitute
from ..errors import require
from ..func import Func
from ..parser import parse
from ..payloads import Array
from ..values import AnyValue
from .kernel import run_kernel
from .poison import unwritten
from .window import row_major

KERNEL = "brimstone.ir.tile.written:run"
"""What a `tensor.custom` names that calls such a kernel."""


@lru_cache(1024)
def program_of(settings: Frozen) -> Func:
    """The func, which nobody may change."""
    return parse(settings["program"]).main


def bind(func: Func, shapes: Sequence[Shape]) -> dict[Symbol, Size]:
    """What each symbol of the func is where its first arguments have these shapes."""
    sizes: dict[Symbol, Size] = {}
    for argument, shape in zip(func.arguments, shapes, strict=False):
        for size, found in zip(stated(argument), shape, strict=True):
            if isinstance(size, Symbol):
                sizes.setdefault(size, found)
    return sizes


def check_shapes(func: Func, shapes: Sequence[Shape], sizes: dict[Symbol, Size]) -> None:
    """Refuse arguments that have other shapes than the func states for these sizes."""
    for argument, shape in zip(func.arguments, shapes, strict=False):
        wanted = shape_of(argument, sizes)
        fits = wanted == shape
        require(fits, f"{argument.name} has the shape {list(shape)}, expected {list(wanted)}")


def stated(view: AnyValue) -> Shape:
    """The sizes of a view, in the func's symbols."""
    return view.type.facts["size"]


def shape_of(view: AnyValue, sizes: dict[Symbol, Size]) -> Shape:
    """The shape of a view where the symbols are these sizes."""
    return tuple([substitute(size, sizes) for size in stated(view)])


def fills(func: Func) -> dict[int, Any]:
    """With which number each result begins that begins with one."""
    return dict(func.attributes.get("fill", ()))


def run(*given: Any) -> tuple[Array, ...]:
    """The results of the kernel for some arrays, which come before the settings."""
    *arrays, settings = given
    func = program_of(Frozen(settings))
    sizes = bind(func, [array.shape for array in arrays])
    windows = [row_major(np.ravel(array), array.shape) for array in arrays]
    starts = fills(func)
    for place, view in enumerate(func.arguments[len(arrays) :]):
        shape: Any = shape_of(view, sizes)
        windows.append(unwritten(shape, view.dtype.storage))
        if place in starts:
            windows[-1].memory.fill(starts[place])
    run_kernel(func, windows)
    return tuple([window.memory.reshape(window.sizes) for window in windows[len(arrays) :]])
