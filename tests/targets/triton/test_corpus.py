"""Kernels as people write them: the source, the interpreter of tiles and numpy agree."""

from dataclasses import replace

import numpy as np
import pytest

from brimstone.ir import tile, verify
from brimstone.ir.func import Module
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from kit.interpret import run_triton
from kit.tile_corpus import CORPUS, arguments_for
from kit.tile_meanings import meaning_of

TOLERANCE = {"bfloat16": 2**-7, "float16": 2**-9, "float32": 2e-3}


@pytest.mark.parametrize("name", CORPUS)
def test_the_kernel_means_what_it_should(name: str) -> None:
    example = CORPUS[name]
    func, arguments = arguments_for(example)
    verify(Module([func]))
    meant = meaning_of(name, arguments, example.writes)
    tile.run_kernel(func, arguments)
    for made, wanted in zip(arguments[-example.writes :], meant, strict=True):
        bound = TOLERANCE[str(made.dtype)] * np.abs(wanted).max()
        np.testing.assert_allclose(made.astype(np.float64), wanted, rtol=0, atol=bound)


@pytest.mark.parametrize("name", CORPUS)
def test_the_source_does_the_same(name: str) -> None:
    example = CORPUS[name]
    func, arguments = arguments_for(example, seed=1)
    printed = [each.copy() for each in arguments]
    tile.run_kernel(func, arguments)
    run_triton(func, printed)
    for made, wanted in zip(printed, arguments, strict=True):
        np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("sizes", [(0, 8, 8), (1, 8, 16), (31, 40, 24), (33, 0, 8), (65, 32, 32)])
def test_edges_of_a_product(sizes: tuple[int, int, int]) -> None:
    rows, inner, columns = sizes
    shapes = [(rows, inner), (inner, columns), (columns,), (rows, columns)]
    func, arguments = arguments_for(replace(CORPUS["matmul_gelu"], shapes=shapes))
    expected, printed = [
        [tile.row_major(each.ravel().copy(), each.shape) for each in arguments] for _ in range(2)
    ]
    tile.run_kernel(func, expected)
    run_triton(func, printed)
    np.testing.assert_array_equal(printed[-1].array(), expected[-1].array())


@pytest.mark.parametrize("name", CORPUS)
def test_text_says_all(name: str) -> None:
    text = print_module(Module([CORPUS[name].build()]))
    assert print_module(parse(text)) == text
