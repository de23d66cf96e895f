"""The header of a safetensors file: which tensors there are, and where they lie.

Comes in: the memory of a file. Goes out: an entry for each tensor, all checked against each other
and against the size of the file.
Never: an entry whose bytes lie outside the file, overlap another one's, or leave a hole, in which
something else could hide.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from ...frontend import dtypes
from ...frontend.dtypes import DType
from ..errors import Refused, shown
from ..stored import refuse_shape
from ..strict_json import read_json

PREFIX = 8
METADATA = "__metadata__"

# In the order of the format's own library, which writes the last of them first.
DTYPES: dict[str, DType] = {
    "BOOL": dtypes.bool,
    "U8": dtypes.uint8,
    "I8": dtypes.int8,
    "F8_E5M2": dtypes.float8_e5m2,
    "F8_E4M3": dtypes.float8_e4m3,
    "I16": dtypes.int16,
    "U16": dtypes.uint16,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "I32": dtypes.int32,
    "U32": dtypes.uint32,
    "F32": dtypes.float32,
    "C64": dtypes.complex64,
    "F64": dtypes.float64,
    "I64": dtypes.int64,
    "U64": dtypes.uint64,
}
_FIELDS = {"dtype", "shape", "data_offsets"}


class Entry(NamedTuple):
    """A tensor of the file: its bytes go from `begin` to `end`, counted behind the header."""

    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    """What a header says; the elements begin at the byte `data` of the file."""

    entries: dict[str, Entry]
    metadata: dict[str, str]
    data: int


def read_header(memory: memoryview) -> Header:
    """The header of a file, which is refused if it is not sound."""
    data = PREFIX + _length(memory)
    found = read_json(memory[PREFIX:data], "the header")
    metadata = _metadata(found.pop(METADATA, {}))
    entries = {name: _entry(name, fields) for name, fields in found.items()}
    _expect_whole(entries, len(memory) - data)
    return Header(entries, metadata, data)


def begins_header(memory: memoryview) -> bool:
    """Whether a file begins as one of safetensors does."""
    return len(memory) > PREFIX and memory[PREFIX] == ord("{") and _stated(memory) < 1 << 48


def _stated(memory: memoryview) -> int:
    return int.from_bytes(memory[:PREFIX], "little")


def _length(memory: memoryview) -> int:
    """The length of the header, which is there in full."""
    if len(memory) < PREFIX:
        raise Refused(f"it has {len(memory)} bytes, and the length of its header takes {PREFIX}")
    length = _stated(memory)
    if length > len(memory) - PREFIX:
        raise Refused(f"its header has {length} bytes, and the file only {len(memory)}")
    if not length or memory[PREFIX] != ord("{"):
        raise Refused("its header does not begin with {")
    return length


def _metadata(found: Any) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise Refused(f"{METADATA} is not a table of texts")
    return found


def _entry(name: str, fields: Any) -> Entry:
    """One tensor's fields, by themselves."""
    if not isinstance(fields, dict) or fields.keys() != _FIELDS:
        raise Refused(f"tensor {shown(name)} has not the fields dtype, shape and data_offsets")
    kind, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
    dtype = DTYPES.get(kind) if isinstance(kind, str) else None
    if dtype is None:
        hint = f"the dtypes that are read are {', '.join(DTYPES)}"
        raise Refused(f"tensor {shown(name)} has the dtype {shown(kind)}", hint)
    if not isinstance(shape, list):
        raise Refused(f"tensor {shown(name)} has the shape {shown(shape)}")
    try:
        refuse_shape(shape, dtype.itemsize)
    except Refused as problem:
        raise Refused(f"tensor {shown(name)}: {problem}") from None
    match offsets:
        case [int(begin), int(end)] if 0 <= begin <= end:
            pass
        case _:
            raise Refused(f"tensor {shown(name)} lies at {shown(offsets)}, which is no place")
    size = prod(shape) * dtype.itemsize
    if end - begin != size:
        given = f"{dtype}[{', '.join(map(str, shape))}]"
        problem = f"has {shown(end - begin)} bytes, and {given:.80} takes {size}"
        raise Refused(f"tensor {shown(name)} {problem}")
    return Entry(dtype, tuple(shape), begin, end)


def _expect_whole(entries: Mapping[str, Entry], size: int) -> None:
    """Refuse tensors that do not lie end to end from the header to the end of the file."""
    reached, before = 0, "the header"
    for name, entry in sorted(entries.items(), key=lambda pair: (pair[1].begin, pair[1].end)):
        if entry.end > size:
            raise Refused(
                f"tensor {shown(name)} ends {shown(entry.end - size)} bytes behind the file"
            )
        if entry.begin < reached:
            raise Refused(f"tensor {shown(name)} overlaps {before}")
        if entry.begin > reached:
            raise Refused(f"there is a hole between {before} and tensor {shown(name)}")
        reached, before = entry.end, shown(name)
    if reached != size:
        raise Refused(f"{size - reached} bytes behind {before} belong to no tensor")
