"""Changes of dtype: casts, the bits seen as another dtype, complex numbers and their parts.

Comes in: tensors. Goes out: tensors of the same shape.
Never: a change that the op's result does not name.
"""

from typing import Any

import numpy as np

from ..declare import Attr, Operand, Result, among, same_as
from ..dtypes import COMPLEXES, DType, c64, c128, f32, f64
from ..errors import require
from ..interpreter.arrays import convert
from ..payloads import Array
from ..types import Tensor
from .base import TensorOp
from .elementwise import Unary

COMPLEX_OF = {f32: c64, f64: c128}


class Cast(TensorOp, name="tensor.cast"):
    """x as `dtype`: floats round once, or saturate to integers (NaN is 0); integers wrap."""

    x: Operand[Tensor]
    dtype: Attr[DType]
    result: Result[Tensor]

    @staticmethod
    def infer(x: Tensor, dtype: DType) -> Tensor:
        return x.with_dtype(dtype)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        return convert(x, self.x.dtype, self.dtype)


class Bitcast(TensorOp, name="tensor.bitcast"):
    """The bits of x, read as `dtype`, which has as many."""

    x: Operand[Tensor]
    dtype: Attr[DType]
    result: Result[Tensor]

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

    @staticmethod
    def infer(x: Tensor) -> Tensor:
        return x.with_dtype(x.dtype.real)


class Real(ComplexPart, name="tensor.real", meaning=np.real):
    """The real part."""


class Imaginary(ComplexPart, name="tensor.imaginary", meaning=np.imag):
    """The imaginary part."""


class Conjugate(Unary, name="tensor.conjugate", meaning=np.conjugate):
    """The number with the imaginary part negated."""

    x: Operand[Tensor] = among(COMPLEXES)


class Complex(TensorOp, name="tensor.complex"):
    """The complex number of two parts; infinities and NaNs stay in their part."""

    real: Operand[Tensor] = among(COMPLEX_OF)
    imaginary: Operand[Tensor] = same_as("real")
    result: Result[Tensor]

    @staticmethod
    def infer(real: Tensor) -> Tensor:
        return real.with_dtype(COMPLEX_OF[real.dtype])

    def run(self, frame: Any, *operands: Array) -> Array:
        parts = np.stack(operands, axis=-1)
        return parts.view(COMPLEX_OF[self.real.dtype].storage)[..., 0]
