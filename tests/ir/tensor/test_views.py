"""reshape, permute, broadcast and flip, against loops over every index."""

from itertools import permutations

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import ALL, f32, i8
from brimstone.ir.types import Tensor
from kit.calls import call, counted, filled, refusal, run, same_bits

DTYPES = sorted(ALL, key=lambda dtype: dtype.name)
n, m = Symbol("n"), Symbol("m")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_views_move_every_dtype(dtype):
    x = counted((2, 3), dtype)
    same_bits(
        call(tensor.Reshape, x, shape=(3, 2)),
        filled((3, 2), x.dtype, lambda i: x.flat[2 * i[0] + i[1]]),
    )
    same_bits(
        call(tensor.Permute, x, axes=(1, 0)), filled((3, 2), x.dtype, lambda i: x[i[1], i[0]])
    )
    same_bits(call(tensor.Flip, x, axes=(1,)), filled((2, 3), x.dtype, lambda i: x[i[0], 2 - i[1]]))
    wide = call(tensor.Broadcast, x, shape=(2, 4, 3), axes=(0, 2))
    same_bits(wide, filled((2, 4, 3), x.dtype, lambda i: x[i[0], i[2]]))


def test_views_keep_the_bits_of_nan_and_of_zeros():
    x = np.array([0x7F800001, 0xFFC01234, 0x80000000], np.uint32).view(np.float32)
    same_bits(call(tensor.Reshape, x, shape=(1, 3)), x.reshape(1, 3))
    same_bits(call(tensor.Permute, x, axes=(0,)), x)
    same_bits(call(tensor.Flip, x, axes=(0,)), np.array([x[2], x[1], x[0]]))
    same_bits(call(tensor.Broadcast, x, shape=(3,), axes=(0,)), x)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((), (1, 1)),
        ((1, 1, 1), ()),
        ((12,), (3, 2, 2)),
        ((2, 0, 3), (0,)),
        ((0,), (5, 0)),
        ((2, 1, 2, 1, 2, 1, 2, 3), (8, 6)),
        ((24,), (1, 2, 1, 3, 1, 2, 2, 1)),
    ],
)
def test_reshape_keeps_the_row_major_order(before, after):
    x = counted(before, f32)
    flat = [x[index] for index in np.ndindex(before)]
    expected = np.empty(after, np.float32)
    for index, element in zip(np.ndindex(after), flat, strict=True):
        expected[index] = element
    same_bits(call(tensor.Reshape, x, shape=after), expected)


def test_reshape_of_a_view_reads_it_in_its_own_order():
    text = """
    func @f(%x: tensor<[2, 3], f32>) -> tensor<[6], f32> {
      %t = tensor.permute %x {axes = [1, 0]} : tensor<[3, 2], f32>
      %y = tensor.reshape %t {shape = [6]} : tensor<[6], f32>
      return %y
    }"""
    (y,) = run(text, counted((2, 3), f32))
    assert y.tolist() == [0, 3, 1, 4, 2, 5]


def test_reshape_of_symbolic_sizes_compares_products():
    text = """
    func @f<n: 0..64, m: 0..64>(%x: tensor<[n, m, 4], i8>) -> tensor<[2*m, 2*n], i8> {
      %y = tensor.reshape %x {shape = [2*m, 2*n]} : tensor<[2*m, 2*n], i8>
      return %y
    }"""
    for sizes in ((0, 0), (0, 3), (2, 3), (5, 1)):
        x = counted((*sizes, 4), i8)
        same_bits(
            run(text, x)[0],
            np.array(x.ravel().tolist(), np.int8).reshape(2 * sizes[1], 2 * sizes[0]),
        )


def test_reshape_refuses_another_number_of_elements():
    assert "tensor<[2, 3], f32> has 6 elements, the shape [4] has 4" in refusal(
        tensor.Reshape, Tensor((2, 3), f32), shape=(4,)
    )
    assert "has 3*n elements, the shape [m, 3] has 3*m" in refusal(
        tensor.Reshape, Tensor((n, 3), f32), shape=(m, 3)
    )
    assert "-2 is not a size" in refusal(tensor.Reshape, Tensor((4,), f32), shape=(-2, -2))


@pytest.mark.parametrize("rank", range(4))
def test_permute_is_every_order(rank):
    x = counted((2, 3, 4)[:rank], f32)
    for axes in permutations(range(rank)):
        y = call(tensor.Permute, x, axes=axes)
        for index in np.ndindex(x.shape):
            assert y[tuple(index[axis] for axis in axes)] == x[index]


def test_permute_of_rank_8_and_of_nothing():
    axes = (7, 0, 6, 1, 5, 2, 4, 3)
    x = counted((1, 2, 1, 3, 1, 2, 1, 2), f32)
    same_bits(call(tensor.Permute, x, axes=axes), np.einsum("abcdefgh->hagbfced", x).copy())
    assert call(tensor.Permute, counted((0, 3), f32), axes=(1, 0)).shape == (3, 0)


def test_permute_refuses_axes_that_are_no_order():
    x = Tensor((n, 3), f32)
    assert "axes leaves out an axis of x: [1], tensor<[n, 3], f32>" in refusal(
        tensor.Permute, x, axes=(1,)
    )
    assert "axes names an axis twice: [0, 0]" in refusal(tensor.Permute, x, axes=(0, 0))
    assert "axes = [0, 2]: a tensor of rank 2 has no axis 2" in refusal(
        tensor.Permute, x, axes=(0, 2)
    )
    assert "has no axis -1" in refusal(tensor.Permute, x, axes=(0, -1))


@pytest.mark.parametrize(
    ("before", "axes", "after"),
    [
        ((), (), (2, 3)),
        ((), (), ()),
        ((), (), (0,)),
        ((3,), (1,), (2, 3)),
        ((3,), (0,), (3, 2)),
        ((1, 3), (0, 1), (4, 3)),
        ((2, 3), (1, 0), (3, 2)),
        ((2, 1, 3), (3, 1, 0), (3, 5, 4, 2)),
        ((1,), (0,), (0,)),
        ((0, 1), (0, 1), (0, 7)),
        ((2, 2), (3, 6), (1, 2, 1, 2, 2, 1, 2, 1)),
    ],
)
def test_broadcast_repeats_along_new_axes_and_those_of_size_1(before, axes, after):
    x = counted(before, f32)

    def element(index):
        return x[
            tuple(0 if size == 1 else index[axis] for size, axis in zip(before, axes, strict=True))
        ]

    same_bits(call(tensor.Broadcast, x, shape=after, axes=axes), filled(after, x.dtype, element))


def test_broadcast_to_symbolic_sizes():
    text = """
    func @f<n: 0..64>(%x: tensor<[n, 1], f32>) -> tensor<[n, 2*n], f32> {
      %y = tensor.broadcast %x {shape = [n, 2*n], axes = [0, 1]} : tensor<[n, 2*n], f32>
      return %y
    }"""
    for size in (0, 1, 3):
        x = counted((size, 1), f32)
        same_bits(run(text, x)[0], filled((size, 2 * size), x.dtype, lambda i, x=x: x[i[0], 0]))


def test_broadcast_refuses_sizes_that_do_not_fit():
    x = Tensor((n, 3), f32)
    assert "axis 1 of x, of size 3, cannot become axis 0, of size n" in refusal(
        tensor.Broadcast, x, shape=(n, n), axes=(1, 0)
    )
    assert "axis 0 of x, of size n, cannot become axis 0, of size m" in refusal(
        tensor.Broadcast, x, shape=(m, 3), axes=(0, 1)
    )
    assert "axes must name one axis for each of x: [1], tensor<[n, 3], f32>" in refusal(
        tensor.Broadcast, x, shape=(n, 3), axes=(1,)
    )
    assert "must name one axis for each of x: []" in refusal(tensor.Broadcast, x, shape=(n, 3))
    assert "axes names an axis twice: [1, 1]" in refusal(
        tensor.Broadcast, x, shape=(n, 3), axes=(1, 1)
    )
    assert "a tensor of rank 2 has no axis 2" in refusal(
        tensor.Broadcast, x, shape=(n, 3), axes=(0, 2)
    )


@pytest.mark.parametrize("axes", [(), (0,), (2,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 2, 1)])
def test_flip_reverses_the_named_axes(shape, axes):
    x = counted(shape, f32)

    def element(index):
        return x[
            tuple(
                size - 1 - i if axis in axes else i
                for axis, (size, i) in enumerate(zip(shape, index, strict=True))
            )
        ]

    same_bits(call(tensor.Flip, x, axes=axes), filled(shape, x.dtype, element))


def test_flip_of_a_number_is_the_number():
    same_bits(call(tensor.Flip, counted((), f32), axes=()), np.zeros((), np.float32))


def test_flip_refuses_axes():
    x = Tensor((n, 3), f32)
    assert "axis 2 is outside 0..1" in refusal(tensor.Flip, x, axes=(2,))
    assert "axes are distinct and in order, not: [0, 0]" in refusal(tensor.Flip, x, axes=(0, 0))
    assert "axes are distinct and in order, not: [1, 0]" in refusal(tensor.Flip, x, axes=(1, 0))
