"""convolve, against loops over every output and every element of its window."""

from itertools import product

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import NUMBERS, bf16, c64, c128, f32, f64, i8, i32
from brimstone.ir.func import Func
from brimstone.ir.types import Tensor
from kit.calls import call, counted, failure, refusal, run, same_bits

n, m = Symbol("n", 0, 64), Symbol("m", 0, 64)
FOUR_CHANNELS, FOUR_TO_FOUR = Tensor((1, 4, n), f32), Tensor((4, 4, 3), f32)


def settings(space=1, **changed):
    """The plainest attributes, but for those given."""
    ones, zeros = (1,) * space, (0,) * space
    plain = {
        "strides": ones, "low": zeros, "high": zeros,
        "input_dilation": ones, "kernel_dilation": ones, "groups": 1, "dtype": f32,
    }  # fmt: skip
    return plain | changed


class Axis:
    """One space axis of a convolution."""

    def __init__(self, size, window, axis, settings):
        self.size, self.window = size, window
        self.stride, self.low, self.high = (
            settings[name][axis] for name in ("strides", "low", "high")
        )
        self.spread, self.step = (
            settings[f"{name}_dilation"][axis] for name in ("input", "kernel")
        )

    def places(self):
        """How many windows find a place, by trying one after the other."""
        field = self.low + max((self.size - 1) * self.spread + 1, 0) + self.high
        reach = max((self.window - 1) * self.step + 1, 0)
        count = 0
        while count * self.stride + reach <= field:
            count += 1
        return count

    def index(self, place, offset):
        """The index of x that an element of a window falls on; None for a zero."""
        at = place * self.stride + offset * self.step - self.low
        whole, rest = divmod(at, self.spread)
        return whole if rest == 0 and 0 <= whole < self.size else None


def convolved(x, kernel, **settings):
    """The convolution by its definition."""
    sizes = enumerate(zip(x.shape[2:], kernel.shape[2:], strict=True))
    axes = [Axis(size, window, axis, settings) for axis, (size, window) in sizes]
    result = np.zeros((len(x), len(kernel), *[axis.places() for axis in axes]), np.complex128)
    inputs, outputs = kernel.shape[1], len(kernel) // settings["groups"]
    for at, (channel, *offsets) in product(np.ndindex(result.shape), np.ndindex(kernel.shape[1:])):
        image, out, *places = at
        triples = zip(axes, places, offsets, strict=True)
        index = [axis.index(place, offset) for axis, place, offset in triples]
        if None not in index:
            element = x[(image, out // outputs * inputs + channel, *index)]
            result[at] += complex(element) * complex(kernel[(out, channel, *offsets)])
    dtype = settings["dtype"]
    return (result if dtype in (c64, c128) else result.real).astype(dtype.storage)


@pytest.mark.parametrize("dtype", sorted(NUMBERS, key=str), ids=str)
def test_every_dtype(dtype):
    x, kernel = counted((2, 2, 4), dtype, 3), counted((3, 2, 2), dtype, 4)
    plain = settings(low=(1,), dtype=dtype)
    same_bits(call(tensor.Convolve, x, kernel, **plain), convolved(x, kernel, **plain))


@pytest.mark.parametrize(
    ("strides", "low", "high", "input_dilation", "kernel_dilation"),
    [
        (1, 0, 0, 1, 1),
        (2, 0, 0, 1, 1),
        (3, 2, 1, 1, 1),
        (1, 4, 0, 1, 2),
        (1, 0, 5, 3, 1),
        (2, 3, 4, 2, 3),
        (7, 1, 1, 1, 1),
    ],
)
def test_one_axis_in_every_way(strides, low, high, input_dilation, kernel_dilation):
    for size, window in product((0, 1, 5), (0, 1, 3)):
        x, kernel = counted((2, 2, size), f32), counted((2, 2, window), f32)
        plain = settings(
            strides=(strides,), low=(low,), high=(high,),
            input_dilation=(input_dilation,), kernel_dilation=(kernel_dilation,),
        )  # fmt: skip
        same_bits(call(tensor.Convolve, x, kernel, **plain), convolved(x, kernel, **plain))


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_groups_see_their_own_channels(groups):
    x, kernel = counted((2, 4, 3), f32), counted((8, 4 // groups, 2), f32)
    plain = settings(groups=groups)
    same_bits(call(tensor.Convolve, x, kernel, **plain), convolved(x, kernel, **plain))


@pytest.mark.parametrize(
    ("x", "kernel", "changed"),
    [
        ((2, 3), (4, 3), {}),
        ((2, 4), (4, 2), {"groups": 2}),
        ((1, 2, 4, 5), (2, 2, 2, 3), {"strides": (2, 1), "low": (1, 0), "high": (0, 2)}),
        ((1, 2, 3, 3), (2, 1, 2, 2), {"groups": 2, "input_dilation": (2, 1)}),
        ((1, 2, 3, 3), (2, 2, 2, 2), {"low": (1, 0), "kernel_dilation": (1, 2)}),
        ((1, 1, 3, 2, 3), (2, 1, 2, 1, 2), {"strides": (1, 2, 2), "low": (0, 1, 1)}),
        ((2, 1, 1, 2, 1, 2, 1, 3), (1, 1, 1, 2, 1, 1, 1, 2), {}),
    ],
)  # fmt: skip
def test_any_number_of_space_axes(x, kernel, changed):
    plain = settings(len(x) - 2, **changed)
    arrays = counted(x, f32), counted(kernel, f32)
    same_bits(call(tensor.Convolve, *arrays, **plain), convolved(*arrays, **plain))


@pytest.mark.parametrize(
    ("x", "kernel"),
    [
        ((0, 2, 3), (2, 2, 2)),
        ((2, 0, 3), (2, 0, 2)),
        ((2, 2, 3), (0, 2, 2)),
        ((2, 2, 2), (2, 2, 3)),
        ((2, 2, 0), (2, 2, 1)),
        ((2, 2, 0), (2, 2, 0)),
    ],
)
def test_nothing_in_nothing_out(x, kernel):
    arrays = counted(x, f32), counted(kernel, f32)
    same_bits(call(tensor.Convolve, *arrays, **settings()), convolved(*arrays, **settings()))


def test_narrow_floats_are_summed_in_f32_and_integers_wrap():
    x, kernel = np.ones((1, 600, 1), bf16.storage), np.ones((1, 600, 1), bf16.storage)
    assert call(tensor.Convolve, x, kernel, **settings(dtype=bf16)).astype(float).item() == 600
    x, kernel = np.full((1, 2, 1), 100, np.int8), np.full((1, 2, 1), 100, np.int8)
    assert call(tensor.Convolve, x, kernel, **settings(dtype=i8)).item() == 20000 - 78 * 256
    assert call(tensor.Convolve, x, kernel, **settings(dtype=i32)).item() == 20000


SAME = """
func @f<b: 0..64, n: 0..64, o: 0..64>(%x: tensor<[b, 2, n], f32>, %k: tensor<[o, 1, 3], f32>)
    -> tensor<[b, o, n], f32> {
  %y = tensor.convolve %x, %k {strides = [1], low = [1], high = [1], input_dilation = [1],
    kernel_dilation = [1], groups = 2, dtype = f32} : tensor<[b, o, n], f32>
  return %y
}"""


def test_symbolic_sizes():
    for batch, size, outputs in ((2, 5, 4), (1, 1, 2), (0, 3, 2), (2, 0, 2), (2, 3, 0)):
        x, kernel = counted((batch, 2, size), f32), counted((outputs, 1, 3), f32)
        expected = convolved(x, kernel, **settings(low=(1,), high=(1,), groups=2))
        same_bits(run(SAME, x, kernel)[0], expected)


def test_symbolic_strides_of_the_result():
    text = """
    func @f<n: 0..64, p: 0..8>(%x: tensor<[1, 1, n], f32>, %p: tensor<[p], i8>)
        -> tensor<[1, 1, max(ceildiv(2*n + p - 4, 3), 0)], f32> {
      %k = tensor.constant {value = [[[1.0, 2.0, 4.0]]]} : tensor<[1, 1, 3], f32>
      %y = tensor.convolve %x, %k {strides = [3], low = [p], high = [n], input_dilation = [1],
        kernel_dilation = [2], groups = 1, dtype = f32}
        : tensor<[1, 1, max(ceildiv(2*n + p - 4, 3), 0)], f32>
      return %y
    }"""
    kernel = np.array([[[1, 2, 4]]], np.float32)
    for size, low in ((0, 0), (1, 1), (2, 1), (5, 3)):
        x = counted((1, 1, size), f32)
        plain = settings(strides=(3,), low=(low,), high=(size,), kernel_dilation=(2,))
        same_bits(run(text, x, counted((low,), i8))[0], convolved(x, kernel, **plain))


def test_what_was_not_known_is_checked_when_run():
    assert "tensor.convolve: 3 output channels do not split into 2 groups" in failure(
        SAME, counted((1, 2, 4), f32), counted((3, 1, 3), f32)
    )
    for side in ("low", "high"):
        low, high = ("n - m", "m") if side == "low" else ("m", "n - m")
        text = f"""
        func @f<n: 0..64, m: 0..64>(%x: tensor<[1, 1, n], f32>, %k: tensor<[1, 1, m], f32>)
            -> tensor<[1, 1, max(2*n - m + 1, 0)], f32> {{
          %y = tensor.convolve %x, %k {{strides = [1], low = [{low}], high = [{high}],
            input_dilation = [1], kernel_dilation = [1], groups = 1, dtype = f32}}
            : tensor<[1, 1, max(2*n - m + 1, 0)], f32>
          return %y
        }}"""
        arrays = counted((1, 1, 2), f32), counted((1, 1, 3), f32)
        assert f"{side} is -1 on axis 0, which is negative" in failure(text, *arrays)


def test_refusals_name_what_does_not_fit():
    def said(x=FOUR_CHANNELS, kernel=FOUR_TO_FOUR, **changed):
        return refusal(tensor.Convolve, x, kernel, **settings(**changed))

    assert "x is tensor<[n], f32>, expected [N, C, space…]" in said(Tensor((n,), f32))
    assert "the kernel has rank 2, x has rank 3" in said(kernel=Tensor((4, 4), f32))
    assert "the operands are of f32 and of f64" in said(kernel=Tensor((4, 4, 3), f64))
    assert "products of f32 cannot be summed to i8; cast first" in said(dtype=i8)
    assert "x has 4 channels, the kernel takes 4 in each of 2 groups" in said(groups=2)
    assert "x has n channels, the kernel takes m in each of 1 groups" in said(
        Tensor((1, n, 3), f32), Tensor((1, m, 3), f32)
    )
    assert "3 output channels do not split into 2 groups" in said(
        kernel=Tensor((3, 2, 3), f32), groups=2
    )
    assert "groups = 0, expected at least 1" in said(groups=0)
    for name in ("strides", "input_dilation", "kernel_dilation"):
        assert f"{name} must say one value for each of 1 axes: [1, 1]" in said(**{name: (1, 1)})
        assert f"{name} is 0 on axis 0, which is less than 1" in said(**{name: (0,)})
    for name in ("low", "high"):
        assert f"{name} must say one value for each of 1 axes: []" in said(**{name: ()})
        assert f"{name} is -n - 1 on axis 0, which is negative" in said(**{name: (-n - 1,)})


def test_the_cotangent_of_a_kernel_has_no_places_too_many():
    images, kernel = Tensor((2, 3, 28), f32), Tensor((4, 3, 3), f32)
    func = Func("f", [images, kernel, Tensor((2, 4, 14), f32)])
    builder, (x, k, c) = Builder(func.body), func.arguments
    made = builder.emit(tensor.Convolve, x, k, **settings(strides=(2,), low=(1,), high=(1,)))
    assert isinstance(made.op, tensor.Convolve)
    _, cotangent = made.op.transpose(builder, (x, None), (c,))
    assert cotangent is not None
    assert cotangent.type is kernel
    assert "tensor.slice" not in [op.name for op in func.body]
