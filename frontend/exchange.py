"""DLPack, both ways: memory shared with other libraries, without a copy on the CPU.

Comes in: a tensor, or another library's array. Goes out: a capsule, or a tensor.
Never: memory that a consumer may write to: what is exported is read-only, and a consumer that
cannot be told so gets a copy, unless it says `copy=False` and so promises not to write. The owner
of what is imported promises the same.
"""

from __future__ import annotations

from ctypes import c_char
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dtypes as ir
from .capsules import BFLOAT, UNSIGNED, imported, renamed
from .errors import ArgumentError, DTypeError, fail
from .functions.creation import as_device, asarray
from .handle import Handle
from .tensor import host_array

if TYPE_CHECKING:
    from .tensor import Tensor

CPU = 1  # DLPack's number for host memory


def dlpack_device(tensor: Tensor) -> tuple[int, int]:
    """DLPack's kind of device, and which one."""
    return CPU, 0


def export(
    tensor: Tensor,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """A capsule over the tensor's memory."""
    if dl_device is not None and tuple(dl_device) != (CPU, 0):
        raise BufferError(f"a tensor on {tensor.device} cannot be exported to device {dl_device}")
    array = host_array(tensor, "__dlpack__")
    told = max_version is not None and max_version[0] >= 1
    narrow = array.dtype == ir.bf16.storage
    if narrow:
        array = array.view(np.uint16)
    if array.dtype.isbuiltin != 1:
        raise BufferError(f"DLPack has no {tensor.dtype} that other libraries read")
    if copy is False and not told:
        array = _promised(array)
    elif copy or not told:
        array = array.copy()
    capsule = array.__dlpack__(max_version=max_version) if told else array.__dlpack__()
    return renamed(capsule, UNSIGNED, BFLOAT) if narrow else capsule


def _promised(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory for a consumer of the old protocol, which knows no read-only memory.

    It has asked for no copy, and so promises not to write.
    """
    if array.nbytes == 0:
        return array.copy()
    memory: Any = (c_char * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array  # which the capsule so keeps alive
    return np.frombuffer(memory, array.dtype).reshape(array.shape)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's array, which must not be written to.

    With `copy=True` the elements are copied, and its owner is free.
    """
    place = as_device(device, "from_dlpack")
    if isinstance(x, Handle):
        return asarray(x, device=place, copy=copy)
    if not hasattr(x, "__dlpack__"):
        fail(ArgumentError, "from_dlpack", f"{type(x).__name__} does not speak DLPack")
    try:
        array = imported(x)
    except (BufferError, TypeError, RuntimeError, ValueError) as problem:
        fail(DTypeError, "from_dlpack", str(problem), hint="copy it plainly to host memory")
    shared = not copy and array.flags.c_contiguous
    return asarray(array, device=place, copy=False if shared else None)
