"""Every op on sizes that are no multiple of its tile, at odd and negative strides, amid poison.

An op without a case in `kit/tile_cases.py` fails the first test.
"""

import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.declare import REGISTRY
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.verifier import verify
from kit.kernels import Watched, addresses_read, shown, window_on
from kit.tile_cases import CASES, built


def test_every_op_has_a_case() -> None:
    cases = {name.split()[0] for name in CASES}
    assert {name for name in REGISTRY if name.startswith("tile.")} == cases


@pytest.mark.parametrize("order", [None, [2, 0, 3, 1]])
@pytest.mark.parametrize("name", CASES)
def test_nothing_but_the_views_is_touched(name: str, order: list[int] | None) -> None:
    module, case = built(name), CASES[name]
    verify(module)
    arrays = [*case.inputs, np.zeros_like(case.result)]
    windows = [window_on(array, place) for place, array in enumerate(arrays)]
    watched = [Watched.of(window) for window in windows]
    tile.run_kernel(module.main, watched, order=order)
    np.testing.assert_array_equal(windows[-1].array(), case.result)
    for window, array in zip(windows[:-1], case.inputs, strict=True):
        np.testing.assert_array_equal(window.array(), array)
    assert all(addresses_read(window) <= shown(window) for window in watched)
    assert all(tile.is_intact(window) for window in windows)


@pytest.mark.parametrize("name", CASES)
def test_text_says_all(name: str) -> None:
    text = print_module(built(name))
    assert print_module(parse(text)) == text
