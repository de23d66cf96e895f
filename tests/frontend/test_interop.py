"""Tensors among numpy's arrays, in Python's protocols, and in functions of other libraries."""

import copy
import operator
import pickle
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.interop import TABLE, Row, call, leaves, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "interop.md"


def x() -> bs.Tensor:
    return bs.asarray(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.module}.{row.name}")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_functions_of_other_libraries(row: Row) -> None:
    library = row.module.partition(".")[0]
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed; it comes with the extra `interop`")
    dispatch = nullcontext()
    if library == "sklearn":
        import sklearn  # pyright: ignore[reportMissingImports]

        dispatch = sklearn.config_context(array_api_dispatch=True)
    expected = None if row.refused else leaves(call(row, np.asarray))
    with dispatch:
        if row.refused:
            with pytest.raises((RuntimeError, TypeError, ValueError)):
                call(row, bs.asarray)
            return
        found = leaves(call(row, bs.asarray))
    for one, other in zip(found, expected or [], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


@pytest.mark.skipif(not PAGE.parent.is_dir(), reason="a checkout has the documents, this is a copy")
def test_the_page_is_what_the_table_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(), "run in tests: python -m kit.interop > ../docs/interop.md"


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "matmul", "pow", "lt", "eq"])
def test_numpy_on_the_left_gives_a_tensor(name: str) -> None:
    apply, array = getattr(operator, name), np.full((2, 2), 2, np.float32)
    for left, right in ((array, x()), (x(), array)):
        result = apply(left, right)
        assert isinstance(result, bs.Tensor)
        np.testing.assert_array_equal(result.numpy(), apply(np.asarray(left), np.asarray(right)))


def test_numpy_sees_the_values_and_cannot_change_them() -> None:
    tensor, array = x(), np.zeros(2, np.float32)
    seen = np.asarray(tensor)
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 9
    writable = np.array(tensor)
    writable[0] = 9
    made = bs.asarray(array)
    array[0] = 9
    assert (tensor[0, 0].item(), made[0].item()) == (1, 0)
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="uncopied"):
        np.asarray(tensor, dtype=np.float64, copy=False)


def test_a_view_outlives_the_donation_of_its_tensor() -> None:
    parameter = x().sync()
    view = np.asarray(parameter)
    updated = bs.jit(lambda p: p * 2 + 1, donate=0)(parameter)
    assert updated.tolist() == [[3, 5], [7, 9]]
    assert view.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(bs.DeadTensorError, match="donated"):
        parameter.numpy()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64"])
def test_dlpack_shares_memory_both_ways(dtype: str) -> None:
    tensor = x().astype(dtype)
    array = np.from_dlpack(tensor)
    assert np.shares_memory(array, tensor.numpy())
    assert not array.flags.writeable
    back = bs.from_dlpack(array)
    assert np.shares_memory(back.numpy(), array)
    assert not np.shares_memory(bs.from_dlpack(array, copy=True).numpy(), array)
    assert tensor.__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("place", ["cpu", "reference"])
@pytest.mark.parametrize("way", ["asarray", "from_dlpack", "to_device"])
def test_what_is_moved_is_where_it_is_wanted(way: str, place: str) -> None:
    """Also what has been made of nothing on no device that was named, and is not computed yet."""
    for tensor in (bs.zeros(3), bs.ones(3) * 2, x().sync()):
        if way == "to_device":
            moved = tensor.to_device(place)
        else:
            moved = getattr(bs, way)(tensor, device=place)
        assert moved.device == place
        assert moved.sync().device == place
        assert moved.tolist() == tensor.tolist()


class Exporter:
    """What another library's array of bfloat16 is to DLPack, and to numpy."""

    def __init__(self, tensor: bs.Tensor) -> None:
        self.tensor = tensor

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **how: Any) -> Any:
        return self.tensor.__dlpack__(**how)

    def __array__(self, **_: Any) -> Any:
        raise TypeError("numpy has no bfloat16")


@pytest.mark.parametrize("shape", [(), (3, 2), (0, 2)])
def test_bfloat16_goes_both_ways(shape: tuple[int, ...]) -> None:
    tensor = bs.asarray(np.ones(shape), dtype="bfloat16") * 1.5
    try:
        found = np.from_dlpack(tensor)
    except (BufferError, RuntimeError):  # numpy knows it from ml_dtypes, if both are new
        pass
    else:
        assert (found.dtype, found.tolist()) == (tensor.numpy().dtype, tensor.tolist())
    for made in (bs.from_dlpack(Exporter(tensor)), bs.asarray(Exporter(tensor))):
        assert (made.dtype, made.tolist()) == (tensor.dtype, tensor.tolist())
    shared = bs.from_dlpack(Exporter(tensor))
    assert np.shares_memory(shared.numpy(), tensor.numpy()) == bool(tensor.size)


def test_what_dlpack_cannot_say_is_refused() -> None:
    with pytest.raises(BufferError, match="float8_e5m2"):
        x().astype(bs.float8_e5m2).__dlpack__()
    with pytest.raises(BufferError, match="device"):
        x().__dlpack__(dl_device=(2, 0))
    with pytest.raises(bs.ArgumentError, match="does not speak DLPack"):
        bs.from_dlpack(5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2", "bool", "complex128"])
@pytest.mark.parametrize(
    "again", [lambda t: pickle.loads(pickle.dumps(t)), copy.copy, copy.deepcopy]
)
def test_copies(again: Any, dtype: str) -> None:
    tensor = x().astype(dtype)
    made = again(tensor)
    assert made is not tensor
    assert (made.dtype, made.tolist()) == (tensor.dtype, tensor.tolist())
    made[0] = 0
    assert made.tolist() != tensor.tolist()


def test_parameters_stay_parameters() -> None:
    parameter = x().requires_grad_()
    for made in (pickle.loads(pickle.dumps(parameter)), copy.deepcopy(parameter)):
        assert made.requires_grad


def test_pythons_protocols() -> None:
    tensor = x()
    one = bs.asarray(2)
    assert (tensor == None) is False  # noqa: E711 (this very comparison is tested)
    assert (tensor != None) is True  # noqa: E711 (as above)
    assert {tensor: 1}[tensor] == 1
    assert len({tensor, tensor, x()}) == 2
    assert [row.tolist() for row in tensor] == tensor.tolist()
    assert (len(tensor), tensor in [tensor], 3 in tensor, 9 in tensor) == (2, True, True, False)
    assert (bool(one), int(one), float(one), complex(one), operator.index(one)) == (
        True,
        2,
        2,
        2,
        2,
    )
    assert ["a", "b", "c"][one] == "c"
    assert list(range(one)) == [0, 1]
    assert round(float(tensor.mean()), 1) == 2.5
    total = tensor
    total += 1
    assert (total is tensor, tensor[0, 0].item()) == (False, 1)


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda: bool(x()), ValueError),
        (lambda: float(x()), ValueError),
        (lambda: operator.index(x()[0, 0]), TypeError),
        (lambda: float(bs.asarray(1j)), TypeError),
        (lambda: len(bs.asarray(1)), TypeError),
        (lambda: list(bs.asarray(1)), TypeError),
        (lambda: bs.jit(lambda t: bool(t.sum() > 0))(x()), TypeError),
        (lambda: bs.jit(np.asarray)(x()), TypeError),
    ],
)
def test_what_has_no_answer_is_refused(ask: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        ask()
    assert isinstance(caught.value, bs.BrimstoneError)
    assert "test_interop.py" in str(caught.value)
