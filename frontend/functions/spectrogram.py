"""Signals as spectra over time, and back: the short-time Fourier transform.

Comes in: signals along the last axis. Goes out: complex spectra: batch axes, frequencies, frames.
Never: a frame that hangs over the end of the signal, which is padded first if `center` asks for it.
"""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..errors import ArgumentError, DTypeError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record
from .common import as_integer, as_node, broadcast_node, cast_node, filled
from .elementwise import conj, real
from .fourier import fft, ifft, irfft, rfft
from .logic import greater, where
from .manipulation import part, permuted, reshaped, swapaxes
from .padding import pad

if TYPE_CHECKING:
    from ..tensor import Tensor


def stft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    window: Any = None,
    *,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
) -> Tensor:
    """The spectra of pieces of a signal, `hop_length` (n_fft // 4) apart, each times the window.

    `center` pads the signal so that frame i is around element i * hop_length; `normalized` divides
    by √n_fft. Of real signals the first half of each spectrum is made, unless not `onesided`.
    """
    size, hop = _lengths("stft", n_fft, hop_length)
    node = as_node(x, "stft")
    if node.type.dtype not in ir.INEXACT or not node.type.shape:
        fail(DTypeError, "stft", "a signal is a float or complex tensor with an axis", x)
    if center:
        none = [(0, 0)] * (len(node.type.shape) - 1)
        node = pad(wrap(node), [*none, (size // 2, size // 2)], mode=pad_mode).node
    weights = _weights("stft", window, size, node.type.dtype)
    is_complex = ir.COMPLEXES & {node.type.dtype, weights.type.dtype}
    if onesided and is_complex:
        fail(ArgumentError, "stft", "the spectrum of a complex signal has no halves", x)
    pieces = wrap(_framed(node, size, hop)) * wrap(weights)
    norm = "ortho" if normalized else "backward"
    whole = is_complex or onesided is False
    return swapaxes((fft if whole else rfft)(pieces, norm=norm), -1, -2)


def istft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    window: Any = None,
    *,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
) -> Tensor:
    """The signal whose `stft` is nearest to x: pieces added up, over the squares of the windows.

    With `center` the padding is cut off. `length` cuts the signal, or pads it with zeros. Where no
    window reaches, the signal is 0.
    """
    size, hop = _lengths("istft", n_fft, hop_length)
    node = as_node(x, "istft")
    rows = size // 2 + 1 if onesided else size
    if len(node.type.shape) < 2 or node.type.shape[-2] != rows:
        fail(ShapeError, "istft", f"the axis before the last has the {rows} frequencies", x)
    norm = "ortho" if normalized else "backward"
    spectra = swapaxes(x, -1, -2)
    pieces = irfft(spectra, n=size, norm=norm) if onesided else ifft(spectra, norm=norm)
    weights = wrap(_weights("istft", window, size, pieces.node.type.dtype))
    summed = _overlapped((pieces * conj(weights)).node, hop)
    squares = real(weights * conj(weights))
    lines = wrap(broadcast_node(squares.node, pieces.shape[-2:]))
    total = wrap(_overlapped(lines.node, hop))
    covered = greater(total, 1e-11)
    signal = where(covered, wrap(summed) / where(covered, total, 1.0), 0.0)
    return wrap(_trimmed(signal.node, size // 2 if center else 0, length))


def _lengths(name: str, n_fft: Any, hop_length: Any) -> tuple[int, int]:
    size = as_integer(n_fft, name, "`n_fft`")
    hop = max(size // 4, 1) if hop_length is None else hop_length
    hop = as_integer(hop, name, "`hop_length`")
    if size < 1 or hop < 1:
        fail(ArgumentError, name, f"n_fft and hop_length are at least 1, not {size} and {hop}")
    return size, hop


def _weights(name: str, window: Any, size: int, dtype: ir.DType) -> Node:
    """The window, in the middle of `size` elements; ones if there is none."""
    kind = dtype.real.accumulator
    if window is None:
        return filled(1.0, (size,), kind)
    node = as_node(window, name)
    own = node.type.shape
    if len(own) != 1 or own[0] > size:
        fail(ShapeError, name, f"a window is a vector of at most n_fft = {size} elements", window)
    if node.type.dtype not in ir.COMPLEXES:
        node = cast_node(node, kind)
    before = (size - own[0]) // 2
    return pad(wrap(node), [(before, size - own[0] - before)]).node


def _framed(node: Node, size: int, hop: int) -> Node:
    """Pieces of the last axis as rows: (…, frames, size)."""
    shape = node.type.shape
    length, rank = shape[-1], len(shape)
    if isinstance(length, int) and length < size:
        problem = f"the signal has {length} elements, a frame {size}"
        fail(ShapeError, "stft", problem, wrap(node))
    frames = (length - size) // hop + 1
    places = reshaped(_places(frames, size, hop), (frames, size, 1))
    found = record(ops.Gather, (node, places), ((rank - 1,), 0, ops.Outside.ERROR))
    return permuted(found, (*range(2, rank + 1), 0, 1))


def _places(frames: Any, size: int, hop: int) -> Node:
    """Where element k of frame i stands: hop * i + k."""
    counts = [record(ops.Iota, (), ((frames, size), axis, ir.i64)) for axis in (0, 1)]
    starts = record(ops.Multiply, (counts[0], filled(hop, (frames, size), ir.i64)))
    return record(ops.Add, (starts, counts[1]))


def _overlapped(node: Node, hop: int) -> Node:
    """Rows, each `hop` places after the one before, added up."""
    *batch, frames, size = node.type.shape
    length = (frames - 1) * hop + size
    lines = product(tuple(batch))
    target = filled(0, (lines, length), node.type.dtype)
    count = frames * size
    places = reshaped(_places(frames, size, hop), (count, 1))
    options = ((1,), 0, ops.Combiner.ADD, ops.Outside.ERROR)
    updates = permuted(reshaped(node, (lines, count)), (1, 0))
    return reshaped(record(ops.Scatter, (target, places, updates), options), (*batch, length))


def _trimmed(node: Node, border: int, length: int | None) -> Node:
    """The last axis without its borders; or `length` elements from behind the first border on."""
    rank, own = len(node.type.shape), node.type.shape[-1]
    if length is None:
        return part(node, rank - 1, border, own - 2 * border)
    missing = max(length + border - own, 0)
    none = [(0, 0)] * (rank - 1)
    longer = pad(wrap(node), [*none, (0, missing)]).node
    return part(longer, rank - 1, border, length)
