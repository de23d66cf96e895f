"""Kernels count from a size that they are handed, so that those which do the same are the same."""

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir import print_func
from brimstone.ir.func import Func
from brimstone.passes.meaning import named_by_meaning
from kit.fusing import checked, func_of

GROWS = """
func @f<n: {bounds}, m: 2..9>(%x: tensor<[n + {k}, m], f32>, %y: tensor<[1, m], f32>)
    -> tensor<[n + {k} + 1, m], f32> {{
  %e = tensor.exp %x : tensor<[n + {k}, m], f32>
  %c = tensor.concat %e, %y {{axis = 0}} : tensor<[n + {k} + 1, m], f32>
  %t = tensor.permute %c {{axes = [1, 0]}} : tensor<[m, n + {k} + 1], f32>
  %s = tensor.cumulative_sum %t {{axis = 1}} : tensor<[m, n + {k} + 1], f32>
  %z = tensor.permute %s {{axes = [1, 0]}} : tensor<[n + {k} + 1, m], f32>
  return %z
}}
"""


def kernels(text: str) -> list[Func]:
    """The kernels of a text, in the order in which they stand."""
    made = checked(func_of(text)).module
    return [func for func in made if func is not made.main]


def grown(k: int, bounds: str = "2..2147483647") -> list[Func]:
    """The kernels of a func that makes n + k rows one more."""
    return kernels(GROWS.format(k=k, bounds=bounds))


def test_kernels_of_one_row_more_are_the_same() -> None:
    names = [[named_by_meaning(each) for each in grown(k)] for k in range(1, 5)]
    assert names[1:] == names[:-1]


def test_bounds_hold_for_all_that_comes() -> None:
    for k in range(5):
        for func in grown(k, "0..12"):
            (n,) = [each for each in func.symbols if each.name == "n"]
            is_longer = "n + 1" not in print_func(func) and "exp" not in func.name
            assert n.minimum <= k + is_longer
            assert n.maximum >= 12 + k + is_longer


LESS = """
func @f<n: {bounds}, m: 2..9>(%x: tensor<[n - {k}, m], f32>, %y: tensor<[m, n - {k} + 2], f32>)
    -> (tensor<[n - {k}, m], f32>, tensor<[m, n - {k}], f32>) {{
  %c = tensor.cumulative_sum %x {{axis = 0}} : tensor<[n - {k}, m], f32>
  %d = tensor.slice %y {{start = [0, 2], size = [m, n - {k}], step = [1, 1]}}
    : tensor<[m, n - {k}], f32>
  return %c, %d
}}
"""


def test_less_than_a_size_may_be_nothing() -> None:
    for func in kernels(LESS.format(k=4, bounds="4..2147483647")):
        (n,) = [each for each in func.symbols if each.name == "n"]
        assert n.minimum == 0, print_func(func)
        assert n.maximum == 2**31 - 1
        assert "n - " not in print_func(func)


MULTIPLE = """
func @f<n: 8..64 % 8>(%x: tensor<[n + {k}], f32>) -> tensor<[n + {k}], f32> {{
  %c = tensor.cumulative_sum %x {{axis = 0}} : tensor<[n + {k}], f32>
  return %c
}}
"""


def test_what_divides_a_size_is_kept() -> None:
    (func,) = kernels(MULTIPLE.format(k=16))
    assert "n: 8..127 % 8" in print_func(func)
    (func,) = kernels(MULTIPLE.format(k=3))
    assert "size_0: 2..127" in print_func(func)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("by", [-3, 2, 5])
def test_sizes_that_a_launch_would_write_otherwise_stay(count: int, by: int) -> None:
    """How often a line is rolled around is rounded up by a size with several terms."""
    with bs.device("cpu"):
        x = np.arange(count, dtype=np.float32)
        longer = bs.jit(
            lambda x: bs.roll(bs.concat([x, bs.ones(1, dtype=x.dtype)]) * 2, by),
            dynamic={"x": {0: "n"}},
        )
        expected = np.roll(np.concatenate([x, [1]]) * 2, by)
        np.testing.assert_array_equal(longer(bs.asarray(x)).numpy(), expected)
