"""Changes of dtype: casts, the bits seen as another dtype, complex numbers and their parts.

Comes in: tensors. Goes out: tensors of the same shape.
Never: a change that the op's result does not name.
"""

from functools import partial
from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operand, Result, among, same_as
from ..dtypes import COMPLEXES, INEXACT, DType, c64, c128, f32, f64
from ..errors import require
from ..interpreter.arrays import convert
from ..payloads import Array
from ..types import Tensor
from .base import Tangents, TensorOp
from .batching import at_each_element
from .elementwise import Unary
from .rules import again, emit, no_tangent, present, same_op, zeros

COMPLEX_OF = {f32: c64, f64: c128}


class Cast(TensorOp, name="tensor.cast"):
    """x as `dtype`: floats round once, or saturate to integers (NaN is 0); integers wrap."""

    x: Operand[Tensor]
    dtype: Attr[DType]
    result: Result[Tensor]

    batching = at_each_element

    @staticmethod
    def infer(x: Tensor, dtype: DType) -> Tensor:
        return x.with_dtype(dtype)

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        return same_op(self, builder, tangents) if self.dtype in INEXACT else (None,)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        return (emit(builder, "cast", cotangents[0], self.x.dtype),)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        return convert(x, self.x.dtype, self.dtype)


class Bitcast(TensorOp, name="tensor.bitcast"):
    """The bits of x, read as `dtype`, which has as many."""

    x: Operand[Tensor]
    dtype: Attr[DType]
    result: Result[Tensor]

    batching = at_each_element
    jvp = no_tangent

    @staticmethod
    def infer(x: Tensor, dtype: DType) -> Tensor:
        wanted = f"{x.dtype.bits} bits are read as {dtype}, which has {dtype.bits}"
        require(x.dtype.bits == dtype.bits, wanted)
        return x.with_dtype(dtype)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        return x.view(self.dtype.storage)


class ComplexPart(Unary):
    """A real part of complex numbers."""

    x: Operand[Tensor] = among(COMPLEXES)
    result: Result[Tensor]

    jvp = same_op

    @staticmethod
    def infer(x: Tensor) -> Tensor:
        return x.with_dtype(x.dtype.real)


class Real(ComplexPart, name="tensor.real", meaning=np.real):
    """The real part."""

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        return (emit(builder, "complex", cotangents[0], zeros(builder, self.result.type)),)


class Imaginary(ComplexPart, name="tensor.imaginary", meaning=np.imag):
    """The imaginary part."""

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        minus = emit(builder, "negate", cotangents[0])
        return (emit(builder, "complex", zeros(builder, self.result.type), minus),)


class Conjugate(Unary, name="tensor.conjugate", meaning=np.conjugate):
    """The number with the imaginary part negated."""

    x: Operand[Tensor] = among(COMPLEXES)

    jvp = same_op

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        return (again(self, builder, cotangents[0]),)


class Complex(TensorOp, name="tensor.complex"):
    """The complex number of two parts; infinities and NaNs stay in their part."""

    real: Operand[Tensor] = among(COMPLEX_OF)
    imaginary: Operand[Tensor] = same_as("real")
    result: Result[Tensor]

    batching = at_each_element

    @staticmethod
    def infer(real: Tensor) -> Tensor:
        return real.with_dtype(COMPLEX_OF[real.dtype])

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        parts = map(partial(present, builder), tangents, self.operands)
        return (emit(builder, "complex", *parts),)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        (c,) = cotangents
        imaginary = emit(builder, "imaginary", emit(builder, "conjugate", c))
        return emit(builder, "real", c), imaginary

    def run(self, frame: Any, *operands: Array) -> Array:
        parts = np.stack(operands, axis=-1)
        return parts.view(COMPLEX_OF[self.real.dtype].storage)[..., 0]
