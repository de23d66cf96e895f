"""slice, pad and concat, against loops over every index."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import ALL, bf16, f32, f64, i8
from brimstone.ir.payloads import Number, Payload, payload
from brimstone.ir.types import Tensor
from kit.calls import call, counted, failure, filled, refusal, run, same_bits

DTYPES = sorted(ALL, key=lambda dtype: dtype.name)
n, m = Symbol("n", 0, 64), Symbol("m", 0, 64)
ZERO = Number(0.0, f32)


def number(value, dtype):
    return payload(np.asarray(value).astype(dtype.storage), dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_windows_of_every_dtype(dtype):
    x = counted((2, 3), dtype)
    part = call(tensor.Slice, x, start=(0, 1), size=(2, 2), step=(1, 1))
    same_bits(part, filled((2, 2), x.dtype, lambda i: x[i[0], i[1] + 1]))
    value = number(1, dtype)
    padded = call(tensor.Pad, x, low=(1, 0), high=(0, 1), interior=(0, 0), value=value)
    expected = np.full((3, 4), value.array, x.dtype)
    expected[1:, :3] = x
    same_bits(padded, expected)
    same_bits(
        call(tensor.Concat, x, x, axis=1), filled((2, 6), x.dtype, lambda i: x[i[0], i[1] % 3])
    )


@pytest.mark.parametrize(
    ("shape", "start", "size", "step"),
    [
        ((), (), (), ()),
        ((5,), (0,), (5,), (1,)),
        ((5,), (5,), (0,), (1,)),
        ((5,), (1,), (2,), (3,)),
        ((5,), (4,), (1,), (100,)),
        ((5,), (2,), (0,), (100,)),
        ((0,), (0,), (0,), (2,)),
        ((4, 6), (1, 0), (2, 3), (2, 2)),
        ((1, 2, 1, 2, 1, 2, 1, 3), (0,) * 8, (1, 1, 1, 2, 1, 1, 1, 2), (1, 1, 1, 1, 1, 1, 1, 2)),
    ],
)
def test_slice_takes_every_step_th_element(shape, start, size, step):
    x = counted(shape, f32)

    def element(index):
        parts = zip(start, index, step, strict=True)
        return x[tuple(first + i * by for first, i, by in parts)]

    found = call(tensor.Slice, x, start=start, size=size, step=step)
    same_bits(found, filled(size, x.dtype, element))


SLICE = """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n], f32>, %y: tensor<[m], f32>) -> tensor<[m], f32> {
  %z = tensor.slice %x {start = [n - 2*m], size = [m], step = [2]} : tensor<[m], f32>
  return %z
}"""


def test_slice_with_symbolic_bounds():
    for size, count in ((0, 0), (4, 0), (4, 2), (7, 3)):
        x, y = counted((size,), f32), counted((count,), f32)
        expected = [x[size - 2 * count + 2 * i] for i in range(count)]
        same_bits(run(SLICE, x, y)[0], np.array(expected, np.float32))


def test_slice_checks_when_run_what_was_not_known():
    message = failure(SLICE, counted((3,), f32), counted((2,), f32))
    assert "tensor.slice: 2 elements from -1 on, in steps of 2" in message
    assert "do not lie within axis 0 of size 3" in message


def test_slice_of_a_constant_by_symbolic_bounds_is_not_folded():
    text = """
    func @f<n: 0..64>(%n: tensor<[n], i8>) -> tensor<[2], f32> {
      %x = tensor.constant {value = [1.0, 2.0, 3.0]} : tensor<[3], f32>
      %y = tensor.slice %x {start = [n], size = [2], step = [1]} : tensor<[2], f32>
      return %y
    }"""
    assert run(text, counted((1,), i8))[0].tolist() == [2, 3]
    assert "2 elements from 2 on" in failure(text, counted((2,), i8))


def test_slice_refuses_what_is_wrong_for_every_size():
    def said(x, start, size, step):
        return refusal(tensor.Slice, x, start=start, size=size, step=step)

    x = Tensor((4, n), f32)
    assert "start must say one value for each of 2 axes: [0]" in said(x, (0,), (1, 1), (1, 1))
    assert "size must say one value for each of 2 axes" in said(x, (0, 0), (1,), (1, 1))
    assert "step must say one value for each of 2 axes" in said(x, (0, 0), (1, 1), (1,))
    assert "start is -1 on axis 1, which is negative" in said(x, (0, -1), (1, 1), (1, 1))
    assert "size is -n - 1 on axis 1, which is negative" in said(x, (0, 0), (1, -n - 1), (1, 1))
    assert "step is 0 on axis 0, which is less than 1" in said(x, (0, 0), (1, 1), (0, 1))
    wrong = "3 elements from 0 on, in steps of 2, do not lie within axis 0 of size 4"
    assert wrong in said(x, (0, 0), (3, 0), (2, 1))
    assert "0 elements from 5 on" in said(x, (5, 0), (0, 0), (1, 1))
    assert "n + 1 elements from 0 on" in said(x, (0, 0), (4, n + 1), (1, 1))
    assert "within axis 1 of size n" in said(x, (0, n), (4, 1), (1, 1))
    assert "0 elements from n + 1 on" in said(x, (0, n + 1), (4, 0), (1, 1))


def test_slice_accepts_what_may_be_right():
    text = """
    func @f<n: 0..64>(%x: tensor<[n], f32>) -> tensor<[2*n], f32> {
      %y = tensor.slice %x {start = [0], size = [2*n], step = [1]} : tensor<[2*n], f32>
      return %y
    }"""
    assert run(text, counted((0,), f32))[0].shape == (0,)
    assert "2 elements from 0 on" in failure(text, counted((1,), f32))


@pytest.mark.parametrize(
    ("shape", "low", "high", "interior"),
    [
        ((), (), (), ()),
        ((3,), (0,), (0,), (0,)),
        ((3,), (2,), (1,), (2,)),
        ((0,), (2,), (1,), (3,)),
        ((1,), (0,), (0,), (5,)),
        ((2, 3), (1, 0), (0, 2), (0, 1)),
        ((0, 2), (1, 1), (1, 1), (1, 1)),
        ((1, 2, 1, 2, 1, 1, 1, 2), (0, 1, 0, 0, 0, 0, 1, 0), (0,) * 8, (0, 0, 0, 1, 0, 0, 0, 0)),
    ],
)
def test_pad_puts_values_around_and_between(shape, low, high, interior):
    x = counted(shape, f32) + np.float32(1)
    parts = list(zip(shape, low, high, interior, strict=True))
    sizes = tuple(a + (size and size + (size - 1) * gap) + b for size, a, b, gap in parts)
    expected = np.full(sizes, -7, np.float32)
    for index in np.ndindex(shape):
        expected[
            tuple(a + i * (gap + 1) for i, (_, a, _, gap) in zip(index, parts, strict=True))
        ] = x[index]
    found = call(tensor.Pad, x, low=low, high=high, interior=interior, value=number(-7, f32))
    same_bits(found, expected)


def test_pad_keeps_the_bits_of_its_value():
    nan = payload(np.array(0x7FC1, np.uint16).view(bf16.storage), bf16)
    found = call(tensor.Pad, counted((1,), bf16), low=(1,), high=(0,), interior=(0,), value=nan)
    assert found.view(np.uint16).tolist() == [0x7FC1, 0]


PAD = """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n], f32>, %y: tensor<[m], i8>)
    -> tensor<[max(3*n - 2, 0) + n], f32> {
  %z = tensor.pad %x {low = [n - m], high = [m], interior = [2], value = 0.5}
    : tensor<[max(3*n - 2, 0) + n], f32>
  return %z
}"""


def test_pad_by_symbolic_sizes():
    assert run(PAD, counted((0,), f32), counted((0,), i8))[0].tolist() == []
    found = run(PAD, counted((2,), f32), counted((1,), i8))[0]
    assert found.tolist() == [0.5, 0, 0.5, 0.5, 1, 0.5]
    assert "tensor.pad: low is -1 on axis 0, which is negative" in failure(
        PAD, counted((2,), f32), counted((3,), i8)
    )
    swapped = PAD.replace("low = [n - m], high = [m]", "low = [m], high = [n - m]")
    assert "high is -1 on axis 0, which is negative" in failure(
        swapped, counted((2,), f32), counted((3,), i8)
    )


def test_pad_refuses_what_is_wrong_for_every_size():
    def said(value: Payload = ZERO, **changed):
        bounds = {"low": (0,), "high": (0,), "interior": (0,)} | changed
        return refusal(tensor.Pad, Tensor((n,), f32), **bounds, value=value)

    assert "low must say one value for each of 1 axes: []" in said(low=())
    assert "high must say one value for each of 1 axes: [1, 2]" in said(high=(1, 2))
    assert "interior must say one value for each of 1 axes: []" in said(interior=())
    assert "low is -n - 1 on axis 0, which is negative" in said(low=(-n - 1,))
    assert "high is -2 on axis 0, which is negative" in said(high=(-2,))
    assert "interior is -1 on axis 0, which is negative" in said(interior=(-1,))
    assert "value is a number of f64, x is tensor<[n], f32>" in said(Number(0.0, f64))
    assert "expected a number" in said(payload(np.zeros(2, np.float32), f32))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(2,), (1, 2), (0, 3, 0, 1), (0, 0)])
def test_concat_puts_tensors_end_to_end(sizes, axis):
    shape = [2, 3, 2]

    def sized(size):
        return (*shape[:axis], size, *shape[axis + 1 :])

    parts = [counted(sized(size), f32) + np.float32(100 * k) for k, size in enumerate(sizes)]
    owners = [(part, i) for part in parts for i in range(part.shape[axis])]

    def element(index):
        part, i = owners[index[axis]]
        return part[(*index[:axis], i, *index[axis + 1 :])]

    expected = filled(sized(sum(sizes)), np.dtype(np.float32), element)
    same_bits(call(tensor.Concat, *parts, axis=axis), expected)


def test_concat_of_symbolic_sizes():
    text = """
    func @f<n: 0..64, m: 0..64>(%x: tensor<[n], i8>, %y: tensor<[m], i8>) -> tensor<[m + 2*n], i8> {
      %z = tensor.concat %x, %y, %x {axis = 0} : tensor<[m + 2*n], i8>
      return %z
    }"""
    x, y = counted((2,), i8), counted((3,), i8)
    assert run(text, x, y)[0].tolist() == [0, 1, 0, 1, 2, 0, 1]
    assert run(text, x[:0], y[:0])[0].tolist() == []


def test_concat_refuses_tensors_that_do_not_fit():
    first = Tensor((n, 3), f32)
    assert "needs at least one tensor" in refusal(tensor.Concat, axis=0)
    assert "axis 2 is outside 0..1" in refusal(tensor.Concat, first, axis=2)
    assert "axis 0 is outside a tensor of rank 0" in refusal(tensor.Concat, Tensor((), f32), axis=0)
    for other in (Tensor((n, 4), f32), Tensor((n, 3), f64), Tensor((n,), f32)):
        said = refusal(tensor.Concat, first, other, axis=0)
        assert f"tensor 1 is {other}, unlike {first} not only in axis 0" in said
    assert "not only in axis 1" in refusal(tensor.Concat, first, Tensor((m, 3), f32), axis=1)
