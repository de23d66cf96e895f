"""Convolutions as products with packed windows: every kind, edge sizes; what is not a number."""

import numpy as np
import pytest

from brimstone.ir import parse
from brimstone.ir.interpreter import interpret
from brimstone.passes.oracle import difference
from kit.convolutions import EDGES, KINDS, SMALL, convolution, convolve
from kit.tiling import arrays_for, kernel, runs, tiled


@pytest.mark.parametrize("kind", KINDS)
def test_a_convolution_of_tiles_is_the_convolution(kind: str) -> None:
    func = convolution(kind)
    made = tiled(func, SMALL)
    assert not made.refused
    names = [symbol.name for symbol in func.symbols]
    for found in dict.fromkeys(tuple(each[name] for name in names) for each in EDGES[::2]):
        sizes = dict(zip(names, found, strict=True))
        before, after = runs(func, arrays_for(func, sizes, whole=True), made.module)
        assert difference(before, after) is None, sizes


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_stays_in_the_windows_that_hold_it(special: float) -> None:
    func = kernel(convolve(1, low=1, high=1), "n 1 m f32", "3 1 3 f32")
    x, weights = np.ones((2, 1, 11), np.float32), np.ones((3, 1, 3), np.float32)
    x[0, 0, 10] = special
    (found,) = interpret(tiled(func, SMALL).module, x, weights)
    finite = np.isfinite(found)
    assert not finite[0, :, 9:].any() and finite[0, :, :9].all() and finite[1].all()


def test_narrow_floats_are_summed_wide() -> None:
    func = kernel(convolve(1), "n 300 m bf16", "3 300 2 bf16")
    storage = func.arguments[0].dtype.storage
    x, weights = np.ones((1, 300, 3), storage), np.ones((3, 300, 2), storage)
    (found,) = interpret(tiled(func, SMALL).module, x, weights)
    assert (found.astype(np.float32) == 600).all()  # 256 in sums of bf16


def test_dilated_images_are_no_longer_dilated() -> None:
    module = tiled(convolution("transposed"), SMALL).module
    assert len([func for func in module if func.name.endswith("_taken")]) == 4


def test_phases_that_are_alike_are_turns_of_one_kernel() -> None:
    """8 × 8 phases, each of one weight; 10 × 10, of two or of one along each axis."""
    for apart, window, count in ((8, 8, 1), (10, 15, 4)):
        build = convolve(input_dilation=apart, low=window - 1, high=window - 1)
        func = kernel(build, "n 2 4 4 f32", f"3 2 {window} {window} f32")
        module = tiled(func, SMALL).module
        assert len([each for each in module if each.name.endswith("_taken")]) == count


NAMED = """
func @k<size_0: 2..64>(%x: tensor<[2, 1, size_0], f32>, %kernel: tensor<[3, 1, 2], f32>)
    -> tensor<[2, 3, ceildiv(size_0 - 1, 2)], f32> {
  %y = tensor.convolve %x, %kernel {strides = [2], low = [0], high = [0], input_dilation = [1],
    kernel_dilation = [1], groups = 1, dtype = f32} : tensor<[2, 3, ceildiv(size_0 - 1, 2)], f32>
  return %y
}
"""
BORDER = """
func @k<m: 1..64, low: 0..64, high: 0..64>(
    %x: tensor<[2, 1, m], f32>, %kernel: tensor<[3, 1, 2], f32>,
    %before: tensor<[low, 0], f32>, %behind: tensor<[high, 0], f32>)
    -> tensor<[2, 3, m + low + high - 1], f32> {
  %y = tensor.convolve %x, %kernel {strides = [1], low = [low], high = [high],
    input_dilation = [1], kernel_dilation = [1], groups = 1, dtype = f32}
    : tensor<[2, 3, m + low + high - 1], f32>
  return %y
}
"""
GROUPED = """
func @k<n: 1..64, m: 2..64, size_0: 2..64 % 2>(
    %x: tensor<[2, 2*n, m], f32>, %kernel: tensor<[size_0, n, 2], f32>)
    -> tensor<[2, size_0, m - 1], f32> {
  %y = tensor.convolve %x, %kernel {strides = [1], low = [0], high = [0], input_dilation = [1],
    kernel_dilation = [1], groups = 2, dtype = f32} : tensor<[2, size_0, m - 1], f32>
  return %y
}
"""
TOLD = """
func @k<n: 0..64, m: 0..64>(%x: tensor<[2, 2, 5], f32>, %kernel: tensor<[3, 2, 3], f32>,
    %low: tensor<[n, 0], bool>, %high: tensor<[m, 0], bool>) -> tensor<[2, 3, n + m + 7], f32> {
  %y = tensor.convolve %x, %kernel {strides = [1], low = [n], high = [m], input_dilation = [2],
    kernel_dilation = [1], groups = 1, dtype = f32} : tensor<[2, 3, n + m + 7], f32>
  return %y
}
"""


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (NAMED, [(2, 1, 9), (3, 1, 2)]),
        (BORDER, [(2, 1, 9), (3, 1, 2), (5, 0), (3, 0)]),
        (GROUPED, [(2, 6, 15), (10, 3, 2)]),
        (TOLD, [(2, 2, 5), (3, 2, 3), (1, 0), (0, 0)]),
        (TOLD, [(2, 2, 5), (3, 2, 3), (4, 0), (9, 0)]),
    ],
    ids=[
        "a size with the name of another",
        "a border",
        "groups of any number of channels",
        "borders of a width that no array has",
        "wide borders",
    ],
)
def test_open_sizes(text: str, shapes: list[tuple[int, ...]]) -> None:
    func = parse(text).main
    made = tiled(func, SMALL)
    assert not made.refused
    for stage in made.module:
        names = [symbol.name for symbol in stage.symbols]
        assert len({*names}) == len(names)
    rng = np.random.default_rng(3)
    arrays = [
        rng.integers(-4, 5, shape).astype(value.dtype.storage)
        for shape, value in zip(shapes, func.arguments, strict=True)
    ]
    before, after = runs(func, arrays, made.module)
    assert difference(before, after) is None


def test_a_complex_one_stays() -> None:
    func = kernel(convolve(1), "n 2 m c64", "3 2 2 c64")
    assert tiled(func, SMALL).refused == {"k": "complex numbers"}
