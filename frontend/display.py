"""Tensors as people see them: text with the middle of large ones left out, and HTML.

Comes in: a tensor. Goes out: text.
Never: an error inside a trace: what has no value yet says so.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from struct import pack
from typing import TYPE_CHECKING, Any
from zlib import compress, crc32

import numpy as np

from ..runtime.device import current_device
from .tensor import host_array

if TYPE_CHECKING:
    from .tensor import Tensor

SHOWN_AT_MOST = 1000
PICTURE_AT_MOST = 128
Array = np.ndarray[Any, Any]


def text(tensor: Tensor) -> str:
    """`tensor([1.0, 2.0], dtype=float32)`; a stand-in shows its type and where it was made."""
    node = tensor.node
    described = f"{tensor.dtype}[{', '.join(map(str, tensor.shape))}]"
    if node.trace is not None:
        return f"<{described} inside {node.trace.kind}, made at {node.location or 'its arguments'}>"
    if tensor.donated:
        return f"<{described}, donated at {node.location}>"
    lines = _lines(host_array(tensor, "print"), "tensor(")
    usual = str(tensor.device) == str(current_device())
    device = "" if usual else f", device='{tensor.device}'"
    tracked = ", requires_grad=True" if tensor.requires_grad else ""
    empty = f", shape={tensor.shape}" if 0 in tensor.shape else ""
    return f"tensor({lines}{empty}, dtype={tensor.dtype}{device}{tracked})"


def _lines(array: Array, before: str) -> str:
    """The elements, as numpy sets them out, indented to stand behind `before`."""
    if array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict:
        array = array.astype(np.float32)  # numpy does not know how to print narrow floats
    return np.array2string(
        array, separator=", ", prefix=before, threshold=SHOWN_AT_MOST, precision=6
    )


def html(tensor: Tensor) -> str:
    """What the tensor is, what lies in it, and a picture of it if it is a matrix."""
    rows = {"shape": str(list(tensor.shape)), "dtype": str(tensor.dtype)}
    rows["device"] = str(tensor.device)
    node = tensor.node
    if node.trace is not None or tensor.donated:
        return _table({**rows, "value": text(tensor)})
    array = host_array(tensor, "print")
    if array.dtype.kind not in "biufc":
        array = array.astype(np.float32)
    rows |= _summary(array)
    picture = _picture(array) if array.ndim == 2 and array.size and array.dtype.kind != "c" else ""
    shown = f"<pre>{escape(_lines(array, ''))}</pre>" if array.size <= SHOWN_AT_MOST else ""
    return f"<div>{_table(rows)}{picture}{shown}</div>"


def _summary(array: Array) -> dict[str, str]:
    """The range, the average and the numbers of NaNs and infinities."""
    if array.size == 0 or array.dtype.kind == "c":
        return {"elements": str(array.size)}
    numbers = array.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    rows = {"elements": str(array.size)}
    if finite.size:
        rows["range"] = f"{finite.min():.6g} … {finite.max():.6g}"
        rows["mean"] = f"{finite.mean():.6g}"
    if array.dtype.kind == "f":
        rows["NaN"] = str(int(np.isnan(numbers).sum()))
        rows["infinite"] = str(int(np.isinf(numbers).sum()))
    return rows


def _table(rows: dict[str, str]) -> str:
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left"><code>{escape(value)}</code></td></tr>'
        for name, value in rows.items()
    )
    return f"<table>{cells}</table>"


def _picture(array: Array) -> str:
    """A matrix as a small picture: dark is low, light is high, red is not finite."""
    rows, columns = (-(-size // PICTURE_AT_MOST) for size in array.shape)
    values = array[::rows, ::columns].astype(np.float64)
    finite = np.isfinite(values)
    low, high = (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 0.0)
    span = (high - low) or 1.0
    gray = np.where(finite, (np.where(finite, values, low) - low) / span * 255, 0).astype(np.uint8)
    pixels = np.stack([np.where(finite, gray, 255), gray, gray], axis=-1).astype(np.uint8)
    encoded = b64encode(_png(pixels)).decode()
    style = "image-rendering:pixelated;width:12em"
    source = f"data:image/png;base64,{encoded}"
    return f'<img alt="the matrix as a picture" style="{style}" src="{source}">'


def _png(pixels: Array) -> bytes:
    """Rows of RGB pixels as a PNG file."""
    height, width = pixels.shape[:2]
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)
    parts = [
        (b"IHDR", pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", compress(raw)),
        (b"IEND", b""),
    ]
    chunks = [
        pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data)) for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
