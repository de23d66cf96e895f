"""Windows against numpy's, and the short-time transform against its definition and its inverse."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs

RNG = np.random.default_rng(5)
WINDOWS: dict[str, Callable[[int], Any]] = {
    "hann": np.hanning,
    "hamming": np.hamming,
    "blackman": np.blackman,
    "bartlett": np.bartlett,
    "kaiser": lambda length: np.kaiser(length, 12.0),
}


def window(name: str, length: int, periodic: bool = True, **options: Any) -> bs.Tensor:
    return getattr(bs, f"{name}_window")(length, periodic, **options)


def array(*shape: int) -> bs.Tensor:
    return bs.asarray(RNG.normal(size=shape))


@pytest.mark.parametrize("length", [0, 1, 2, 5, 16])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str, length: int) -> None:
    symmetric = window(name, length, False, dtype=bs.float64).numpy()
    np.testing.assert_allclose(symmetric, WINDOWS[name](length), atol=1e-15)
    periodic = window(name, length, dtype=bs.float64).numpy()
    expected = WINDOWS[name](length + 1)[:-1] if length > 1 else WINDOWS[name](length)
    np.testing.assert_allclose(periodic, expected, atol=1e-15)
    assert window(name, length).dtype == bs.float32


def test_windows_are_not_negative() -> None:
    assert all(float(window(name, 64, False).min()) >= 0 for name in WINDOWS)


def test_half_overlapping_hann_windows_sum_to_one() -> None:
    weights = bs.hann_window(8, dtype=bs.float64)
    np.testing.assert_allclose((weights[:4] + weights[4:]).numpy(), 1, rtol=1e-15)


def spectra(x: Any, size: int, hop: int, weights: Any) -> Any:
    """The definition: a transform of each piece."""
    count = (x.shape[-1] - size) // hop + 1
    pieces = [x[..., hop * at : hop * at + size] * weights for at in range(count)]
    return np.stack([np.fft.rfft(piece) for piece in pieces], axis=-1)


@pytest.mark.parametrize("batch", [(), (3,), (2, 0), (2, 3)])
@pytest.mark.parametrize(("size", "hop"), [(8, 2), (7, 3), (4, 4), (6, 9)])
def test_spectra_by_their_definition(size: int, hop: int, batch: tuple[int, ...]) -> None:
    x, weights = array(*batch, 30), array(size)
    found = bs.stft(x, size, hop, weights, center=False)
    expected = spectra(x.numpy(), size, hop, weights.numpy())
    assert found.dtype == bs.complex128
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-13)


@pytest.mark.parametrize(("ours", "numpys"), [("reflect", "reflect"), ("constant", "constant")])
def test_centred_frames(ours: str, numpys: Any) -> None:
    x = array(2, 20)
    padded = np.pad(x.numpy(), ((0, 0), (4, 4)), mode=numpys)
    found = bs.stft(x, 8, pad_mode=ours).numpy()
    np.testing.assert_allclose(found, spectra(padded, 8, 2, np.ones(8)), atol=1e-13)


def test_a_short_window_stands_in_the_middle_of_a_frame() -> None:
    x, weights = array(32), array(5)
    found = bs.stft(x, 8, 4, weights, center=False).numpy()
    whole = np.pad(weights.numpy(), (1, 2))
    np.testing.assert_allclose(found, spectra(x.numpy(), 8, 4, whole), atol=1e-13)


def test_norms_and_whole_spectra() -> None:
    x = array(32)
    half = bs.stft(x, 8, center=False)
    scaled = bs.stft(x, 8, center=False, normalized=True)
    np.testing.assert_allclose(scaled.numpy(), half.numpy() / np.sqrt(8), atol=1e-14)
    whole = bs.stft(x, 8, center=False, onesided=False)
    assert whole.shape == (8, 13)
    np.testing.assert_allclose(whole.numpy()[:5], half.numpy(), atol=1e-14)
    assert bs.stft(x * 1j, 8).shape[0] == 8


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("onesided", [False, True])
@pytest.mark.parametrize("name", ["hann", "hamming", "kaiser"])
def test_there_and_back(name: str, onesided: bool, normalized: bool) -> None:
    x, weights = array(2, 3, 64), window(name, 16, dtype=bs.float64)
    options: Any = {"onesided": onesided, "normalized": normalized}
    back = bs.istft(bs.stft(x, 16, 4, weights, **options), 16, 4, weights, **options)
    np.testing.assert_allclose(back.numpy(), x.numpy(), atol=1e-12)


@pytest.mark.parametrize("length", [10, 32, 50])
def test_a_length_cuts_or_pads(length: int) -> None:
    x, weights = array(32), bs.hann_window(8, dtype=bs.float64)
    back = bs.istft(bs.stft(x, 8, 2, weights), 8, 2, weights, length=length).numpy()
    assert back.shape == (length,)
    known = min(length, 32)
    np.testing.assert_allclose(back[:known], x.numpy()[:known], atol=1e-12)
    assert np.isfinite(back).all()


def test_jit_vmap_and_grad() -> None:
    x, weights = array(3, 24), bs.hann_window(8, dtype=bs.float64)

    def power(x: bs.Tensor) -> bs.Tensor:
        return (bs.abs(bs.stft(x, 8, 2, weights)) ** 2).sum()

    def rebuilt(x: bs.Tensor) -> bs.Tensor:
        return (bs.istft(bs.stft(x, 8, 2, weights), 8, 2, weights) ** 2).sum()

    expected = bs.stft(x, 8, 2, weights).numpy()
    for way in (bs.jit, bs.vmap):
        found = way(lambda x: bs.stft(x, 8, 2, weights))(x)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-13)
    np.testing.assert_allclose(bs.grad(rebuilt)(x).numpy(), 2 * x.numpy(), atol=1e-12)
    slope = float((power(x.at[1, 5].add(1e-6)) - power(x.at[1, 5].add(-1e-6))) / 2e-6)
    np.testing.assert_allclose(float(bs.grad(power)(x)[1, 5]), slope, rtol=1e-6)


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: bs.hann_window(-1), bs.ArgumentError, "a length is not negative"),
    (lambda: bs.hann_window(4, dtype=bs.int32), bs.DTypeError, "weights are floats"),
    (lambda: bs.stft(bs.ones(4), 8, center=False), bs.ShapeError, "4 elements, a frame 8"),
    (lambda: bs.stft(bs.ones(16), 0), bs.ArgumentError, "at least 1"),
    (lambda: bs.stft(bs.ones(16), 8, window=bs.ones(9)), bs.ShapeError, "at most n_fft = 8"),
    (lambda: bs.stft(bs.ones(16) * 1j, 8, onesided=True), bs.ArgumentError, "no halves"),
    (lambda: bs.stft(bs.asarray([1, 2]), 2), bs.DTypeError, "a float or complex tensor"),
    (lambda: bs.istft(bs.ones((4, 4)), 8), bs.ShapeError, "has the 5 frequencies"),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG)
def test_errors(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
