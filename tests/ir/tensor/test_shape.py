"""dim."""

import numpy as np

from brimstone.ir import tensor
from brimstone.ir.dtypes import f32
from brimstone.ir.types import Tensor
from kit.calls import call, counted, refusal, run, same_bits


def test_dim_is_the_size_of_an_axis():
    x = counted((2, 0, 5), f32)
    for axis, size in enumerate(x.shape):
        same_bits(call(tensor.Dim, x, axis=axis), np.array(size, np.int64))


def test_dim_of_a_symbolic_size():
    text = """
    func @f<n: 0..64>(%x: tensor<[2, n], f32>) -> tensor<[], i64> {
      %y = tensor.dim %x {axis = 1} : tensor<[], i64>
      return %y
    }"""
    same_bits(run(text, counted((2, 7), f32))[0], np.array(7, np.int64))


def test_dim_refuses_an_axis_that_is_not_there():
    assert "axis 1 is outside 0..0" in refusal(tensor.Dim, Tensor((3,), f32), axis=1)
    assert "axis -1 is outside" in refusal(tensor.Dim, Tensor((3,), f32), axis=-1)
