"""Kernels that consist of one convolution, of every kind and of several dtypes.

Comes in: nothing, or a name of `KINDS`. Goes out: kernels, and schedules under which small images
make several blocks.
Never: a test.
"""

from collections.abc import Callable
from typing import Any

from brimstone.ir import tensor
from brimstone.ir.dtypes import BY_NAME
from brimstone.ir.func import Func
from brimstone.ir.tensor.rules import Term
from kit.tiling import kernel

SMALL = {
    "m": 3, "n": 8, "k": 4, "kept": 16, "beside": 2, "vector": 4, "unroll": 2, "chunk": 32,
}  # fmt: skip
"""Blocks of 3×8, chunks of k of 4, at most two blocks of pixels a program, vectors of 4."""


def convolve(space: int = 2, groups: int = 1, dtype: str = "", **steps: Any) -> Callable[..., Term]:
    """The convolution with these steps; one number stands for as many as there are axes."""

    def build(x: Term, y: Term) -> Term:
        plain = {
            "strides": 1, "low": 0, "high": 0, "input_dilation": 1, "kernel_dilation": 1,
        }  # fmt: skip
        each = {
            name: by if isinstance(by, tuple) else (by,) * space
            for name, by in {**plain, **steps}.items()
        }
        made = x.builder.emit(
            tensor.Convolve,
            x.value,
            y.value,
            groups=groups,
            dtype=BY_NAME[dtype] if dtype else x.value.dtype,
            **each,
        )
        return Term(x.builder, made)

    return build


KINDS: dict[str, tuple[Callable[..., Any], str, str]] = {
    "valid": (convolve(), "n 3 m k f32", "5 3 3 2 f32"),
    "same": (convolve(low=1, high=1), "n 2 m k f32", "4 2 3 3 f32"),
    "pointwise": (convolve(), "n k m 5 f32", "4 k 1 1 f32"),
    "strides": (convolve(strides=2, low=3, high=3), "n 1 m k f32", "4 1 7 7 f32"),
    "large strides": (convolve(strides=(3, 5), low=(2, 1)), "n 2 m k f32", "3 2 2 3 f32"),
    "dilated": (convolve(kernel_dilation=(2, 3), low=2, high=(1, 3)), "n 2 m k f32", "4 2 2 3 f32"),
    "transposed": (convolve(input_dilation=2, low=1, high=2), "n 2 m k f32", "4 2 3 3 f32"),
    "all of it": (
        convolve(strides=(2, 3), input_dilation=(3, 2), kernel_dilation=(1, 2), low=2, high=3),
        "n 2 m k f32",
        "3 2 3 2 f32",
    ),
    "far apart": (
        convolve(input_dilation=(3, 4), low=(2, 5), high=(4, 3)),
        "n 2 m k f32",
        "4 2 5 4 f32",
    ),
    "far apart, fixed": (convolve(input_dilation=4, low=3, high=3), "2 2 4 5 f32", "3 2 4 4 f32"),
    "far apart, points": (convolve(input_dilation=(3, 4), high=3), "n 2 m k f32", "4 2 1 1 f32"),
    "far apart, by strides": (
        convolve(strides=2, input_dilation=9, kernel_dilation=2, low=4, high=9),
        "n 2 m 3 f32",
        "3 2 3 4 f32",
    ),
    "far apart, groups": (
        convolve(1, groups=2, input_dilation=10, low=9, high=9),
        "n 4 m f32",
        "6 2 20 f32",
    ),
    "far apart, few channels": (
        convolve(input_dilation=(3, 4), low=(2, 3), high=(2, 3)),
        "n 2 m k f32",
        "2 2 3 4 f32",
    ),
    "far apart, deep": (
        convolve(input_dilation=(3, 4), low=(2, 3), high=0),
        "2 3 2 3 f32",
        "4 3 4 10 f32",
    ),
    "far apart, deep, depthwise": (
        convolve(groups=2, input_dilation=(3, 4), low=(2, 3), high=0),
        "2 4 2 3 f32",
        "4 2 4 10 f32",
    ),
    "groups": (convolve(groups=2, low=1, high=1), "n 4 m k f32", "6 2 3 3 f32"),
    "few channels, far apart": (convolve(strides=4, low=2), "n 2 m k f32", "2 2 5 5 f32"),
    "few channels": (convolve(high=1), "n 3 m k f32", "2 3 2 3 f32"),
    "depthwise": (convolve(groups=3, low=1, high=1), "n 3 m k f32", "3 1 3 3 f32"),
    "depthwise, doubled": (convolve(groups=2, strides=2), "n 2 m k f32", "4 1 2 2 f32"),
    "line": (convolve(1, low=2), "n 3 m f32", "4 3 3 f32"),
    "volume": (convolve(3, low=1, strides=(1, 2, 1)), "n 2 3 m k f32", "4 2 2 3 2 f32"),
    "no space": (convolve(0), "n k f32", "m k f32"),
    "open window": (convolve(low=1, high=2), "2 n 4 15 f32", "4 n m k f32"),
    "all at once": (convolve(), "5 2 m k f32", "4 2 m k f32"),
    "deep": (convolve(low=1, high=1), "3 n m k f32", "4 n m k f32"),
    "deep, apart": (convolve(kernel_dilation=2, low=1, high=1), "3 n m k f32", "4 n m k f32"),
    "deep, f16": (convolve(low=(0, 1), high=(2, 1)), "5 2 n m f16", "3 2 n m f16"),
    "deep, depthwise": (convolve(groups=2, low=1, high=1), "3 4 m k f32", "2 2 m k f32"),
    "deep, far apart": (convolve(kernel_dilation=4, low=1, high=3), "3 n 18 23 f32", "4 n 4 5 f32"),
    "deep, fixed": (
        convolve(strides=2, kernel_dilation=2, input_dilation=(1, 2), low=2, high=2),
        "3 2 9 6 f32",
        "4 2 5 5 f32",
    ),
    "fixed": (convolve(low=1, high=1), "2 4 6 7 f32", "5 4 3 3 f32"),
    "bf16": (convolve(low=1, high=1), "n 2 m k bf16", "4 2 3 3 bf16"),
    "f16 to f32": (convolve(dtype="f32"), "n 2 m k f16", "4 2 3 2 f16"),
    "f64": (convolve(low=1), "n 2 m k f64", "4 2 3 3 f64"),
    "i32": (convolve(strides=2), "n 2 m k i32", "4 2 3 3 i32"),
    "i8 to i32": (convolve(dtype="i32"), "n 2 m k i8", "4 2 3 3 i8"),
}


EDGES = [
    {"n": n, "m": m, "k": k}
    for n, m, k in ((2, 3, 9), (2, 0, 5), (1, 7, 4), (1, 5, 1), (0, 3, 3), (1, 1, 0))
]
"""Nothing and one of everything, lines that are longer and shorter than a vector or a block."""


def convolution(kind: str) -> Func:
    """The kernel of a kind."""
    build, x, weights = KINDS[kind]
    return kernel(build, x, weights)
