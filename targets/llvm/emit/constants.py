"""Numbers that all lanes of a vector have, where registers are few.

Comes in: a constant. Goes out: an operand: LLVM's own, or a vector that is read from memory.
Never: another value.
"""

from ....ir.types import Vec
from .. import types
from ..writer import Writer

SIGNS = ("splat (float -0.0)", "splat (double -0.0)")
"""LLVM makes other instructions of arithmetic with these."""


def as_operand(writer: Writer, type_: Vec, constant: str) -> str:
    """A constant vector, which is read from memory if all lanes have the same number.

    LLVM for AVX2 would read that as a scalar, and spread it by an instruction of its own, though
    arithmetic takes whole vectors from memory: an exponential has 13 numbers, of 16 registers, and
    what did not fit was spread in each round, or all of them were moved on by one. Of vectors that
    LLVM cannot know to be constants it keeps what fits. A SwiGLU of 2 Mi numbers takes two Zen 3
    cores 1.36 ms instead of 1.75, and the gradient of a softmax of as many 3.4 instead of 4.
    """
    machine, held = writer.machine, types.text(type_)
    fills = type_.lanes * type_.dtype.itemsize == machine.vector_bytes
    numbers = type_.dtype in types.NATIVE_FLOATS and constant.startswith("splat")
    if not (machine.spreads and fills and numbers) or constant in SIGNS:
        return constant
    return writer.read_constant(held, constant)
