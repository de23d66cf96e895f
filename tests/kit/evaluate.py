"""Runs one op on arrays the long way round: built, printed, parsed, verified, interpreted.

Comes in: an op class, the arrays of its operands, its attributes. Goes out: the arrays it makes,
which have the dtypes and shapes that the op declares.
`same` compares bits, but for which NaN a NaN is; `near` allows units in the last place.
Never: a tolerance on where NaNs and infinities are.
"""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from brimstone.ir.attributes import Shape
from brimstone.ir.builder import Builder
from brimstone.ir.declare import Op
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import of_numpy
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.payloads import payload
from brimstone.ir.printer import print_module
from brimstone.ir.tensor import Constant
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue
from brimstone.ir.verifier import verify

Array = np.ndarray[Any, np.dtype[Any]]


def evaluate(cls: type[Op], *arrays: Array, **attributes: Any) -> Any:
    """What the op makes of the arrays: one array, or a tuple of them."""
    return evaluate_shaped(cls, [array.shape for array in arrays], *arrays, **attributes)


def evaluate_shaped(
    cls: type[Op], shapes: Sequence[Shape], *arrays: Array, **attributes: Any
) -> Any:
    """The same in a func whose arguments have the shapes given; symbols take the arrays' sizes."""
    pairs = zip(shapes, arrays, strict=True)
    types = [Tensor(shape, of_numpy(array.dtype)) for shape, array in pairs]
    named = dict.fromkeys(size for shape in shapes for size in shape if isinstance(size, Symbol))
    func = Func("f", types, tuple(named))
    builder = Builder(func.body)
    results = builder.emit_all(cls, *grouped(cls, func.arguments), **attributes)
    builder.emit_all(Return, results)
    module = parse(print_module(Module([func])), "evaluate")
    verify(module)
    made = interpret(module, *arrays)
    for value, array in zip(results, made, strict=True):
        assert isinstance(array, np.ndarray)
        assert array.dtype == value.dtype.storage
        assert array.ndim == len(value.type.shape)
        if all(isinstance(size, int) for size in value.type.shape):
            assert array.shape == value.type.shape
    return made[0] if len(made) == 1 else made


def fold(cls: type[Op], *arrays: Array, **attributes: Any) -> list[Array] | None:
    """What the builder folds the op on constants to; None where it leaves the op to run."""
    builder = Builder(Func("f").body)
    operands = [builder.emit(Constant, payload(array, of_numpy(array.dtype))) for array in arrays]
    results = builder.emit_all(cls, *grouped(cls, operands), **attributes)
    made = [result.owner.value.array for result in results if isinstance(result.owner, Constant)]
    return made if len(made) == len(results) else None


def folded(cls: type[Op], *arrays: Array, **attributes: Any) -> list[Array]:
    """The same, of an op that has to fold."""
    made = fold(cls, *arrays, **attributes)
    assert made is not None
    return made


def grouped(cls: type[Op], operands: Sequence[AnyValue]) -> Sequence[Any]:
    """Operands as the builder wants them: those of an op that takes any number as one list."""
    any_number = any(field.many for field in cls.operand_fields)
    return [operands] if any_number else operands


def same(found: Array, expected: Array) -> bool:
    """Whether two arrays are of one dtype and shape, and of the same bits wherever no NaN is."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.dtype.kind == "c":
        return same(np.real(found), np.real(expected)) and same(np.imag(found), np.imag(expected))
    if found.dtype.kind in "biu":
        return bool((found == expected).all())
    nan = np.isnan(expected)
    bits = np.dtype(f"u{found.dtype.itemsize}")
    equal = found.view(bits) == expected.view(bits)
    return bool((np.isnan(found) == nan).all() and (equal | nan).all())


def near(found: Array, expected: Array, units: float) -> bool:
    """Whether numbers differ by at most `units` in the last place, and all else is the same."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    limits = ml_dtypes.finfo(np.real(found).dtype)
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    numbers = np.isfinite(expected)
    left, right = found[numbers].astype(wide), expected[numbers].astype(wide)
    unit = np.maximum(np.abs(right), float(limits.smallest_normal)) * float(limits.eps)
    return same(found[~numbers], expected[~numbers]) and bool(
        (np.abs(left - right) <= units * unit).all()
    )
