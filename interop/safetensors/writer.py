"""Safetensors files, written.

Comes in: tensors by name. Goes out: a file, with the bytes that the format's own library writes.
Never: a file before every name, dtype and text is found to be fit for one.
"""

import json
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from ...frontend.dtypes import DType, as_dtype
from ...frontend.tensor import Tensor
from ..aside import written_aside
from ..errors import About, Refused, shown
from ..stored import Stored
from ..strict_json import MOST_BYTES
from .header import DTYPES, METADATA, PREFIX

_KINDS = {dtype: kind for kind, dtype in DTYPES.items()}
_RANKS = {dtype: rank for rank, dtype in enumerate(DTYPES.values())}


def save(path: Any, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors, or numpy arrays, by their names, and texts about them.

    The file is written aside and takes the place of an older one when it is on the disk.
    """
    with About("safetensors.save", path) as about:
        if not isinstance(tensors, Mapping):
            kind = type(tensors).__name__
            problem = f"tensors are given by their names, and a {kind} has none"
            raise Refused(f"{problem}; of a model, give `model.state_dict()`")
        sources = {key: _source(key, tensor) for key, tensor in tensors.items()}
        order = sorted(sources, key=lambda key: (-_RANKS[sources[key].dtype], key))
        header = _header({key: sources[key] for key in order}, metadata)
        with written_aside(about.path) as file:
            file.write(len(header).to_bytes(PREFIX, "little"))
            file.write(header)
            for key in order:
                file.write(_bytes(sources[key].tensor))


class _Source:
    """A tensor to write, whose elements are fetched when their turn comes."""

    def __init__(self, tensor: Any, dtype: DType) -> None:
        self.tensor, self.dtype, self.shape = tensor, dtype, tuple(tensor.shape)


def _source(name: Any, tensor: Any) -> _Source:
    _expect_text(name, "the name")
    if name == METADATA:
        raise Refused(f"no tensor is called {METADATA}: it is where the texts about them stand")
    if not isinstance(tensor, Tensor | Stored | np.ndarray):
        raise Refused(f"{shown(name)} is no tensor but {type(tensor).__name__}")
    dtype = as_dtype(tensor.dtype)
    if dtype not in _KINDS:
        raise Refused(f"safetensors has no {dtype}, the dtype of {shown(name)}")
    return _Source(tensor, dtype)


def _expect_text(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise Refused(f"{what} {shown(value)} is no text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Refused(f"{what} {shown(value)} is no Unicode") from None


def _header(sources: Mapping[str, _Source], metadata: Mapping[str, str] | None) -> bytes:
    """The header, filled up with spaces so that the elements begin at a multiple of 8."""
    fields: dict[str, Any] = {}
    if metadata is not None:
        for text in (*metadata, *metadata.values()):
            _expect_text(text, f"in {METADATA},")
        fields[METADATA] = dict(metadata)
    end = 0
    for name, source in sources.items():
        begin, end = end, end + prod(source.shape) * source.dtype.itemsize
        kind = _KINDS[source.dtype]
        fields[name] = {"dtype": kind, "shape": source.shape, "data_offsets": (begin, end)}
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    if len(text) > MOST_BYTES - PREFIX:
        raise Refused(f"the header would have {len(text)} bytes, more than {MOST_BYTES}")
    return text.ljust(-(-len(text) // PREFIX) * PREFIX)


def _bytes(tensor: Any) -> memoryview:
    """The elements of a tensor, row by row."""
    array = np.asarray(tensor, order="C")
    return array.reshape(-1).view(np.uint8).data
