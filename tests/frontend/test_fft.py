"""`bs.fft` against numpy's transforms in double precision: lengths, norms, axes, derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.functions import dft

RNG = np.random.default_rng(11)
LENGTHS = [
    *range(1, 20), 27, 31, 32, 35, 49, 61, 64, 65, 67, 96, 101, 127, 128, 131, 134, 243, 997, 1000,
    1024,
]  # fmt: skip
NORMS = ["backward", "ortho", "forward"]
REAL = ["rfft", "ihfft"]
Array = np.ndarray[Any, Any]


def sample(*shape: int, dtype: str = "complex128") -> Array:
    parts = RNG.normal(size=(2, *shape))
    whole = parts[0] + 1j * parts[1]
    return (whole if dtype.startswith("c") else parts[0]).astype(dtype)


def distance(found: Array, expected: Array) -> float:
    """How far the found is from the expected, as a part of its length."""
    assert found.shape == expected.shape
    return float(np.linalg.norm(found - expected) / (np.linalg.norm(expected) or 1))


def limit(length: int, single: bool) -> float:
    return (3e-7 if single else 1e-15) * max(np.log2(length), 1)


def wide(x: Array) -> Array:
    return x.astype(np.result_type(x.dtype, np.float64))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", LENGTHS)
def test_every_length_is_accurate(n: int, dtype: str) -> None:
    x = sample(3, n, dtype=dtype)
    for name in ("fft", "ifft"):
        found = getattr(bs.fft, name)(bs.asarray(x))
        assert found.dtype == dtype
        expected = getattr(np.fft, name)(wide(x))
        assert distance(found.numpy(), expected) < limit(n, dtype == "complex64")


@pytest.mark.parametrize("n", [1, 2, 3, 8, 15, 66, 67, 81, 100, 131, 134, 147, 1000])
@pytest.mark.parametrize("name", ["rfft", "ihfft", "irfft", "hfft"])
@pytest.mark.parametrize("single", [True, False])
def test_real_and_hermitian_transforms(name: str, n: int, single: bool) -> None:
    forward = name in REAL
    kinds = ("float32", "complex64") if single else ("float64", "complex128")
    x = sample(2, n if forward else n // 2 + 1, dtype=kinds[0] if forward else kinds[1])
    for norm in NORMS:
        found = getattr(bs.fft, name)(bs.asarray(x), n=n, norm=norm)
        assert found.dtype == (kinds[1] if forward else kinds[0])
        expected = getattr(np.fft, name)(wide(x), n=n, norm=norm)
        assert distance(found.numpy(), expected) < limit(n, single)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [None, 4, 6, 9])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_axes_are_cut_and_padded(axis: int, n: int | None, norm: str) -> None:
    for name in ("fft", "ifft", "rfft", "ihfft", "irfft", "hfft"):
        x = sample(5, 6, 7, dtype="float64" if name in REAL else "complex128")
        found = getattr(bs.fft, name)(bs.asarray(x), n=n, axis=axis, norm=norm).numpy()
        assert distance(found, getattr(np.fft, name)(x, n=n, axis=axis, norm=norm)) < 1e-14


CASES: list[dict[str, Any]] = [
    {},
    {"axes": (0,)},
    {"axes": (2, 0)},
    {"s": (4, 8)},
    {"s": (4, 8, 3), "axes": (0, 1, 2)},
    {"s": (3, 5), "axes": (1, 0)},
    {"norm": "ortho"},
    {"norm": "forward", "axes": (-1, 1)},
]


@pytest.mark.parametrize("options", CASES, ids=str)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.filterwarnings("ignore:`axes` should not be `None`:DeprecationWarning")
def test_many_axes(name: str, options: dict[str, Any]) -> None:
    x = sample(4, 5, 6, dtype="float64" if name == "rfftn" else "complex128")
    found = getattr(bs.fft, name)(bs.asarray(x), **options).numpy()
    assert distance(found, getattr(np.fft, name)(x, **options)) < 1e-14


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_two_axes(name: str) -> None:
    x = sample(3, 4, 6, dtype="float64" if name == "rfft2" else "complex128")
    assert distance(getattr(bs.fft, name)(bs.asarray(x)).numpy(), getattr(np.fft, name)(x)) < 1e-14
    found = getattr(bs.fft, name)(bs.asarray(x), s=(3, 8), axes=(0, 1)).numpy()
    assert distance(found, getattr(np.fft, name)(x, s=(3, 8), axes=(0, 1))) < 1e-14


def test_a_length_of_minus_1_leaves_an_axis_as_it_is() -> None:
    x = sample(4, 5)
    found = bs.fft.fftn(bs.asarray(x), s=(-1, 3), axes=(0, 1)).numpy()
    assert distance(found, np.fft.fftn(x, s=(4, 3), axes=(0, 1))) < 1e-14


@pytest.mark.parametrize("n", [6, 64, 67])
def test_there_and_back(n: int) -> None:
    x, real = bs.asarray(sample(n)), bs.asarray(sample(n, dtype="float64"))
    assert bs.allclose(bs.fft.ifft(bs.fft.fft(x)), x, atol=1e-12)
    assert bs.allclose(bs.fft.irfft(bs.fft.rfft(real), n=n), real, atol=1e-12)
    assert bs.allclose(bs.fft.hfft(bs.fft.ihfft(real), n=n), real, atol=1e-12)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float32"])
def test_narrow_and_whole_numbers_are_transformed_in_single_precision(dtype: str) -> None:
    x = bs.asarray([1, 0, 1, 1, 0]).astype(dtype)
    found = bs.fft.fft(x)
    assert found.dtype == bs.complex64
    assert distance(found.numpy(), np.fft.fft([1, 0, 1, 1, 0])) < 1e-6
    assert bs.fft.rfft(x).dtype == bs.complex64
    assert bs.fft.irfft(x).dtype == bs.float32


def test_batches_without_elements() -> None:
    assert bs.fft.fft(bs.zeros((0, 5))).shape == (0, 5)
    assert bs.fft.rfft(bs.zeros((3, 0, 6))).shape == (3, 0, 4)
    assert bs.fft.irfft(bs.zeros((0, 68)), n=134).shape == (0, 134)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("d", [1.0, 0.1])
def test_frequencies(n: int, d: float) -> None:
    for name in ("fftfreq", "rfftfreq"):
        expected = getattr(np.fft, name)(n, d=d)
        found = getattr(bs.fft, name)(n, d=d)
        assert found.dtype == bs.float32
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
        found = getattr(bs.fft, name)(n, d=d, dtype=bs.float64)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-15)


@pytest.mark.parametrize("axes", [None, 0, 1, (0, 1), (1,), (-1, 0)])
def test_shifts(axes: Any) -> None:
    x = np.arange(35).reshape(5, 7)
    for name in ("fftshift", "ifftshift"):
        found = getattr(bs.fft, name)(bs.asarray(x), axes=axes).numpy()
        np.testing.assert_array_equal(found, getattr(np.fft, name)(x, axes=axes))


@pytest.mark.parametrize("n", [3, 67, 96])
def test_jit_and_vmap_change_nothing(n: int) -> None:
    x = bs.asarray(sample(4, n))
    expected = np.fft.fft(x.numpy())
    for way in (bs.jit(bs.fft.fft), bs.vmap(bs.fft.fft), bs.jit(bs.vmap(bs.fft.fft))):
        assert distance(way(x).numpy(), expected) < 1e-14


def test_an_open_batch_size() -> None:
    f = bs.jit(bs.fft.rfft, dynamic={"x": {0: "batch"}})
    for batch in (2, 5):
        x = sample(batch, 12, dtype="float64")
        assert distance(f(bs.asarray(x)).numpy(), np.fft.rfft(x)) < 1e-14


def test_an_open_length_needs_n() -> None:
    def cut(x: bs.Tensor) -> bs.Tensor:
        return bs.fft.fft(x, n=4)

    f = bs.jit(bs.fft.fft, dynamic={"x": {0: "length"}})
    with pytest.raises(bs.ShapeError, match="is not known"):
        f(bs.ones(8))
    fitted = bs.jit(cut, dynamic={"x": {0: "length"}})
    for length in (9, 4, 2, 1):
        x = sample(length)
        assert distance(fitted(bs.asarray(x)).numpy(), np.fft.fft(x, n=4)) < 1e-14


def slope(f: Callable[[Array], float], x: Array, step: float = 1e-5) -> Array:
    """The gradient of a real function: by the real parts, and i times that by the imaginary."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        for unit in (1, 1j) if np.iscomplexobj(x) else (1,):
            move = np.zeros_like(x)
            move[place] = step * unit
            found[place] += unit * (f(x + move) - f(x - move)) / (2 * step)
    return found


@pytest.mark.parametrize("n", [4, 18, 67, 75, 132])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_gradients(name: str, n: int) -> None:
    real = name in REAL
    x = sample(n, dtype="float64" if real else "complex128")
    length = getattr(np.fft, name)(x).shape[0]
    weights = bs.asarray(RNG.normal(size=length))

    def loss(x: bs.Tensor) -> bs.Tensor:
        y = getattr(bs.fft, name)(x)
        return ((y.real * weights) ** 2 + y.imag * weights).sum()

    found = bs.grad(loss)(bs.asarray(x)).numpy()
    expected = slope(lambda x: float(loss(bs.asarray(x))), x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_rotations_are_computed_where_they_are_too_many_to_carry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = sample(2, 640)
    monkeypatch.setattr(dft, "MOST_CARRIED", 100)
    assert distance(bs.fft.fft(bs.asarray(x)).numpy(), np.fft.fft(x)) < 1e-14
    single = x.astype("complex64")
    found = bs.fft.ifft(bs.asarray(single)).numpy()
    assert distance(found, np.fft.ifft(wide(single))) < limit(640, single=True)
    half = bs.fft.rfft(bs.asarray(x.real)).numpy()
    assert distance(half, np.fft.rfft(x.real)) < 1e-14
    assert distance(bs.fft.irfft(bs.asarray(half)).numpy(), x.real) < 1e-14


def test_quarters_of_a_turn_are_exact() -> None:
    x = bs.asarray([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(bs.fft.fft(x).numpy(), [10, -2 + 2j, -2, -2 - 2j])


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: bs.fft.fft(bs.ones(0)), bs.ArgumentError, "a length is at least 1, not 0"),
    (lambda: bs.fft.fft(bs.ones(4), n=0), bs.ArgumentError, "a length is at least 1, not 0"),
    (lambda: bs.fft.irfft(bs.ones(1)), bs.ArgumentError, "a length is at least 1, not 0"),
    (lambda: bs.fft.fft(bs.ones(())), bs.ShapeError, "rank 0 has no axis"),
    (lambda: bs.fft.fft(bs.ones(4), axis=1), bs.AxisError, "there is no axis 1"),
    (lambda: bs.fft.fft(bs.ones(4), axis=0, dim=0), bs.ArgumentError, "not both"),
    (lambda: bs.fft.fft(bs.ones(4), norm="none"), bs.ArgumentError, "norm is one of 'backward'"),
    (lambda: bs.fft.rfft(bs.ones(4) * 1j), bs.DTypeError, "transforms real numbers"),
    (lambda: bs.fft.ihfft(bs.ones(4) * 1j), bs.DTypeError, "transforms real numbers"),
    (lambda: bs.fft.fftn(bs.ones((4, 4)), s=(2,), axes=(0, 1)), bs.ArgumentError, "1 lengths"),
    (lambda: bs.fft.fftn(bs.ones((4, 4)), axes=(0, -2)), bs.AxisError, "named twice"),
    (lambda: bs.fft.fftn(bs.ones(())), bs.ArgumentError, "no axis to transform"),
    (lambda: bs.fft.fftfreq(0), bs.ArgumentError, "at least 1"),
    (lambda: bs.fft.rfftfreq(4, dtype=bs.int32), bs.DTypeError, "frequencies are floats"),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG)
def test_errors(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
