"""Tensors that lie in a file, and are read when somebody asks for their elements.

Comes in: mapped memory, with a dtype, a shape and strides. Goes out: tensors, each a copy.
Never: a tensor that shares the memory of a file, which others may write to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from math import prod
from types import EllipsisType
from typing import Any

import numpy as np

from ..frontend.dtypes import DType, as_dtype
from ..frontend.errors import DTypeError, PlaceError, fail
from ..frontend.functions.creation import asarray
from ..frontend.tensor import Tensor
from ..ir import dtypes as ir
from ..ir.interpreter.arrays import convert
from .errors import MissingTensor, Refused, listed

MOST_AXES = 64
MOST_BYTES = 1 << 62
_PLACES = (int, np.integer, slice, EllipsisType)
HostArray = np.ndarray[Any, Any]


class Stored:
    """A tensor in a file: its shape and dtype are known, and `stored[2:4]` reads a part of it."""

    __slots__ = ("array", "dtype")

    def __init__(
        self,
        memory: memoryview,
        dtype: DType,
        shape: Sequence[int],
        offset: int = 0,
        strides: Sequence[int] | None = None,
    ) -> None:
        """`offset` and `strides` count bytes, and whoever made them has checked them."""
        self.dtype = dtype
        # numpy has a look of its own at whether all elements lie inside the memory.
        self.array: HostArray = np.ndarray(tuple(shape), dtype.dtype, memory, offset, strides)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self.array.shape

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.array.nbytes

    def read(self, *, dtype: Any = None, device: Any = None) -> Tensor:
        """All of it; floats become `dtype`, where one is given that is not its own."""
        is_own = dtype is not None and as_dtype(dtype) is self.dtype
        wanted = None if is_own else float_dtype(dtype, "read")
        return _read(self.array, self.dtype, wanted, device)

    def __getitem__(self, place: Any) -> Tensor:
        for each in place if isinstance(place, tuple) else (place,):
            if not isinstance(each, _PLACES) or isinstance(each, bool):
                fail(
                    PlaceError, "slice", f"{each!r:.60} is no place in a file", self,
                    hint="take integers and slices here, and index the tensor that you get",
                )  # fmt: skip
        try:
            part = self.array[place]
        except (IndexError, TypeError) as problem:
            fail(PlaceError, "slice", str(problem), self)
        return _read(np.asarray(part), self.dtype, None, None)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> HostArray:
        """A copy for numpy, which is never handed the memory of a file."""
        if copy is False:
            raise ValueError("a tensor in a file is not seen without a copy")
        return np.array(_elements(self.array), dtype)

    def __repr__(self) -> str:
        return f"Stored({self.dtype}, {list(self.shape)})"


class Reader(Mapping[str, Stored]):
    """The tensors of a file by name; as a context it lets go of the file at the end."""

    def __init__(
        self, path: str, tensors: Mapping[str, Stored], metadata: Mapping[str, str] | None = None
    ) -> None:
        self.path, self.metadata = path, dict(metadata or {})
        self._tensors = dict(tensors)
        self._closed = False

    def __getitem__(self, name: str) -> Stored:
        if name not in self._tensors:
            if self._closed:
                fail(MissingTensor, "open", f"{self.path} is closed")
            near = get_close_matches(str(name), islice(self._tensors, 1000))
            hint = f"there is {listed(near)}" if near else ""
            fail(MissingTensor, "open", f"{self.path} has no tensor {name!r:.80}", hint=hint)
        return self._tensors[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def read(self, *, dtype: Any = None, device: Any = None) -> dict[str, Tensor]:
        """Every tensor; floats become `dtype`, where one is given."""
        wanted = float_dtype(dtype, "read")
        return {
            name: _read(stored.array, stored.dtype, wanted, device)
            for name, stored in self._tensors.items()
        }

    def close(self) -> None:
        """Let go of the file; what was taken out of it before stays."""
        self._tensors, self._closed = {}, True

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Reader({self.path!r}, {len(self)} tensors)"


def refuse_shape(shape: Sequence[Any], itemsize: int) -> None:
    """Refuse what is no shape, or one whose elements would not fit into any memory."""
    if len(shape) > MOST_AXES:
        raise Refused(f"{len(shape)} axes are more than {MOST_AXES}")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise Refused("the sizes of its axes are not all integers from 0 up")
    if prod(max(size, 1) for size in shape) * itemsize > MOST_BYTES:
        raise Refused("its elements would fit into no memory")


def float_dtype(dtype: Any, operation: str) -> DType | None:
    """What floats become; None where they stay."""
    if dtype is None:
        return None
    found = as_dtype(dtype)
    if found.ir not in ir.FLOATS:
        fail(DTypeError, operation, f"floats become another float dtype, not {found}")
    return found


def _read(array: HostArray, dtype: DType, wanted: DType | None, device: Any) -> Tensor:
    """A tensor of its own memory."""
    if wanted is not None and dtype.ir in ir.FLOATS and wanted is not dtype:
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large is infinite
            array = np.asarray(convert(array, dtype.ir, wanted.ir), order="C")
        return asarray(array, device=device, copy=False)
    return asarray(_elements(array), device=device)


def _elements(array: HostArray) -> HostArray:
    """The same, but for booleans: a file may hold bytes that are neither 0 nor 1."""
    return array.view(np.uint8) != 0 if array.dtype == np.bool_ else array
