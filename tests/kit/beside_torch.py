"""Functions beside those of PyTorch: what is called of both libraries, and with what.

Comes in: nothing. Goes out: tables, from a name to a `Row`.
Never: a need for PyTorch: where it is not installed, a test that imports this module is skipped.
"""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pytest

import brimstone as bs

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")
F = torch.nn.functional
RANDOM = np.random.default_rng(17)
Array = np.ndarray[Any, np.dtype[Any]]


def spread(low: float, high: float, *shape: int) -> Array:
    """Numbers of an interval in random order, no two of them close to each other."""
    count = int(np.prod(shape))
    steps = RANDOM.permutation(count) + RANDOM.uniform(0.1, 0.9, count)
    return (low + (high - low) * steps / count).reshape(shape)


def complexes(*shape: int) -> Array:
    """Complex numbers on all sides of 0, and none close to it."""
    return spread(0.3, 1.2, *shape) * np.exp(1j * spread(-3, 3, *shape))


def dominant(matrices: Array) -> Array:
    """Square matrices that are easy to solve with, with eigenvalues apart."""
    return matrices + np.diag(np.arange(2.0, 2 + matrices.shape[-1]))


SIGNED, POSITIVE, UNIT = spread(-2, 2, 3, 4), spread(0.3, 3, 3, 4), spread(-0.9, 0.9, 3, 4)
OTHER, LONG, IMAGE = spread(-2, 2, 3, 4), spread(-2, 2, 2, 12), spread(-1, 1, 2, 3, 5, 4)
COMPLEX, COMPLEX_OTHER = complexes(3, 4), complexes(3, 4)
SQUARE, SQUARES = (dominant(spread(-0.5, 0.5, *shape)) for shape in ((3, 3), (2, 3, 3)))
SYMMETRIC = SQUARES + np.swapaxes(SQUARES, -1, -2)
COMPLEX_SQUARE = dominant(complexes(3, 3))
TALL, WIDE = spread(-1, 1, 4, 3), spread(-1, 1, 3, 4)
HOLED = np.array([[1.0, 0.0, 3.0, -2.0], [0.0, 2.0, 0.0, 1.5], [5.0, 1.0, 2.0, -0.5]])
WINDOW = spread(0.2, 1, 6)
GRID = spread(-1.3, 1.3, 2, 3, 2, 2)
ROWS, COLUMNS = np.array([0, 2, 0, 0, 1]), np.array([3, 1, 3, 0, 2])
PLACES = np.array([[0, 3, 3, 1], [2, 2, 2, 2], [1, 0, 3, 1]])


class Row(NamedTuple):
    """What is called of each library, with what, and how often it is differentiated."""

    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    inputs: tuple[Array, ...]
    order: int


def alike(function: Callable[..., Any], *inputs: Array, order: int = 2) -> Row:
    """The same program, which gets a library before its inputs."""
    return Row(partial(function, bs), partial(function, torch), inputs, order)


def pair(ours: Any, theirs: Any, *inputs: Array, order: int = 2) -> Row:
    """Two programs that mean the same."""
    return Row(ours, theirs, inputs, order)


def named(names: str, *inputs: Array, prefix: str = "", order: int = 2) -> dict[str, Row]:
    """Functions that both libraries have by a name; PyTorch with a prefix."""
    return {
        name: Row(attrgetter(name)(bs), attrgetter(prefix + name)(torch), inputs, order)
        for name in names.split()
    }


ELEMENTWISE = {
    **named("exp exp2 expm1 sin cos tan sinh cosh tanh asinh atan erf sigmoid square negative abs "
            "reciprocal positive erfc", SIGNED),
    **named("log log2 log10 log1p sqrt rsqrt lgamma digamma", POSITIVE),
    **named("asin acos atanh erfinv", UNIT),
    **named("acosh", POSITIVE + 1),
    **named("floor ceil trunc round sign", SIGNED, order=1),
    **named("sinc", SIGNED, prefix="special."),
    **named("logit", (UNIT + 1) / 2, prefix="special."),
    **named("add subtract multiply divide atan2 hypot logaddexp maximum minimum copysign "
            "remainder", SIGNED, OTHER),
    **named("floor_divide", SIGNED, OTHER, order=0),  # PyTorch has no derivative of it
    "clip": pair(lambda x: bs.clip(x, -1, 0.7), lambda x: torch.clip(x, -1, 0.7), SIGNED),
    **named("pow", POSITIVE, SIGNED),
    **named("xlogy", SIGNED, POSITIVE),
    **named("lerp", SIGNED, OTHER, UNIT),
    "radians": pair(bs.radians, torch.deg2rad, SIGNED),
    "degrees": pair(bs.degrees, torch.rad2deg, SIGNED),
    "cbrt": pair(bs.cbrt, lambda x: x.sign() * x.abs() ** (1 / 3), SIGNED),
    "entropy": pair(bs.entropy, torch.special.entr, POSITIVE),
}  # fmt: skip

ACTIVATIONS = {
    **named("relu silu gelu softplus leaky_relu", SIGNED, prefix="nn.functional."),
    "gelu, tanh": pair(partial(bs.gelu, approximate=True), partial(F.gelu, approximate="tanh"),
                       SIGNED),
    "elu": pair(partial(bs.elu, alpha=0.7), partial(F.elu, alpha=0.7), SIGNED),
    "log_sigmoid": pair(bs.log_sigmoid, F.logsigmoid, SIGNED),
    "softmax": alike(lambda lib, x: lib.softmax(x, dim=0), SIGNED),
    "log_softmax": alike(lambda lib, x: lib.log_softmax(x, dim=-1), SIGNED),
    "attention": alike(lambda lib, q, k: lib.softmax(q @ k.mT / 2, dim=-1) @ k, SIGNED, OTHER),
    "cross entropy": pair(
        lambda x: -bs.take_along_axis(bs.log_softmax(x), PLACES[:, :1], axis=1).mean(),
        lambda x: F.cross_entropy(x, torch.asarray(PLACES[:, 0])), SIGNED),
    "layer norm": pair(
        lambda x: (x - x.mean(-1, keepdims=True)) / bs.sqrt(x.var(-1, keepdims=True) + 1e-5),
        lambda x: F.layer_norm(x, (4,)), SIGNED),
}  # fmt: skip

REDUCTIONS = {
    "sum": alike(lambda lib, x: lib.sum(x, dim=0), SIGNED),
    "mean": alike(lambda lib, x: lib.mean(x, dim=(0, 1), keepdim=True), SIGNED),
    "prod": alike(lambda lib, x: lib.prod(x, dim=1), SIGNED),
    "prod of zeros": alike(lambda lib, x: lib.prod(x, dim=1), HOLED),
    "var": alike(lambda lib, x: lib.var(x, dim=1, correction=1), SIGNED),
    "std": alike(lambda lib, x: lib.std(x, dim=0, correction=0), SIGNED),
    "logsumexp": alike(lambda lib, x: lib.logsumexp(x, dim=1), SIGNED),
    "max": pair(partial(bs.max, axis=1), partial(torch.amax, dim=1), SIGNED, order=1),
    "min": pair(partial(bs.min, axis=0), partial(torch.amin, dim=0), SIGNED, order=1),
    "argmax": alike(lambda lib, x: lib.argmax(x, dim=1), SIGNED, order=0),
    "count_nonzero": alike(lambda lib, x: lib.count_nonzero(x, dim=1), HOLED, order=0),
    "cumulative_sum": pair(partial(bs.cumulative_sum, axis=1), partial(torch.cumsum, dim=1),
                           SIGNED),
    "cumulative_prod": pair(partial(bs.cumulative_prod, axis=1), partial(torch.cumprod, dim=1),
                            SIGNED),
    "cumulative_prod of zeros": pair(partial(bs.cumulative_prod, axis=1),
                                     partial(torch.cumprod, dim=1), HOLED),
    "cumulative_max": pair(partial(bs.cumulative_max, axis=1),
                           lambda x: torch.cummax(x, 1).values, SIGNED, order=1),
    "cumulative_min": pair(partial(bs.cumulative_min, axis=0),
                           lambda x: torch.cummin(x, 0).values, SIGNED, order=1),
    "diff": alike(lambda lib, x: lib.diff(x, n=2), SIGNED),
    "quantile": pair(lambda x: bs.quantile(x, 0.3, axis=1), lambda x: torch.quantile(x, 0.3, 1),
                     SIGNED),
    "cov": alike(lambda lib, x: lib.cov(x), SIGNED),
    "corrcoef": alike(lambda lib, x: lib.corrcoef(x), SIGNED),
}  # fmt: skip

SORTING = {
    "sort": pair(partial(bs.sort, axis=1), lambda x: torch.sort(x, 1).values, SIGNED),
    "sort, descending": pair(partial(bs.sort, axis=0, descending=True),
                             lambda x: torch.sort(x, 0, descending=True).values, SIGNED),
    "argsort": pair(bs.argsort, torch.argsort, SIGNED, order=0),
    "topk": alike(lambda lib, x: lib.topk(x, 2, dim=1), SIGNED),
    "topk, least": alike(lambda lib, x: lib.topk(x, 3, dim=1, largest=False), SIGNED),
}  # fmt: skip

INDEXING = {
    "slices": alike(lambda lib, x: x[1:, ::2], SIGNED),
    "repeated rows": alike(lambda lib, x: x[lib.asarray(ROWS)] ** 2, SIGNED),
    "repeated elements": alike(
        lambda lib, x: x[lib.asarray(ROWS), lib.asarray(COLUMNS)] ** 3, SIGNED),
    "a mask": pair(lambda x: bs.where(x > 0, x * x, 0), lambda x: x.masked_fill(x <= 0, 0) ** 2,
                   SIGNED),
    "where": alike(lambda lib, x, y: lib.where(x > y, x * y, lib.sin(x)), SIGNED, OTHER),
    "take": pair(lambda x: bs.take(x, ROWS, axis=0),
                 lambda x: torch.index_select(x, 0, torch.asarray(ROWS)), SIGNED),
    "take_along_axis": pair(lambda x: bs.take_along_axis(x, PLACES, axis=1),
                            lambda x: torch.take_along_dim(x, torch.asarray(PLACES), 1), SIGNED),
    "at.set": pair(lambda x, y: x.at[1:, :2].set(y[1:, :2]) ** 2,
                   lambda x, y: x.slice_scatter(
                       x[1:].slice_scatter(y[1:, :2], 1, 0, 2), 0, 1) ** 2, SIGNED, OTHER),
    "at.add": pair(lambda x, y: x.at[bs.asarray(ROWS)].add(y[bs.asarray(ROWS)]) ** 2,
                   lambda x, y: x.index_add(
                       0, torch.asarray(ROWS), y[torch.asarray(ROWS)]) ** 2, SIGNED, OTHER),
    "reshape": alike(lambda lib, x: lib.reshape(x, (2, 6)) ** 2, SIGNED),
    "moveaxis": alike(lambda lib, x: lib.moveaxis(x, 0, 2) ** 2, SQUARES),
    "broadcast_to": alike(lambda lib, x: lib.broadcast_to(x[:, 1:2], (2, 3, 4)) ** 2, SIGNED),
    "split": alike(lambda lib, x: lib.split(x ** 2, 2, dim=1), SIGNED),
    "tril": alike(lambda lib, x: lib.tril(x), SIGNED),
    "triu": alike(lambda lib, x: lib.triu(x), SIGNED),
    "roll": pair(partial(bs.roll, shift=(1, -2), axis=(0, 1)),
                 partial(torch.roll, shifts=(1, -2), dims=(0, 1)), SIGNED),
    "flip": pair(partial(bs.flip, axis=1), partial(torch.flip, dims=(1,)), SIGNED),
    "concat": alike(lambda lib, x, y: lib.concat([x, y], dim=1) ** 2, SIGNED, OTHER),
    "stack": alike(lambda lib, x, y: lib.stack([x, y], dim=1) ** 2, SIGNED, OTHER),
    "repeat": pair(lambda x: bs.repeat(x, 2, axis=1) ** 2,
                   lambda x: torch.repeat_interleave(x, 2, 1) ** 2, SIGNED),
    "tile": alike(lambda lib, x: lib.tile(x, (2, 3)), SIGNED),
    "pad": pair(lambda x: bs.pad(x, ((1, 0), (2, -1)), value=3.0),
                lambda x: F.pad(x, (2, -1, 1, 0), value=3.0), SIGNED),
    **{
        f"pad, {ours}": pair(lambda x, mode=ours: bs.pad(x, ((0, 0), (2, 1)), mode),
                             lambda x, mode=theirs: F.pad(x, (2, 1), mode), LONG)
        for ours, theirs in (("reflect", "reflect"), ("edge", "replicate"), ("circular",) * 2)
    },
    "unfold": pair(lambda x: bs.unfold(x, 1, 4, 3), lambda x: x.unfold(1, 4, 3), LONG),
    "convolution": pair(
        lambda x, w: bs.einsum("bcnk,dck->bdn", bs.unfold(x, 2, 3, 2), w),
        lambda x, w: F.conv1d(x, w, stride=2),
        spread(-1, 1, 2, 3, 9), spread(-1, 1, 4, 3, 3)),
    "convolution of images": pair(
        lambda x, w: bs.einsum("bchwij,dcij->bdhw", bs.unfold(bs.unfold(x, 2, 3), 3, 2), w),
        F.conv2d, IMAGE, spread(-1, 1, 2, 3, 3, 2)),
}  # fmt: skip

PRODUCTS = {
    "matmul": alike(lambda lib, x, y: lib.matmul(x, y.mT) ** 2, SIGNED, OTHER),
    "matmul of stacks": alike(lambda lib, x, y: x @ y, SQUARES, SQUARE),
    "matmul with a vector": alike(lambda lib, x, y: x @ y[0], SIGNED, OTHER),
    "einsum": alike(lambda lib, x, y: lib.einsum("ij,kj->ik", x, y), SIGNED, OTHER),
    "einsum of three": alike(lambda lib, x, y, z: lib.einsum("bij,jk,lk->bil", x, y, z),
                             SQUARES, SQUARE, SQUARE + 1),
    "einsum, trace": alike(lambda lib, x: lib.einsum("bii->b", x) ** 2, SQUARES),
    "tensordot": pair(lambda x, y: bs.tensordot(x, y, axes=((0,), (0,))),
                      lambda x, y: torch.tensordot(x, y, dims=((0,), (0,))), SIGNED, OTHER),
    "outer": alike(lambda lib, x, y: lib.outer(x[0], y[1]), SIGNED, OTHER),
    "kron": alike(lambda lib, x, y: lib.kron(x, y), SIGNED, SQUARE),
    "cross": pair(partial(bs.linalg.cross, axis=0), partial(torch.linalg.cross, dim=0), SIGNED,
                  OTHER),
    "vecdot": alike(lambda lib, x, y: lib.linalg.vecdot(x, y), SIGNED, OTHER),
    "trace": alike(lambda lib, x: lib.trace(x @ x.mT), SIGNED),
    "diagonal": alike(lambda lib, x: lib.diagonal(x, offset=1) ** 2, SIGNED),
}  # fmt: skip


def definite(x: Any) -> Any:
    """A Hermitian matrix whose eigenvalues are positive."""
    return x @ x.mT.conj()


def eigen(lib: Any, x: Any) -> Any:
    """Eigenvalues and what of eigenvectors does not depend on their phase."""
    values, vectors = lib.linalg.eigh(definite(x))
    return values, (vectors * lib.sin(values)[..., None, :]) @ vectors.mT.conj(), lib.abs(vectors)


def singular(lib: Any, x: Any) -> Any:
    """Singular values and what of singular vectors does not depend on their phase."""
    left, values, right = lib.linalg.svd(x, full_matrices=False)
    return values, (left * lib.sin(values)[..., None, :]) @ right, lib.abs(left), lib.abs(right)


def triangular(lib: Any, x: Any) -> Any:
    """The factors of a QR decomposition, but for the signs, which are free."""
    left, right = lib.linalg.qr(x)
    return lib.abs(left), lib.abs(right)


MATRICES = {
    **named("linalg.eigvalsh linalg.cholesky", SYMMETRIC),
    **named("linalg.inv linalg.det linalg.pinv linalg.svdvals", SQUARES),
    **named("linalg.matrix_norm", SQUARES),
    **named("linalg.vector_norm", SIGNED),
    **named("linalg.solve", SQUARES, SQUARES + 1),
    "solve for a vector": alike(lambda lib, x, y: lib.linalg.solve(x, y[0]), SQUARE, SQUARE + 1),
    "solve_triangular": alike(lambda lib, x, y: lib.linalg.solve_triangular(x, y, upper=True),
                              SQUARES, SQUARES + 1),
    "slogdet": alike(lambda lib, x: lib.linalg.slogdet(x)[1], SQUARES),
    "cholesky": alike(lambda lib, x: lib.linalg.cholesky(definite(x)), SQUARES),
    "eigh": alike(eigen, SQUARES),
    "svd, tall": alike(singular, TALL),
    "svd, wide": alike(singular, WIDE),
    "qr": alike(triangular, TALL),
    "lu": alike(lambda lib, x: tuple(lib.linalg.lu(x))[1:], SQUARE),
    "pinv": alike(lambda lib, x: lib.linalg.pinv(x), TALL),
    "matrix_power": alike(lambda lib, x: lib.linalg.matrix_power(x, 3), SQUARES),
    "matrix_power, inverse": alike(lambda lib, x: lib.linalg.matrix_power(x, -2), SQUARES),
    "cond": alike(lambda lib, x: lib.linalg.cond(x), SQUARES),
    "multi_dot": alike(lambda lib, x, y: lib.linalg.multi_dot([x, y.mT, x]), SIGNED, OTHER),
    **{
        f"vector_norm, {order}": alike(
            lambda lib, x, order=order: lib.linalg.vector_norm(x, ord=order, dim=-1), SIGNED)
        for order in (1, 3, 0.5, -2, np.inf, -np.inf)
    },
    **{
        f"matrix_norm, {order}": alike(
            lambda lib, x, order=order: lib.linalg.matrix_norm(x, ord=order), SQUARES)
        for order in ("nuc", 2, -2, 1, np.inf)
    },
}  # fmt: skip

FOURIER = {
    **named("fft.fft fft.ifft fft.rfft fft.ihfft fft.fft2 fft.rfft2", SIGNED),
    **named("fft.irfft fft.hfft fft.irfft2 fft.fftn fft.ifftn", COMPLEX),
    "fft, ortho": alike(lambda lib, x: lib.fft.fft(x, n=6, dim=0, norm="ortho"), COMPLEX),
    "irfft, odd": alike(lambda lib, x: lib.fft.irfft(x, n=5, norm="forward"), COMPLEX),
    "fftshift": alike(lambda lib, x: lib.fft.fftshift(x) ** 2, SIGNED),
    "stft": pair(lambda x: bs.stft(x, 6, 2, bs.asarray(WINDOW)),
                 lambda x: torch.stft(x, 6, 2, window=torch.asarray(WINDOW), return_complex=True),
                 LONG),
    "a convolution": alike(
        lambda lib, x, y: lib.fft.irfft(lib.fft.rfft(x) * lib.fft.rfft(y), n=4), SIGNED, OTHER),
}  # fmt: skip

GRIDS = {
    **{
        f"grid_sample, {mode}, {outside}": pair(
            partial(bs.grid_sample, mode=mode, padding_mode=outside),
            partial(F.grid_sample, mode=mode, padding_mode=outside, align_corners=False),
            IMAGE, GRID, order=1 if mode == "nearest" else 2)
        for mode in ("bilinear", "nearest") for outside in ("zeros", "border", "reflection")
    },
    "affine_grid": pair(lambda x: bs.affine_grid(x, (2, 3, 5, 4)),
                        lambda x: F.affine_grid(x, (2, 3, 5, 4), align_corners=False),
                        spread(-1, 1, 2, 2, 3)),
}  # fmt: skip

COMPLEXES = {
    **named("exp sin cos tan sinh cosh tanh sqrt log abs square reciprocal real imag conj sum prod "
            "mean asinh", COMPLEX),
    **named("multiply divide pow add", COMPLEX, COMPLEX_OTHER),
    **named("linalg.inv linalg.det", COMPLEX_SQUARE),
    "vecdot": alike(lambda lib, x, y: lib.linalg.vecdot(x, y), COMPLEX, COMPLEX_OTHER),
    "matmul": alike(lambda lib, x, y: x @ y.mT, COMPLEX, COMPLEX_OTHER),
    "einsum": alike(lambda lib, x, y: lib.einsum("ij,kj->ik", x, y), COMPLEX, COMPLEX_OTHER),
    "vector_norm": alike(lambda lib, x: lib.linalg.vector_norm(x), COMPLEX),
    "cumulative_prod": pair(partial(bs.cumulative_prod, axis=1), partial(torch.cumprod, dim=1),
                            COMPLEX),
    "var": alike(lambda lib, x: lib.var(x, dim=1, correction=0), COMPLEX),
    "solve": alike(lambda lib, x, y: lib.linalg.solve(x, y), COMPLEX_SQUARE, COMPLEX),
    "cholesky": alike(lambda lib, x: lib.linalg.cholesky(definite(x)), COMPLEX_SQUARE),
    "eigh": alike(eigen, COMPLEX_SQUARE),
    "svd": alike(singular, COMPLEX),
    "a real one times a complex one": alike(lambda lib, x, y: lib.exp(x * y), SIGNED, COMPLEX),
    "repeated rows": alike(lambda lib, x: x[lib.asarray(ROWS)] ** 2, COMPLEX),
}  # fmt: skip

WEIGHT, BIAS, DEEP = spread(-1, 1, 4, 3, 3, 2), spread(-1, 1, 4), spread(-1, 1, 6, 1, 2, 2)
IMAGES = {
    "convolve": pair(partial(bs.convolve, stride=(2, 1), padding=(1, 2)),
                     partial(F.conv2d, stride=(2, 1), padding=(1, 2)), IMAGE, WEIGHT, BIAS),
    "convolve, same": pair(partial(bs.convolve, padding="same", dilation=2),
                           partial(F.conv2d, padding="same", dilation=2), IMAGE, WEIGHT),
    "convolve, groups": pair(partial(bs.convolve, groups=3, stride=2),
                             partial(F.conv2d, groups=3, stride=2), IMAGE, DEEP),
    "convolve_transposed": pair(
        partial(bs.convolve_transposed, stride=2, padding=1, output_padding=(0, 1)),
        partial(F.conv_transpose2d, stride=2, padding=1, output_padding=(0, 1)),
        spread(-1, 1, 2, 4, 3, 2), WEIGHT, spread(-1, 1, 3)),
    "max_pool": pair(partial(bs.max_pool, window=3, stride=2, padding=1),
                     partial(F.max_pool2d, kernel_size=3, stride=2, padding=1), IMAGE),
    "mean_pool": pair(
        partial(bs.mean_pool, window=3, stride=2, padding=1, count_padding=False),
        partial(F.avg_pool2d, kernel_size=3, stride=2, padding=1, count_include_pad=False), IMAGE),
    "adaptive_mean_pool": pair(lambda x: bs.adaptive_mean_pool(x, (3, 2)),
                               lambda x: F.adaptive_avg_pool2d(x, (3, 2)), IMAGE),
}  # fmt: skip

TABLE = {
    f"{topic}: {name}": row
    for topic, rows in {
        "elementwise": ELEMENTWISE, "activations": ACTIVATIONS, "reductions": REDUCTIONS,
        "sorting": SORTING, "indexing": INDEXING, "products": PRODUCTS, "matrices": MATRICES,
        "fourier": FOURIER, "grids": GRIDS, "complex": COMPLEXES, "images": IMAGES,
    }.items()
    for name, row in rows.items()
}  # fmt: skip
