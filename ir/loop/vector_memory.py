"""Buffers read and written many lanes at a time.

Comes in: buffers, one index or a vector of them, masks. Goes out: vectors, and changed buffers.
Never: a touch by a lane whose mask is off; such a lane may have any index.
"""

from typing import Any

from ..declare import Attr, Effect, Operand, Result, among, same_as
from ..dtypes import boolean
from ..errors import ExecutionError, require
from ..payloads import Array
from ..shared.lines import LINE
from ..types import Buffer, Scalar, Vec
from .base import INDICES, VALUES, LoopOp
from .bounds import checked, contiguous, read_lanes, write_lanes
from .memory import require_element

MASK = frozenset({boolean})


class LoadVector(LoopOp, name="loop.load_vector", effects=(Effect.READ,)):
    """`lanes` numbers, from an index on."""

    buffer: Operand[Buffer] = among(VALUES)
    index: Operand[Scalar] = among(INDICES)
    lanes: Attr[int]
    result: Result[Vec]

    @staticmethod
    def infer(buffer: Buffer, lanes: int) -> Vec:
        return Vec(lanes, buffer.dtype)

    def run(self, frame: Any, buffer: Array, index: Array) -> Array:
        return buffer[checked(self, buffer, contiguous(index, self.lanes))]


class LoadMasked(LoopOp, name="loop.load_masked", effects=(Effect.READ,)):
    """Numbers from an index on where the mask is on, those of `padding` where it is off."""

    buffer: Operand[Buffer] = among(VALUES)
    index: Operand[Scalar] = among(INDICES)
    mask: Operand[Vec] = among(MASK)
    padding: Operand[Vec] = among(VALUES)
    result: Result[Vec] = same_as("padding")

    def check(self) -> None:
        require_element(self.buffer.type, self.padding.type)
        _require_lanes("mask", self.mask.type, self.padding.type)

    def run(self, frame: Any, buffer: Array, index: Array, mask: Array, padding: Array) -> Array:
        return read_lanes(self, buffer, contiguous(index, len(mask)), mask, padding)


class VectorWriter(LoopOp):
    """A write of all lanes of a vector, from an index on."""

    buffer: Operand[Buffer] = among(VALUES)
    index: Operand[Scalar] = among(INDICES)
    value: Operand[Vec] = among(VALUES)

    def check(self) -> None:
        require_element(self.buffer.type, self.value.type)


class StoreVector(VectorWriter, name="loop.store_vector", effects=(Effect.WRITE,)):
    """Put the lanes of a vector from an index on."""

    def run(self, frame: Any, buffer: Array, index: Array, value: Array) -> tuple[()]:
        buffer[checked(self, buffer, contiguous(index, len(value)))] = value
        return ()


class StorePastCaches(VectorWriter, name="loop.store_past_caches", effects=(Effect.WRITE,)):
    """Put the lanes of a vector from an index on, in memory directly: nobody reads them soon.

    The buffer begins at a line of the caches, and the lanes are a part of one, or begin where one
    does.
    """

    def run(self, frame: Any, buffer: Array, index: Array, value: Array) -> tuple[()]:
        places = checked(self, buffer, contiguous(index, len(value)))
        if int(index) * value.itemsize % min(value.nbytes, LINE):
            raise ExecutionError(f"{self.name}: index {index} is within a line", self.location)
        buffer[places] = value
        return ()


class StoreMasked(LoopOp, name="loop.store_masked", effects=(Effect.WRITE,)):
    """Put the lanes of a vector whose mask is on from an index on."""

    buffer: Operand[Buffer] = among(VALUES)
    index: Operand[Scalar] = among(INDICES)
    value: Operand[Vec] = among(VALUES)
    mask: Operand[Vec] = among(MASK)

    def check(self) -> None:
        require_element(self.buffer.type, self.value.type)
        _require_lanes("mask", self.mask.type, self.value.type)

    def run(self, frame: Any, buffer: Array, index: Array, value: Array, mask: Array) -> tuple[()]:
        write_lanes(self, buffer, contiguous(index, len(value)), value, mask)
        return ()


class Gather(LoopOp, name="loop.gather", effects=(Effect.READ,)):
    """Lane i is the number at `indices[i]` where the mask is on, `padding[i]` where it is off."""

    buffer: Operand[Buffer] = among(VALUES)
    indices: Operand[Vec] = among(INDICES)
    mask: Operand[Vec] = among(MASK)
    padding: Operand[Vec] = among(VALUES)
    result: Result[Vec] = same_as("padding")

    def check(self) -> None:
        require_element(self.buffer.type, self.padding.type)
        _require_lanes("indices", self.indices.type, self.padding.type)
        _require_lanes("mask", self.mask.type, self.padding.type)

    def run(self, frame: Any, buffer: Array, indices: Array, mask: Array, padding: Array) -> Array:
        return read_lanes(self, buffer, indices, mask, padding)


class Scatter(LoopOp, name="loop.scatter", effects=(Effect.WRITE,)):
    """Put lane i at `indices[i]` where the mask is on; of equal indices the last lane's wins."""

    buffer: Operand[Buffer] = among(VALUES)
    indices: Operand[Vec] = among(INDICES)
    value: Operand[Vec] = among(VALUES)
    mask: Operand[Vec] = among(MASK)

    def check(self) -> None:
        require_element(self.buffer.type, self.value.type)
        _require_lanes("indices", self.indices.type, self.value.type)
        _require_lanes("mask", self.mask.type, self.value.type)

    def run(
        self, frame: Any, buffer: Array, indices: Array, value: Array, mask: Array
    ) -> tuple[()]:
        write_lanes(self, buffer, indices, value, mask)
        return ()


def _require_lanes(name: str, vector: Vec, like: Vec) -> None:
    require(vector.lanes == like.lanes, f"{name} has {vector.lanes} lanes, expected {like.lanes}")


__all__ = [
    "LINE", "Gather", "LoadMasked", "LoadVector", "Scatter", "StoreMasked", "StorePastCaches",
    "StoreVector",
]  # fmt: skip
