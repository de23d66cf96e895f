"""Fourier transforms as the array API has them: complex, real, Hermitian, over one axis or many.

Comes in: tensors of floats or complex numbers; integers become floats, narrow floats float32. Goes
out: tensors of the same width. Transforms are computed by `dft.py`.
Never: a length that is not known when the function is called.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import minimum
from ..dtypes import OF_IR
from ..errors import ArgumentError, DTypeError, ShapeError, fail, one_of
from ..handle import wrap
from ..node import Node, record
from ..unseen import looked_at
from .common import as_axes, as_axis, as_integer, as_ir_dtype, as_node, cast_node, either, filled
from .creation import FLOAT, arange
from .dft import as_complex, transform
from .manipulation import part, permuted, roll
from .real_dft import half_of_transform, real_transform

if TYPE_CHECKING:
    from ..tensor import Tensor

SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def fft(
    x: Any, /, n: int | None = None, axis: Any = None, norm: str = "backward", *, dim: Any = None
) -> Tensor:
    """sum over j of x[j] * exp(-2πi * j * k / n) along an axis, cut or padded to length n."""
    return _complex("fft", x, n, either(axis, dim, -1, "fft", "axis, dim"), norm, False)


def ifft(
    x: Any, /, n: int | None = None, axis: Any = None, norm: str = "backward", *, dim: Any = None
) -> Tensor:
    """The inverse of `fft`: (1 / n) * sum over k of x[k] * exp(2πi * j * k / n)."""
    return _complex("ifft", x, n, either(axis, dim, -1, "ifft", "axis, dim"), norm, True)


def rfft(
    x: Any, /, n: int | None = None, axis: Any = None, norm: str = "backward", *, dim: Any = None
) -> Tensor:
    """`fft` of real numbers: its first n // 2 + 1 elements, of which the others are conjugates."""
    axis = either(axis, dim, -1, "rfft", "axis, dim")
    return _real_forward("rfft", x, n, axis, norm, inverse=False)


def irfft(
    x: Any, /, n: int | None = None, axis: Any = None, norm: str = "backward", *, dim: Any = None
) -> Tensor:
    """The inverse of `rfft`: n real numbers, 2 * (size - 1) if nothing else is said."""
    axis = either(axis, dim, -1, "irfft", "axis, dim")
    return _real_backward("irfft", x, n, axis, norm, inverse=True)


def hfft(
    x: Any, /, n: int | None = None, axis: Any = None, norm: str = "backward", *, dim: Any = None
) -> Tensor:
    """`fft` of what is Hermitian, given by its first half: n real numbers."""
    axis = either(axis, dim, -1, "hfft", "axis, dim")
    return _real_backward("hfft", x, n, axis, norm, inverse=False)


def ihfft(
    x: Any, /, n: int | None = None, axis: Any = None, norm: str = "backward", *, dim: Any = None
) -> Tensor:
    """The inverse of `hfft`: the first n // 2 + 1 elements of the `ifft` of real numbers."""
    axis = either(axis, dim, -1, "ihfft", "axis, dim")
    return _real_forward("ihfft", x, n, axis, norm, inverse=True)


def fftn(
    x: Any, /, s: Sequence[int] | None = None, axes: Any = None, norm: str = "backward"
) -> Tensor:
    """`fft` along several axes, or all; `s` says to which lengths these are cut or padded."""
    return _many("fftn", x, s, axes, norm, inverse=False)


def ifftn(
    x: Any, /, s: Sequence[int] | None = None, axes: Any = None, norm: str = "backward"
) -> Tensor:
    """The inverse of `fftn`."""
    return _many("ifftn", x, s, axes, norm, inverse=True)


def rfftn(
    x: Any, /, s: Sequence[int] | None = None, axes: Any = None, norm: str = "backward"
) -> Tensor:
    """`rfft` along the last of the axes, then `fft` along the others."""
    node = _inexact("rfftn", x)
    *others, (axis, length) = _axes_and_lengths("rfftn", node, s, axes)
    made = _real_forward("rfftn", wrap(node), length, axis, norm, inverse=False)
    return _along("rfftn", made, others, norm, inverse=False)


def irfftn(
    x: Any, /, s: Sequence[int] | None = None, axes: Any = None, norm: str = "backward"
) -> Tensor:
    """The inverse of `rfftn`: `ifft` along the axes but the last, along which `irfft`."""
    node = _inexact("irfftn", x)
    *others, (axis, length) = _axes_and_lengths("irfftn", node, s, axes)
    made = _along("irfftn", wrap(node), others, norm, inverse=True)
    return _real_backward("irfftn", made, length, axis, norm, inverse=True)


def fft2(
    x: Any, /, s: Sequence[int] | None = None, axes: Any = (-2, -1), norm: str = "backward"
) -> Tensor:
    """`fftn` along two axes."""
    return fftn(x, s=s, axes=axes, norm=norm)


def ifft2(
    x: Any, /, s: Sequence[int] | None = None, axes: Any = (-2, -1), norm: str = "backward"
) -> Tensor:
    """`ifftn` along two axes."""
    return ifftn(x, s=s, axes=axes, norm=norm)


def rfft2(
    x: Any, /, s: Sequence[int] | None = None, axes: Any = (-2, -1), norm: str = "backward"
) -> Tensor:
    """`rfftn` along two axes."""
    return rfftn(x, s=s, axes=axes, norm=norm)


def irfft2(
    x: Any, /, s: Sequence[int] | None = None, axes: Any = (-2, -1), norm: str = "backward"
) -> Tensor:
    """`irfftn` along two axes."""
    return irfftn(x, s=s, axes=axes, norm=norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of `fft`'s results: 0, 1, …, then the negative ones up to -1, over n * d."""
    length, kind = _count("fftfreq", n), _frequency_dtype("fftfreq", dtype)
    half = (length + 1) // 2
    counted = roll(arange(half - length, half, dtype=ir.f64, device=device), half)
    return wrap(cast_node((counted / (length * d)).node, kind))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of `rfft`'s results: 0, 1, …, n // 2, over n * d."""
    length, kind = _count("rfftfreq", n), _frequency_dtype("rfftfreq", dtype)
    counted = arange(length // 2 + 1, dtype=ir.f64, device=device)
    return wrap(cast_node((counted / (length * d)).node, kind))


def fftshift(x: Any, /, axes: Any = None) -> Tensor:
    """The elements along the axes, or all, moved so that frequency 0 is in the middle."""
    node = as_node(x, "fftshift")
    places = as_axes(axes, len(node.type.shape), "fftshift")
    sizes = looked_at(node.type.shape)
    return roll(wrap(node), [sizes[each] // 2 for each in places], axis=places)


def ifftshift(x: Any, /, axes: Any = None) -> Tensor:
    """The inverse of `fftshift`."""
    node = as_node(x, "ifftshift")
    places = as_axes(axes, len(node.type.shape), "ifftshift")
    sizes = looked_at(node.type.shape)
    return roll(wrap(node), [-(sizes[each] // 2) for each in places], axis=places)


def _count(name: str, n: Any) -> int:
    length = as_integer(n, name, "a length")
    if length < 1:
        fail(ArgumentError, name, f"a length is at least 1, not {length}")
    return length


def _frequency_dtype(name: str, dtype: Any) -> ir.DType:
    kind = as_ir_dtype(dtype, FLOAT)
    if kind not in ir.FLOATS:
        fail(DTypeError, name, f"frequencies are floats, not {OF_IR[kind]}")
    return kind


def _inexact(name: str, x: Any) -> Node:
    """Floats or complex numbers of at least 32 bits a part."""
    node = as_node(x, name)
    if node.type.dtype not in ir.INEXACT:
        return cast_node(node, FLOAT)
    return cast_node(node, node.type.dtype.accumulator)


def _as_real(name: str, x: Any) -> Node:
    node = _inexact(name, x)
    if node.type.dtype in ir.COMPLEXES:
        fail(DTypeError, name, "transforms real numbers", x, hint="`bs.fft.fft` takes complex ones")
    return node


def _length(name: str, node: Node, axis: Any, n: Any, of_half: bool = False) -> int:
    """The length of a transform: n, or the axis's, or what the axis is the first half of."""
    shape = node.type.shape
    if not shape:
        fail(ShapeError, name, "a tensor of rank 0 has no axis", wrap(node))
    size: Any = looked_at(shape[as_axis(axis, len(shape), name)])
    if n is None and not isinstance(size, int):
        fail(
            ShapeError, name, f"the length {size} of axis {axis} is not known", wrap(node),
            hint="leave this axis out of `dynamic`, or give `n`",
        )  # fmt: skip
    length = 2 * (size - 1) if n is None and of_half else size if n is None else n
    length = as_integer(length, name, "a length")
    if length < 1:
        fail(ArgumentError, name, f"a length is at least 1, not {length}", wrap(node))
    return length


def _fronted(name: str, node: Node, axis: Any, size: int) -> Node:
    """The axis at the end, cut or padded to a size."""
    rank = len(node.type.shape)
    place = as_axis(axis, rank, name)
    order = (*range(place), *range(place + 1, rank), place)
    return _fitted(permuted(node, order), size)


def _fitted(node: Node, size: int) -> Node:
    """The last axis cut to a size, or padded with zeros."""
    own, last = node.type.shape[-1], len(node.type.shape) - 1
    if own == size:
        return node
    kept = minimum(own, size)
    node = part(node, last, 0, kept)
    if kept == size:
        return node
    none = (0,) * len(node.type.shape)
    value = filled(0, (), node.type.dtype).attributes[0]
    return record(ops.Pad, (node,), (none, (*none[1:], size - kept), none, value))


def _back(node: Node, axis: int, rank: int) -> Tensor:
    """The last axis where it came from."""
    place = axis % rank
    order = [*range(rank - 1)]
    order.insert(place, rank - 1)
    return wrap(permuted(node, tuple(order)))


def _scaled(name: str, node: Node, norm: str, inverse: bool, length: int) -> Node:
    """The node over n or √n, as the norm says."""
    one_of(name, "norm", norm, [*SWAPPED])
    divided = norm == ("backward" if inverse else "forward")
    factor = 1 / length if divided else 1 / sqrt(length) if norm == "ortho" else 1.0
    if factor == 1.0:
        return node
    return record(ops.Multiply, (node, filled(factor, node.type.shape, node.type.dtype)))


def _complex(name: str, x: Any, n: Any, axis: Any, norm: str, inverse: bool) -> Tensor:
    """A transform of complex numbers along one axis."""
    given = as_complex(_inexact(name, x))
    length = _length(name, given, axis, n)
    made = transform(_fronted(name, given, axis, length), inverse)
    return _back(_scaled(name, made, norm, inverse, length), axis, len(given.type.shape))


def _real_forward(name: str, x: Any, n: Any, axis: Any, norm: str, inverse: bool) -> Tensor:
    """The first half of the transform of real numbers."""
    given = _as_real(name, x)
    length, rank = _length(name, given, axis, n), len(given.type.shape)
    half = half_of_transform(_fronted(name, given, axis, length), inverse)
    return _back(_scaled(name, half, norm, inverse, length), axis, rank)


def _real_backward(name: str, x: Any, n: Any, axis: Any, norm: str, inverse: bool) -> Tensor:
    """The real transform of Hermitian numbers, of which the first half is given."""
    given = as_complex(_inexact(name, x))
    length, rank = _length(name, given, axis, n, of_half=True), len(given.type.shape)
    node = _fronted(name, given, axis, length // 2 + 1)
    made = real_transform(node, length, inverse)
    return _back(_scaled(name, made, norm, inverse, length), axis, rank)


def _many(name: str, x: Any, s: Any, axes: Any, norm: str, inverse: bool) -> Tensor:
    """A transform of complex numbers along several axes."""
    node = as_complex(_inexact(name, x))
    return _along(name, wrap(node), _axes_and_lengths(name, node, s, axes), norm, inverse)


def _along(name: str, x: Tensor, pairs: Sequence[Any], norm: str, inverse: bool) -> Tensor:
    for axis, length in reversed(pairs):
        x = _complex(name, x, length, axis, norm, inverse)
    return x


def _axes_and_lengths(name: str, node: Node, s: Any, axes: Any) -> list[tuple[int, Any]]:
    """Each axis with the length asked for; without axes the last ones, as many as lengths."""
    rank = len(node.type.shape)
    if s is not None and not isinstance(s, Collection):
        fail(ArgumentError, name, "`s` is a length for each axis", s)
    if axes is None and s is not None:
        axes = tuple(range(rank - len(s), rank))
    places = as_axes(axes, rank, name)
    if not places:
        fail(ArgumentError, name, "there is no axis to transform", wrap(node))
    lengths = [None] * len(places) if s is None else [None if each == -1 else each for each in s]
    if len(lengths) != len(places):
        problem = f"{len(lengths)} lengths are given for {len(places)} axes"
        fail(ArgumentError, name, problem, wrap(node))
    return list(zip(places, lengths, strict=True))
