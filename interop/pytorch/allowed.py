"""All that a pickle of weights may name, and what we make of it.

Comes in: a name, and the arguments that a pickle gives it. Goes out: descriptions of tensors, and
values of Python's plain types.
Never: a class or a function of the library that the name belongs to.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...frontend import dtypes
from ...frontend.dtypes import DType
from ..errors import Refused, shown
from ..stored import refuse_shape


class Maker:
    """A name that a pickle may call, as `name(*arguments)`."""

    def __init__(self, name: str, make: Callable[[tuple[Any, ...]], Any]) -> None:
        self.name, self.make = name, make

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        return self.make(arguments)


@dataclass(frozen=True, slots=True)
class StorageKind:
    """A class of storages; one without a dtype counts bytes."""

    dtype: DType | None


@dataclass(frozen=True, slots=True)
class Storage:
    """Stored bytes, by the name that they have in their file."""

    key: str
    dtype: DType | None
    size: int


@dataclass(frozen=True, slots=True)
class View:
    """A tensor: some elements of a storage, where `offset` and `strides` count elements."""

    storage: Storage
    dtype: DType
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumpyDtype:
    """The dtype of one number of numpy's."""

    code: str

    def expect_little(self, state: Any) -> None:
        """Refuse numbers whose first byte is their highest."""
        match state:
            case (int(), "<" | "|", *_):
                return
        raise Refused(f"a number of numpy's dtype {self.code} has another order of bytes")


def called(value: Any) -> str:
    """What a value is called in errors."""
    return value.name if isinstance(value, Maker) else f"a value of kind {type(value).__name__}"


def plain_key(value: Any) -> Any:
    """A key that is hashed in a few steps: tuples in tuples in tuples can take for ever."""
    if type(value) in _KEYS:
        return value
    if type(value) is tuple and len(value) <= 16 and all(type(each) in _KEYS for each in value):
        return value
    raise Refused(f"its pickle has {called(value)} as a key")


def storage(identity: tuple[Any, ...]) -> Storage:
    """What a persistent id stands for."""
    match identity:
        case ("storage", StorageKind(dtype), str(key), str(), int(count), *rest) if (
            count >= 0 and rest in ([], [None])
        ):
            return Storage(key, dtype, count * (1 if dtype is None else dtype.itemsize))
        case ("module", *_):
            raise Refused("it holds a whole module, not only weights: nothing was run")
    raise Refused("its pickle speaks of stored bytes in a way that PyTorch does not")


def _tensor(arguments: tuple[Any, ...]) -> View:
    match arguments:
        case (Storage() as storage, int(offset), tuple(shape), tuple(strides), *_):
            if storage.dtype is None:
                raise Refused("a tensor of bytes without a dtype")
            return _view(storage, storage.dtype, offset, shape, strides)
    raise Refused("a tensor is not described as PyTorch describes one")


def _tensor_with_dtype(arguments: tuple[Any, ...]) -> View:
    match arguments:
        case (Storage() as storage, int(offset), tuple(shape), tuple(strides), _, _, dtype, *_):
            if not isinstance(dtype, DType):
                raise Refused("a tensor's dtype is none")
            return _view(storage, dtype, offset, shape, strides)
    raise Refused("a tensor is not described as PyTorch describes one")


def _view(
    storage: Storage, dtype: DType, offset: int, shape: tuple[Any, ...], strides: tuple[Any, ...]
) -> View:
    """A tensor, all of whose elements lie in its storage."""
    refuse_shape(shape, dtype.itemsize)
    if len(strides) != len(shape) or not all(type(each) is int and each >= 0 for each in strides):
        raise Refused("a tensor's strides are not integers from 0 up, one for each axis")
    last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    end = offset if 0 in shape else last + 1
    if offset < 0 or end * dtype.itemsize > storage.size:
        given = f"{dtype}[{', '.join(map(str, shape))}]"
        problem = f"reaches element {shown(end)} of {storage.size // dtype.itemsize}"
        raise Refused(f"a tensor {given:.80} {problem} that are stored")
    # numpy minds how long steps are that nobody takes.
    steps = [
        0 if 0 in shape or size == 1 else step for size, step in zip(shape, strides, strict=True)
    ]
    return View(storage, dtype, offset, shape, tuple(steps))


def _parameter(arguments: tuple[Any, ...]) -> View:
    match arguments:
        case (View() as view, *_):
            return view
    raise Refused("a parameter is not a tensor")


def _table(arguments: tuple[Any, ...]) -> dict[Any, Any]:
    """An ordered dict; Python 2 gives it its keys and values at once."""
    match arguments:
        case ():
            return {}
        case (list(pairs),) if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            return {plain_key(key): value for key, value in pairs}
    raise Refused("an ordered dict is not filled as Python fills it")


def _plain_tuple(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    match arguments:
        case (tuple() | list() as sizes,):
            return tuple(sizes)
    raise Refused("a size is none")


def _set(arguments: tuple[Any, ...]) -> set[Any]:
    match arguments:
        case (list(values),) if all(type(each) in (str, int, float, bool) for each in values):
            return set(values)
    raise Refused("a set has other members than texts and numbers")


def _complex(arguments: tuple[Any, ...]) -> complex:
    match arguments:
        case (float(real), float(imag)):
            return complex(real, imag)
    raise Refused("a complex number is not made of two floats")


def _device(arguments: tuple[Any, ...]) -> str:
    match arguments:
        case (str(kind),):
            return kind
        case (str(kind), int(index)):
            return f"{kind}:{index}"
    raise Refused("a device has no name")


def _encoded(arguments: tuple[Any, ...]) -> bytes:
    """The bytes that Python writes as a text, in the old protocols."""
    match arguments:
        case (str(text), "latin1") if not text or max(text) <= "\xff":
            return text.encode("latin-1")
    raise Refused("bytes are not written as Python writes them")


def _numpy_dtype(arguments: tuple[Any, ...]) -> NumpyDtype:
    match arguments:
        case (str(code), *_) if code in _NUMPY_CODES:
            return NumpyDtype(code)
    raise Refused(f"a value of numpy's has the dtype {shown(arguments[:1])}, and is no number")


def _numpy_number(arguments: tuple[Any, ...]) -> Any:
    match arguments:
        case (NumpyDtype(code), bytes(raw)) if len(raw) == np.dtype(code).itemsize:
            return np.frombuffer(raw, np.dtype(code).newbyteorder("<"))[0].item()
    raise Refused("a number of numpy's is not described as numpy describes one")


def _refusing(what: str) -> Callable[[tuple[Any, ...]], Any]:
    def refuse(arguments: tuple[Any, ...]) -> Any:
        raise Refused(f"it holds {what}, which Brimstone has not")

    return refuse


_KEYS = (str, bytes, bool, int, float, type(None))
_NUMPY_CODES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")

_STORAGES = {
    "BoolStorage": dtypes.bool,
    "ByteStorage": dtypes.uint8,
    "CharStorage": dtypes.int8,
    "ShortStorage": dtypes.int16,
    "IntStorage": dtypes.int32,
    "LongStorage": dtypes.int64,
    "HalfStorage": dtypes.float16,
    "BFloat16Storage": dtypes.bfloat16,
    "FloatStorage": dtypes.float32,
    "DoubleStorage": dtypes.float64,
    "ComplexFloatStorage": dtypes.complex64,
    "ComplexDoubleStorage": dtypes.complex128,
    "UntypedStorage": None,
}
_DTYPES = {**{each.name: each for each in dtypes.ALL}, "float8_e4m3fn": dtypes.float8_e4m3}
_MAKERS = {
    ("collections", "OrderedDict"): _table,
    ("torch", "Size"): _plain_tuple,
    ("torch", "device"): _device,
    ("torch._utils", "_rebuild_tensor"): _tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor_with_dtype,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _parameter,
    ("torch._utils", "_rebuild_sparse_tensor"): _refusing("a sparse tensor"),
    ("torch._utils", "_rebuild_qtensor"): _refusing("a quantised tensor"),
    ("torch._utils", "_rebuild_nested_tensor"): _refusing("a nested tensor"),
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): _refusing("a tensor without elements"),
    ("torch._tensor", "_rebuild_from_type_v2"): _refusing("a tensor of a class of its own"),
    ("_codecs", "encode"): _encoded,
    ("__builtin__", "set"): _set,
    ("builtins", "set"): _set,
    ("__builtin__", "complex"): _complex,
    ("builtins", "complex"): _complex,
    ("numpy", "dtype"): _numpy_dtype,
    ("numpy.core.multiarray", "scalar"): _numpy_number,
    ("numpy._core.multiarray", "scalar"): _numpy_number,
}

ALLOWED: dict[tuple[str, str], Maker | StorageKind | DType] = {
    **{place: Maker(".".join(place), make) for place, make in _MAKERS.items()},
    **{("torch", name): StorageKind(dtype) for name, dtype in _STORAGES.items()},
    ("torch.storage", "UntypedStorage"): StorageKind(None),
    **{("torch", name): dtype for name, dtype in _DTYPES.items()},
}
