"""Files as PyTorch writes them, without PyTorch.

Comes in: a value in which tensors are described, and the bytes of their storages. Goes out: the
bytes of a file, of the kind that there is now or of the old one.
Never: what `torch.save` would not write, unless asked for.
"""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from kit.pickles import Call, Named, Persistent, pickled

MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
HOOKS = Call(Named("collections", "OrderedDict"))
STORAGES = {
    "float32": "FloatStorage", "float64": "DoubleStorage", "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage", "int64": "LongStorage", "int32": "IntStorage",
    "int16": "ShortStorage", "int8": "CharStorage", "uint8": "ByteStorage", "bool": "BoolStorage",
    "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage",
}  # fmt: skip
Storages = Mapping[str, np.ndarray[Any, Any]]


def storage(key: Any, kind: str, count: Any, *more: Any) -> Persistent:
    """Stored elements, by the name of their class."""
    return Persistent(("storage", Named("torch", kind), key, "cpu", count, *more))


def view(stored: Any, offset: Any, shape: Any, strides: Any) -> Call:
    """A tensor: some of the stored elements."""
    rebuild = Named("torch._utils", "_rebuild_tensor_v2")
    return Call(rebuild, (stored, offset, shape, strides, False, HOOKS))


def tensor(key: str, array: np.ndarray[Any, Any], *more: Any) -> Call:
    """A tensor that has a storage of its own."""
    strides = tuple(step // array.itemsize for step in array.strides)
    stored = storage(key, STORAGES[array.dtype.name], array.size, *more)
    return view(stored, 0, array.shape, strides)


def zipped(value: Any, storages: Storages | None = None, **entries: bytes) -> bytes:
    """A file; `entries` are further ones, or replace those that there are."""
    files = {"data.pkl": pickled(value), "byteorder": b"little", "version": b"3\n"}
    files |= {f"data/{key}": array.tobytes() for key, array in (storages or {}).items()}
    return archive({f"model/{name}": raw for name, raw in (files | entries).items()})


def archive(entries: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", method) as file:
        for name, raw in entries.items():
            file.writestr(zipfile.ZipInfo(name), raw, method)
    return memory.getvalue()


def legacy(value: Any, storages: Storages | None = None, *, little: bool = True) -> bytes:
    """A file of the old kind."""
    storages = storages or {}
    machine = {"protocol_version": 1001, "little_endian": little, "type_sizes": {}}
    pickles = [pickled(each) for each in (1001, machine, value, [*storages])]
    regions = [array.size.to_bytes(8, "little") + array.tobytes() for array in storages.values()]
    return MAGIC + b"".join(pickles + regions)
