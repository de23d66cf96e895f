"""Which tensors are alive and hold memory, told to a person who has run out of it.

Comes in: nothing; Python's collector knows all objects. Goes out: lines of text: the largest
tensors, the lines that made them, how many more there are, and the bytes of all.
Never: a note taken while all goes well. Memory is counted once, whoever holds it, and how large it
is follows from the type of a tensor that it belongs to.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from ..ir.locations import Location
from ..ir.types import Tensor as TensorType
from .bundle import Bundle
from .dtypes import OF_IR
from .node import Node

MOST_LINES = 8
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


class Made(NamedTuple):
    """What is said of a tensor: its type, and the line that made it."""

    type: TensorType
    location: Location


def alive() -> list[str]:
    """The tensors that hold memory: those of one shape from one line together, largest first."""
    from .jit import Jitted  # which stands on this module

    # Those of these classes alone: a tuple that another thread is about to make must not be seen.
    objects = gc.get_referrers(Node, Bundle, Jitted)
    counts = Counter(_held(objects))
    if not counts:
        return ["alive: no tensors"]
    bytes_ = {made: bytes_of(made.type) * count for made, count in counts.items()}
    largest = sorted(counts, key=bytes_.__getitem__, reverse=True)
    # A compiled function is known by where it begins: the line of what it returns.
    compiled = [each for each in objects if type(each) is Jitted]
    names = {each.location: getattr(each, "__qualname__", "") for each in compiled}
    lines = [f"alive: {_tensors(counts.total())}, {amount(sum(bytes_.values()))}"]
    for made in largest[:MOST_LINES]:
        several = f"{counts[made]} × " if counts[made] > 1 else ""
        line = f"  {amount(bytes_[made]):>10}  {several}{named(made.type)}"
        lines.append(line + _origin(made.location, names))
    rest = largest[MOST_LINES:]
    if rest:
        more = sum([counts[made] for made in rest])
        lines.append(f"  and {more} more, {amount(sum([bytes_[made] for made in rest]))}")
    return lines


def named(type_: TensorType) -> str:
    """A type as users know it: `float32[2, 3]`."""
    return f"{OF_IR[type_.dtype]}[{', '.join(map(str, type_.shape))}]"


def bytes_of(type_: TensorType) -> int:
    """The bytes of a tensor whose sizes are plain."""
    return prod([int(size) for size in type_.shape]) * type_.dtype.itemsize  # pyright: ignore[reportArgumentType]


def amount(count: int) -> str:
    """Bytes as people read them: `640 bytes`, `1.5 GiB`."""
    power = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    return f"{count / (1 << 10 * power):.{1 if power else 0}f} {_UNITS[power]}"


def _held(objects: list[Any]) -> Iterator[Made]:
    """One for each memory that tensors, or trees whose leaves are still to be made, hold: the
    largest of those that share it, and one whose line is known."""
    found: dict[Any, Made] = {}
    for each in objects:
        for memory, made in _memories(each):
            if memory not in found or _rank(found[memory]) < _rank(made):
                found[memory] = made
    yield from found.values()


def _rank(made: Made) -> tuple[int, bool]:
    return bytes_of(made.type), bool(made.location)


def _memories(each: Any) -> Iterator[tuple[Any, Made]]:
    """The memories of one object, each with what tells it from others; another thread may be about
    to make the object."""
    buffers: Any
    if type(each) is Node:
        buffer, device = getattr(each, "buffer", None), getattr(each, "device", None)
        is_given = type(buffer) is Bundle  # of what was given away unseen, for a moment
        buffers, types = None if buffer is None or is_given else [buffer], (each.type,)
    elif type(each) is Bundle:
        buffers = getattr(each, "buffers", None)
        device, types = each.kind.device, each.kind.types
    else:
        return
    if buffers is None or device is None:
        return
    for memory, type_ in zip(device.target.memories(buffers), types, strict=True):
        yield (device, memory), Made(type_, each.location)


def _origin(location: Location, names: dict[Location, str]) -> str:
    if not location:
        return ""
    name = names.get(location)
    return f"  returned by {name}, {location}" if name else f"  made at {location}"


def _tensors(count: int) -> str:
    return "1 tensor" if count == 1 else f"{count} tensors"
