"""A tile in registers: its last axis is cut into vectors, its other axes are written out.

Comes in: shapes, and how many lanes the kernel's vectors have. Goes out: `Registers`; and the same
numbers at other places: taken apart into lanes, put together again.
Never: memory, or arithmetic.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ...ir import loop
from ...ir.dtypes import boolean, u8
from ...ir.loop import CompareKind
from ...ir.payloads import Array
from ...ir.types import Scalar, Tile, Type, Vec
from ...ir.values import AnyValue
from .emitter import Emitter

Shape = tuple[int, ...]
Place = tuple[int, int]
"""A lane: the number of its vector among some, and which lane of that."""
MOST_SOURCES = 8
"""Numbers of more vectors are put in one by one."""


@dataclass(frozen=True, eq=False, slots=True)
class Registers:
    """The parts of a tile of `shape`: an array of values, whose last axis counts vectors of
    `width` lanes (of one lane: scalars)."""

    shape: Shape
    width: int
    parts: Array

    def map(self, function: Callable[..., AnyValue], *others: "Registers") -> "Registers":
        """The parts that a function makes of each part, and of those of tiles of this shape."""
        rows = zip(self.parts.flat, *[other.parts.flat for other in others], strict=True)
        return Registers(self.shape, self.width, parted([function(*row) for row in rows], self))

    @property
    def values(self) -> list[AnyValue]:
        """All parts, in order."""
        return list(self.parts.flat)


def shape_of(tile: Tile) -> Shape:
    """The shape of a tile, whose sizes are static."""
    return tuple([int(size) for size in tile.shape])  # pyright: ignore[reportArgumentType]


def width_of(shape: Shape, lanes: int) -> int:
    """The lanes of the vectors of a tile: the most that its last axis is a multiple of."""
    last = shape[-1] if shape else 1
    return min(lanes, last & -last) if last else 1


def parts_shape(shape: Shape, width: int) -> Shape:
    """How many parts there are along each axis."""
    return (*shape[:-1], shape[-1] // width) if shape else ()


def count_of(shape: Shape, lanes: int) -> int:
    """How many parts a tile has."""
    return prod(parts_shape(shape, width_of(shape, lanes)))


def part_type(tile: Tile, lanes: int) -> Type:
    """The type of each part of a tile."""
    width = width_of(shape_of(tile), lanes)
    return Scalar(tile.dtype) if width == 1 else Vec(width, tile.dtype)


def registers(shape: Shape, lanes: int, values: Sequence[AnyValue]) -> Registers:
    """The tile whose parts are these values."""
    width = width_of(shape, lanes)
    return Registers(shape, width, objects(values, parts_shape(shape, width)))


def parted(values: Sequence[AnyValue], like: Registers) -> Array:
    """Values as an array of parts."""
    return objects(values, like.parts.shape)


def objects(values: Sequence[Any], shape: Shape) -> Array:
    """Values as an array of this shape."""
    made = np.empty(len(values), object)
    for place, value in enumerate(values):
        made[place] = value
    return made.reshape(shape)


def lane(emitter: Emitter, part: AnyValue, at: int) -> AnyValue:
    """The number in one lane of a part, found where it was put in or taken from if it was."""
    while isinstance(part.type, Vec):
        owner = part.owner
        if isinstance(owner, loop.Splat):
            return owner.x
        if isinstance(owner, loop.Insert) and owner.lane == at:
            return owner.value
        wider = _taken_from(owner, at)
        if wider is None:
            return emitter.emit(loop.Extract, part, lane=at)
        part, at = wider
    return part


def _taken_from(owner: Any, at: int) -> tuple[AnyValue, int] | None:
    """Another vector that has the number in one of its lanes; of a shuffle only a longer one: those
    of the same length have moved their lanes to where they are wanted."""
    if isinstance(owner, loop.Insert):
        return owner.x, at
    if isinstance(owner, loop.Concat):
        return _part_of(owner, at)
    if not isinstance(owner, loop.Shuffle):
        return None
    found, place = owner.x, owner.lanes[at]
    if isinstance(found.owner, loop.Concat):
        found, place = _part_of(found.owner, place)
    return (found, place) if found.type.lanes > len(owner.lanes) else None


def _part_of(concat: loop.Concat, at: int) -> tuple[AnyValue, int]:
    """The vector that has a lane of several behind each other, and which lane of it that is."""
    for part in concat.parts:
        if at < part.type.lanes:
            return part, at
        at -= part.type.lanes
    raise IndexError(at)


def scalars(emitter: Emitter, tile: Registers) -> Array:
    """Every number of a tile on its own, as an array of its shape."""
    numbers = [lane(emitter, part, at) for part in tile.parts.flat for at in range(tile.width)]
    return objects(numbers, tile.shape)


def packed(emitter: Emitter, numbers: Array, lanes: int) -> Registers:
    """The tile of these numbers."""
    shape: Shape = numbers.shape
    width = width_of(shape, lanes)
    rows = numbers.reshape(-1, width) if numbers.size else numbers.reshape(0, width)
    return registers(shape, lanes, [vector(emitter, list(row)) for row in rows])


def vector(emitter: Emitter, numbers: list[AnyValue]) -> AnyValue:
    """A vector of these numbers; of one, the number itself."""
    if len(numbers) == 1:
        return numbers[0]
    if all(number is numbers[0] for number in numbers):
        return emitter.splat(numbers[0], len(numbers))
    return _shuffled(emitter, numbers) or _inserted(emitter, numbers)


def _shuffled(emitter: Emitter, numbers: list[AnyValue]) -> AnyValue | None:
    """The vector, if all numbers are lanes of a few others: of two at a time."""
    owners = [number.owner for number in numbers]
    taken = [owner for owner in owners if isinstance(owner, loop.Extract)]
    sources: list[AnyValue] = list(dict.fromkeys([op.x for op in taken]))
    if len(taken) < len(numbers) or len(sources) > MOST_SOURCES:
        return None
    places = [(sources.index(op.x), op.lane) for op in taken]
    return _gathered(emitter, sources, places)


def _gathered(emitter: Emitter, sources: Sequence[AnyValue], places: Sequence[Place]) -> AnyValue:
    """The vector of some lanes of some vectors."""
    if len(sources) > 2:
        sources, places = _halved(emitter, sources, places)
    starts = [0, sources[0].type.lanes]
    whole = sources[0] if len(sources) == 1 else emitter.emit(loop.Concat, tuple(sources))
    found = tuple([starts[source] + lane for source, lane in places])
    if found == tuple(range(whole.type.lanes)):
        return whole
    return emitter.emit(loop.Shuffle, whole, lanes=found)


def _halved(
    emitter: Emitter, sources: Sequence[AnyValue], places: Sequence[Place]
) -> tuple[list[AnyValue], list[Place]]:
    """The same lanes as those of two vectors, for each half of the sources one."""
    half = (len(sources) + 1) // 2
    sides = sources[:half], sources[half:]
    taken: tuple[list[Place], list[Place]] = ([], [])
    found: list[Place] = []
    for source, lane in places:
        side = int(source >= half)
        single = len(sides[side]) == 1
        found.append((side, lane if single else len(taken[side])))
        taken[side].append((source - side * half, lane))
    vectors = [
        side[0] if len(side) == 1 else _gathered(emitter, side, lanes)
        for side, lanes in zip(sides, taken, strict=True)
    ]
    return vectors, found


def _inserted(emitter: Emitter, numbers: list[AnyValue]) -> AnyValue:
    """The vector, put together number by number; of booleans as bytes, as it takes instructions to
    write to a place in a mask."""
    if numbers[0].dtype is boolean:
        whole = [emitter.emit(loop.Cast, number, dtype=u8) for number in numbers]
        zeros = emitter.constant(np.zeros(len(numbers), np.uint8), u8)
        return emitter.compare(CompareKind.NOT_EQUAL, _inserted(emitter, whole), zeros)
    made = emitter.splat(numbers[0], len(numbers))
    for at, number in enumerate(numbers):
        if number is not numbers[0]:
            made = emitter.emit(loop.Insert, made, number, lane=at)
    return made
