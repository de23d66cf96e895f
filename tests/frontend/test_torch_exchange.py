"""Memory handed to PyTorch and taken from it, through DLPack.

PyTorch is a peer, never a dependency: these tests run where it happens to be installed; it is too
heavy to come with an extra. It takes read-only memory without a word, and would write to it.
"""

import gc
from typing import Any

import numpy as np
import pytest

import brimstone as bs

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128",
]  # fmt: skip
NUMBERS = np.array([[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_go_there_without_a_copy(dtype: str) -> None:
    ours = bs.asarray(NUMBERS.astype(dtype))
    theirs = torch.from_dlpack(ours)
    assert theirs.dtype == getattr(torch, dtype)
    assert theirs.data_ptr() == ours.numpy().ctypes.data
    np.testing.assert_array_equal(theirs.numpy(), NUMBERS.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_come_from_there_without_a_copy(dtype: str) -> None:
    theirs = torch.asarray(NUMBERS.astype(dtype))
    ours = bs.from_dlpack(theirs)
    assert ours.dtype == dtype
    assert ours.numpy().ctypes.data == theirs.data_ptr()
    np.testing.assert_array_equal(ours.numpy(), NUMBERS.astype(dtype))


def test_bfloat16_goes_both_ways() -> None:
    ours = bs.asarray(NUMBERS, dtype="bfloat16")
    theirs = torch.from_dlpack(ours)
    assert theirs.dtype == torch.bfloat16
    assert theirs.data_ptr() == ours.numpy().ctypes.data
    assert theirs.tolist() == NUMBERS.tolist()
    for back in (bs.from_dlpack(theirs.T), bs.asarray(theirs.T)):
        assert back.dtype == "bfloat16"
        assert back.tolist() == NUMBERS.T.tolist()


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (2, 1, 3)])
def test_every_shape_goes_both_ways(shape: tuple[int, ...]) -> None:
    theirs = torch.from_dlpack(bs.ones(shape))
    assert tuple(theirs.shape) == shape
    assert bs.from_dlpack(theirs).shape == shape


def test_copies_are_made_when_asked_for() -> None:
    ours = bs.asarray(NUMBERS)
    copied = torch.from_dlpack(ours, copy=True)
    copied += 1
    np.testing.assert_array_equal(ours.numpy(), NUMBERS)
    again = bs.from_dlpack(copied, copy=True)
    copied += 1
    np.testing.assert_array_equal(again.numpy(), NUMBERS + 1)
    assert torch.from_dlpack(ours, copy=False).data_ptr() == ours.numpy().ctypes.data


def test_results_that_wait_are_computed_first() -> None:
    x = bs.asarray(NUMBERS)
    for ours in (x * 2, x.T, x[:, ::2], bs.broadcast_to(x[:1], (4, 3))):
        np.testing.assert_array_equal(torch.from_dlpack(ours).numpy(), ours.numpy())


def test_views_come_as_what_they_show() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    for view in (base.T, base[1:], base[:, 1:3], base[0, 1:], base[:1].expand(5, 4)):
        ours = bs.from_dlpack(view)
        np.testing.assert_array_equal(ours.numpy(), view.numpy())
        np.testing.assert_array_equal((ours + 1).numpy(), (view + 1).numpy())


def test_memory_lives_as_long_as_either_side_needs_it() -> None:
    theirs = torch.from_dlpack(bs.arange(1000) * 2)
    ours = bs.from_dlpack(torch.arange(1000) * 2)
    gc.collect()
    np.testing.assert_array_equal(theirs.numpy(), np.arange(1000) * 2)
    np.testing.assert_array_equal((ours + 0).numpy(), np.arange(1000) * 2)


def test_there_and_back_is_the_same_memory() -> None:
    ours = bs.asarray(NUMBERS)
    back = bs.from_dlpack(torch.from_dlpack(ours))
    assert back.numpy().ctypes.data == ours.numpy().ctypes.data


def test_a_parameter_there_is_a_leaf_that_learns() -> None:
    ours = bs.asarray([1.0, 2.0])
    theirs = torch.from_dlpack(ours).requires_grad_()
    (theirs**2).sum().backward()
    expected = bs.grad(lambda x: (x**2).sum())(ours)
    np.testing.assert_array_equal(bs.from_dlpack(theirs.grad).numpy(), expected.numpy())


def test_functions_take_them_as_they_take_arrays_of_numpy() -> None:
    theirs, ours = torch.asarray(NUMBERS), bs.asarray(NUMBERS)
    np.testing.assert_array_equal(bs.sum(theirs, axis=0).numpy(), NUMBERS.sum(axis=0))
    for made in (ours + theirs, theirs + ours, ours @ theirs.T - ours @ ours.T + 2 * theirs[:, :2]):
        assert isinstance(made, bs.Tensor)
    np.testing.assert_array_equal((ours - theirs).numpy(), 0 * NUMBERS)
    np.testing.assert_array_equal((theirs @ ours.T).numpy(), NUMBERS @ NUMBERS.T)


def test_compiled_functions_read_them_at_each_call() -> None:
    traced: list[Any] = []

    @bs.jit
    def twice(x: Any, given: dict[str, Any]) -> Any:
        traced.append(x)
        return x * 2 + given["y"]

    batch = torch.zeros(3)
    for number in range(20):
        batch.fill_(number)
        assert twice(batch, {"y": batch}).tolist() == [3 * number] * 3
    assert len(traced) == 1 and isinstance(traced[0], bs.Tensor)
    with pytest.raises(bs.ArgumentError, match=r"torch\.Tensor.*detach"):
        twice(torch.ones(3, requires_grad=True), {"y": batch})


@pytest.mark.parametrize("jitted", [False, True])
def test_they_are_differentiated(jitted: bool) -> None:
    theirs = torch.asarray([1.0, 2.0])
    derive = bs.grad(lambda tree: (tree["w"] * tree["b"] ** 2).sum())
    found = (bs.jit(derive) if jitted else derive)({"w": bs.ones(2), "b": theirs})
    assert found["b"].tolist() == [2.0, 4.0] and found["w"].tolist() == [1.0, 4.0]
    assert bs.grad(lambda x: (x**2).sum())(theirs).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("jitted", [False, True])
def test_they_name_places(jitted: bool) -> None:
    x, at = bs.arange(6), torch.asarray([4, 5])
    functions = [
        lambda x, at: x[at],
        lambda x, at: x.reshape((2, 3))[:, at - 3],
        lambda x, at: x.at[at].set(9),
        lambda x, at: x.at[at].get(),
    ]
    for function in functions:
        expected = function(x, bs.asarray(at.numpy())).numpy()
        found = (bs.jit(function) if jitted else function)(x, at).numpy()
        np.testing.assert_array_equal(found, expected)
    mask = torch.asarray([True, False] * 3)
    assert x[mask].tolist() == [0, 2, 4] and x.at[mask].set(7).tolist() == [7, 1, 7, 3, 7, 5]


REFUSED = {
    "a parameter": (lambda: torch.ones(2, requires_grad=True), "detach"),
    "a lazy conjugate": (lambda: torch.ones(2, dtype=torch.complex64).conj(), "conjugate bit"),
    "a sparse one": (lambda: torch.eye(2).to_sparse(), "strided"),
    "one without memory": (lambda: torch.ones(2, device="meta"), "meta"),
    "a dtype that numpy lacks": (lambda: torch.ones(2).to(torch.float8_e5m2), "dtype"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_come_is_refused_with_a_reason(name: str) -> None:
    make, reason = REFUSED[name]
    with pytest.raises(bs.DTypeError, match=reason):
        bs.from_dlpack(make())


@pytest.mark.parametrize("dtype", ["float8_e4m3", "float8_e5m2"])
def test_a_dtype_that_numpy_lacks_cannot_go(dtype: str) -> None:
    with pytest.raises(BufferError, match="DLPack"):
        torch.from_dlpack(bs.ones(2, dtype=dtype))


def test_what_is_traced_has_no_memory() -> None:
    with pytest.raises(bs.TracedValueError, match="__dlpack__"):
        bs.jit(lambda x: bs.from_dlpack(torch.from_dlpack(x)))(bs.ones(2))
