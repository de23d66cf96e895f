"""gather and scatter, against loops over every place."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import (
    ALL,
    BY_NAME,
    INTEGERS,
    bf16,
    boolean,
    c64,
    f8e4m3,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
)  # fmt: skip
from brimstone.ir.tensor import Combiner, Outside
from brimstone.ir.types import Tensor
from kit.calls import call, counted, failure, filled, refusal, run, same_bits

n, m = Symbol("n"), Symbol("m")

# The shapes of x and of the indices but for their last axis, axes, batch.
LAYOUTS = [
    ((5,), (4,), (0,), 0),
    ((5,), (), (0,), 0),
    ((5, 3), (2, 2), (0,), 0),
    ((5, 3), (4,), (1,), 0),
    ((5, 3), (4,), (0, 1), 0),
    ((5, 3), (4,), (1, 0), 0),
    ((2, 5, 3), (2, 4), (1,), 1),
    ((2, 5, 3), (2,), (2,), 1),
    ((2, 3, 4, 5), (2, 3, 2), (3,), 2),
    ((2, 3, 4, 5), (2, 3), (2, 1), 1),
    ((2, 3), (2, 3, 2), (), 2),
    ((3, 2), (4,), (), 0),
    ((), (2,), (), 0),
    ((5, 0), (2,), (0,), 0),
    ((5, 2), (0,), (0,), 0),
    ((0, 5), (0, 2), (1,), 1),
    ((1, 2, 1, 3, 1, 2, 1, 2), (1, 2, 3), (5, 3), 2),
]


def shape_of_parts(x, indices, axes, batch):
    """The shape of what is read."""
    rest = [x.shape[axis] for axis in range(batch, x.ndim) if axis not in axes]
    return (*indices.shape[:-1], *rest)


def source(x, indices, axes, batch, place):
    """Where in x an element of what is read comes from; None if that is outside."""
    ahead = indices.ndim - 1
    rest = iter(place[ahead:])
    at = dict(zip(axes, indices[place[:ahead]].tolist(), strict=True))
    full = [
        place[axis] if axis < batch else at[axis] if axis in at else next(rest)
        for axis in range(x.ndim)
    ]
    inside = all(0 <= i < size for i, size in zip(full, x.shape, strict=True))
    return tuple(full) if inside else None


def clamped(x, indices, axes):
    sizes = np.array([x.shape[axis] for axis in axes], np.int64)
    return np.minimum(np.maximum(indices, 0), sizes - 1)


def some_indices(x, ahead, axes, beyond=0):
    """Places all over the axes, and up to `beyond` past their ends."""
    rng = np.random.default_rng(len(ahead) + x.ndim)
    columns = [rng.integers(-beyond, x.shape[axis] + beyond, ahead) for axis in axes]
    return np.stack([*columns, np.zeros(ahead, np.int64)], axis=-1)[..., : len(axes)]


@pytest.mark.parametrize(("shape", "ahead", "axes", "batch"), LAYOUTS)
def test_gather_reads_each_place(shape, ahead, axes, batch):
    x = counted(shape, i32)
    indices = some_indices(x, ahead, axes)

    def element(place):
        return x[source(x, indices, axes, batch, place)]

    found = call(tensor.Gather, x, indices, axes=axes, batch=batch)
    same_bits(found, filled(shape_of_parts(x, indices, axes, batch), x.dtype, element))


@pytest.mark.parametrize(("shape", "ahead", "axes", "batch"), LAYOUTS)
def test_gather_outside_gives_zero_or_the_nearest(shape, ahead, axes, batch):
    x = counted(shape, i32) + np.int32(1)
    indices = some_indices(x, ahead, axes, beyond=3)
    parts = shape_of_parts(x, indices, axes, batch)

    def zero(place):
        at = source(x, indices, axes, batch, place)
        return 0 if at is None else x[at]

    def nearest(place):
        return x[source(x, clamped(x, indices, axes), axes, batch, place)]

    for outside, element in ((Outside.ZERO, zero), (Outside.CLAMP, nearest)):
        found = call(tensor.Gather, x, indices, axes=axes, batch=batch, outside=outside)
        same_bits(found, filled(parts, x.dtype, element))


@pytest.mark.parametrize("dtype", sorted(ALL, key=str), ids=str)
def test_gather_of_every_dtype(dtype):
    x = counted((3, 2), dtype)
    found = call(tensor.Gather, x, np.array([[2], [0]]), axes=(0,))
    same_bits(found, np.stack([x[2], x[0]]))


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=str), ids=str)
def test_indices_of_every_dtype(dtype):
    x = counted((300,), f32, 300)
    limits = np.iinfo(dtype.storage)
    indices = np.array([[0], [100], [limits.max], [limits.min]], dtype.storage)

    def element(place):
        at = int(indices[(*place, 0)])
        return x[at] if 0 <= at < 300 else 0

    found = call(tensor.Gather, x, indices, axes=(0,), outside=Outside.ZERO)
    same_bits(found, filled((4,), x.dtype, element))
    last = call(tensor.Gather, x, indices[2:3], axes=(0,), outside=Outside.CLAMP)
    assert last.tolist() == [min(int(limits.max), 299)]


GATHER = """
func @f<n: 0..64, m: 0..64>(%x: tensor<[2, n], f32>, %i: tensor<[m, 1], i64>)
    -> tensor<[m, 2], f32> {
  %y = tensor.gather %x, %i {axes = [1], outside = OUTSIDE} : tensor<[m, 2], f32>
  return %y
}"""


def test_gather_of_symbolic_sizes():
    text = GATHER.replace("OUTSIDE", "error")
    x, i = counted((2, 4), f32), np.array([[3], [0], [3]])
    same_bits(run(text, x, i)[0], np.stack([x[:, 3], x[:, 0], x[:, 3]]))
    assert run(text, x[:, :0], i[:0])[0].shape == (0, 2)


def test_an_index_outside_is_an_error_that_names_it():
    text = GATHER.replace("OUTSIDE", "error")
    x = counted((2, 4), f32)
    assert "tensor.gather: index 4 at [1] is outside axis 1 of size 4" in failure(
        text, x, np.array([[3], [4], [-1]])
    )
    assert "index -1 at [0] is outside axis 1 of size 4" in failure(text, x, np.array([[-1]]))
    assert "index 0 at [0] is outside axis 1 of size 0" in failure(text, x[:, :0], np.array([[0]]))


def test_an_empty_axis_has_no_nearest_element_but_zeros():
    x, i = counted((2, 0), f32), np.array([[5]])
    assert "index 5 at [0] is outside axis 1 of size 0" in failure(
        GATHER.replace("OUTSIDE", "clamp"), x, i
    )
    assert run(GATHER.replace("OUTSIDE", "zero"), x, i)[0].tolist() == [[0, 0]]


def test_the_largest_unsigned_index_is_named_as_it_is():
    text = """
    func @f(%x: tensor<[3], f32>, %i: tensor<[1], u64>) -> tensor<[], f32> {
      %y = tensor.gather %x, %i {axes = [0]} : tensor<[], f32>
      return %y
    }"""
    top = np.array([2**64 - 1], np.uint64)
    assert f"index {2**64 - 1} is outside axis 0 of size 3" in failure(
        text, counted((3,), f32), top
    )


def test_gather_from_constants_fails_when_run_not_when_built():
    text = """
    func @f() -> tensor<[], f32> {
      %x = tensor.constant {value = [1.0, 2.0]} : tensor<[2], f32>
      %i = tensor.constant {value = [2]} : tensor<[1], i8>
      %y = tensor.gather %x, %i {axes = [0]} : tensor<[], f32>
      return %y
    }"""
    assert "tensor.gather: index 2 is outside axis 0 of size 2" in failure(text)


def test_gather_refuses_what_does_not_fit():
    def said(x, indices, axes=(1,), batch=0, **more):
        return refusal(tensor.Gather, x, indices, axes=axes, batch=batch, **more)

    x, indices = Tensor((n, 3), f32), Tensor((m, 1), i64)
    assert "axes = [2]: a tensor of rank 2 has no axis 2" in said(x, indices, axes=(2,))
    assert "axes names an axis twice: [1, 1]" in said(x, indices, axes=(1, 1))
    assert "batch = 3, but x has rank 2" in said(x, indices, batch=3)
    assert "batch = -1, but x has rank 2" in said(x, indices, batch=-1)
    assert "axes = [0] names one of the 1 batch axes" in said(x, indices, axes=(0,), batch=1)
    assert "indices has rank 1, expected 1 batch axes and a last axis more" in said(
        x, Tensor((n,), i64), batch=1
    )
    assert "batch axis 0 has size n in x, m in indices" in said(x, indices, batch=1)
    assert "the last axis of indices has size 1, expected 2" in said(x, indices, axes=(0, 1))
    assert "the last axis of indices has size n, expected 1" in said(x, Tensor((n,), i64))
    assert "indices has type tensor<[m, 1], f32>, expected a dtype among" in said(
        x, Tensor((m, 1), f32)
    )


MEANINGS = {
    Combiner.SET: lambda old, new: new,
    Combiner.ADD: lambda old, new: old + new,
    Combiner.MULTIPLY: lambda old, new: old * new,
    Combiner.MINIMUM: min,
    Combiner.MAXIMUM: max,
}


@pytest.mark.parametrize("combiner", Combiner)
@pytest.mark.parametrize(("shape", "ahead", "axes", "batch"), LAYOUTS)
def test_scatter_combines_each_update_in_turn(shape, ahead, axes, batch, combiner):
    x = counted(shape, i64, 4)
    indices = some_indices(x, ahead, axes, beyond=1)
    parts = shape_of_parts(x, indices, axes, batch)
    updates = counted(parts, i64, 5) + 1
    expected = x.copy()
    for place in np.ndindex(parts):
        at = source(x, indices, axes, batch, place)
        if at is not None:
            expected[at] = MEANINGS[combiner](expected[at], updates[place])
    found = call(
        tensor.Scatter, x, indices, updates,
        axes=axes, batch=batch, combiner=combiner, outside=Outside.ZERO,
    )  # fmt: skip
    same_bits(found, expected)


@pytest.mark.parametrize("dtype", sorted(ALL, key=str), ids=str)
@pytest.mark.parametrize("combiner", Combiner)
def test_scatter_of_every_dtype(combiner, dtype):
    x = np.array([2, 3, 1]).astype(dtype.storage)
    updates = np.array([1, 0, 4, 2, 1]).astype(dtype.storage)
    indices = np.array([[0], [2], [0], [2], [0]])
    types = [Tensor((3,), dtype), Tensor((5, 1), i64), Tensor((5,), dtype)]
    arithmetic = combiner in (Combiner.ADD, Combiner.MULTIPLY)
    ordered = combiner in (Combiner.MINIMUM, Combiner.MAXIMUM)
    if (arithmetic and dtype is boolean) or (ordered and dtype.name.startswith("c")):
        said = refusal(tensor.Scatter, *types, axes=(0,), combiner=combiner)
        assert f"the combiner {combiner.value} does not take {dtype}" in said
        return
    expected = x.tolist()
    for (at,), update in zip(indices, updates.tolist(), strict=True):
        expected[at] = MEANINGS[combiner](expected[at], update)
    found = call(tensor.Scatter, x, indices, updates, axes=(0,), combiner=combiner)
    same_bits(found, np.array(expected).astype(dtype.storage))


def test_integers_wrap():
    x = np.array([100], np.int8)
    indices, updates = np.array([[0], [0]]), np.array([100, 3], np.int8)
    assert call(tensor.Scatter, x, indices, updates, axes=(0,), combiner=Combiner.ADD) == 203 - 256
    product = call(tensor.Scatter, x, indices, updates, axes=(0,), combiner=Combiner.MULTIPLY)
    assert product == 30000 - 117 * 256


@pytest.mark.parametrize("dtype", [f8e4m3, bf16, f16], ids=str)
def test_narrow_floats_are_combined_in_f32(dtype):
    big = 1.0 / float(np.finfo(np.float16).eps) if dtype is f16 else 256.0
    x = np.array([big, 0]).astype(dtype.storage)
    updates = np.ones(16, dtype.storage)
    indices = np.zeros((16, 1), np.int64)
    found = call(tensor.Scatter, x, indices, updates, axes=(0,), combiner=Combiner.ADD)
    same_bits(found, np.array([big + 16, 0]).astype(dtype.storage))


def test_f32_is_added_in_row_major_order():
    rng = np.random.default_rng(3)
    updates = (10.0 ** rng.integers(-3, 8, (40, 5))).astype(np.float32)
    indices = rng.integers(0, 3, (40, 5, 1))
    expected = np.zeros(3, np.float32)
    for place in np.ndindex(40, 5):
        expected[indices[place]] += updates[place]
    x = np.zeros(3, np.float32)
    found = call(tensor.Scatter, x, indices, updates, axes=(0,), combiner=Combiner.ADD)
    same_bits(found, expected)


def test_extremes_know_nan_and_the_sign_of_zero():
    x = np.array([0.0, -0.0, 1.0], np.float32)
    indices = np.array([[0], [1], [2], [2]])
    updates = np.array([-0.0, 0.0, np.nan, 5.0], np.float32)
    least = call(tensor.Scatter, x, indices, updates, axes=(0,), combiner=Combiner.MINIMUM)
    greatest = call(tensor.Scatter, x, indices, updates, axes=(0,), combiner=Combiner.MAXIMUM)
    assert np.signbit(least[:2]).tolist() == [True, True]
    assert np.signbit(greatest[:2]).tolist() == [False, False]
    assert np.isnan([least[2], greatest[2]]).all()


def test_set_keeps_the_bits_of_what_it_moves():
    x = np.array([0x7C01, 0xFE55], np.uint16).view(np.float16)
    updates = np.array([0xFC03], np.uint16).view(np.float16)
    found = call(tensor.Scatter, x, np.array([[1]]), updates, axes=(0,))
    assert found.view(np.uint16).tolist() == [0x7C01, 0xFC03]


SCATTER = """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n], f32>, %i: tensor<[m, 1], i32>, %u: tensor<[m], f32>)
    -> tensor<[n], f32> {
  %y = tensor.scatter %x, %i, %u {axes = [0], combiner = add} : tensor<[n], f32>
  return %y
}"""


def test_scatter_of_symbolic_sizes():
    x, i, u = counted((3,), f32), np.array([[2], [2]], np.int32), np.ones(2, np.float32)
    assert run(SCATTER, x, i, u)[0].tolist() == [0, 1, 4]
    assert x.tolist() == [0, 1, 2]
    assert run(SCATTER, x[:0], i[:0], u[:0])[0].tolist() == []
    assert "tensor.scatter: index 2 at [0] is outside axis 0 of size 2" in failure(
        SCATTER, x[:2], i, u
    )


def test_scatter_refuses_what_does_not_fit():
    def said(*types, **more):
        return refusal(tensor.Scatter, *types, **({"axes": (0,)} | more))

    x, indices, updates = Tensor((n, 3), f32), Tensor((m, 1), i64), Tensor((m, 3), f32)
    wrong = "updates has type tensor<[m], f32>, expected tensor<[m, 3], f32>"
    assert wrong in said(x, indices, Tensor((m,), f32))
    assert "updates has type tensor<[m, 3], f64>" in said(x, indices, Tensor((m, 3), f64))
    assert "not clamp" in said(x, indices, updates, outside=Outside.CLAMP)
    assert "the last axis of indices has size 1, expected 2" in said(
        x, indices, updates, axes=(0, 1)
    )
    assert "batch axis 0 has size n in x, m in indices" in said(
        x, indices, updates, axes=(1,), batch=1
    )
    numbers = Tensor((n, 3), c64), indices, Tensor((m, 3), c64)
    assert "the combiner minimum does not take c64" in said(*numbers, combiner=Combiner.MINIMUM)
    flags = Tensor((n, 3), BY_NAME["bool"]), indices, Tensor((m, 3), BY_NAME["bool"])
    assert "the combiner add does not take bool" in said(*flags, combiner=Combiner.ADD)
    assert "expected a dtype among" in said(x, Tensor((m, 1), f32), updates)
    assert "expected a dtype among" in said(
        Tensor((2,), i8), Tensor((1, 1), boolean), Tensor((1,), i8)
    )
