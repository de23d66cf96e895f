"""Functions of one number, against `math` and `cmath`, and at the ends of their domains."""

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import COMPLEXES, FLOATS, INTEGERS, DType
from brimstone.ir.errors import VerifyError
from kit.evaluate import Array, evaluate, folded, near, same
from kit.special import special

Function = Callable[[Any], Any]


def log_gamma(x: float) -> float:
    """Python's, but for the poles, where Python finds nothing."""
    return math.inf if x <= 0 and x == round(x) else math.lgamma(x)


REAL: list[tuple[type[Op], Function]] = [
    (tensor.SquareRoot, math.sqrt),
    (tensor.ReciprocalSquareRoot, lambda x: 1 / math.sqrt(x)),
    (tensor.CubeRoot, math.cbrt),
    (tensor.Exp, math.exp),
    (tensor.Exp2, math.exp2),
    (tensor.Expm1, math.expm1),
    (tensor.Log, math.log),
    (tensor.Log2, math.log2),
    (tensor.Log10, math.log10),
    (tensor.Log1p, math.log1p),
    (tensor.Sin, math.sin),
    (tensor.Cos, math.cos),
    (tensor.Tan, math.tan),
    (tensor.Arcsin, math.asin),
    (tensor.Arccos, math.acos),
    (tensor.Arctan, math.atan),
    (tensor.Sinh, math.sinh),
    (tensor.Cosh, math.cosh),
    (tensor.Tanh, math.tanh),
    (tensor.Arcsinh, math.asinh),
    (tensor.Arccosh, math.acosh),
    (tensor.Arctanh, math.atanh),
    (tensor.Erf, math.erf),
    (tensor.Erfc, math.erfc),
    (tensor.LogGamma, log_gamma),
]
COMPLEX: list[tuple[type[Op], Function]] = [
    (tensor.SquareRoot, cmath.sqrt),
    (tensor.ReciprocalSquareRoot, lambda z: 1 / cmath.sqrt(z)),
    (tensor.Exp, cmath.exp),
    (tensor.Exp2, lambda z: cmath.exp(z * math.log(2))),
    (tensor.Expm1, lambda z: cmath.exp(z) - 1),
    (tensor.Log, cmath.log),
    (tensor.Log2, lambda z: cmath.log(z) / math.log(2)),
    (tensor.Log10, cmath.log10),
    (tensor.Log1p, lambda z: cmath.log(1 + z)),
    (tensor.Sin, cmath.sin),
    (tensor.Cos, cmath.cos),
    (tensor.Tan, cmath.tan),
    (tensor.Arcsin, cmath.asin),
    (tensor.Arccos, cmath.acos),
    (tensor.Arctan, cmath.atan),
    (tensor.Sinh, cmath.sinh),
    (tensor.Cosh, cmath.cosh),
    (tensor.Tanh, cmath.tanh),
    (tensor.Arcsinh, cmath.asinh),
    (tensor.Arccosh, cmath.acosh),
    (tensor.Arctanh, cmath.atanh),
]
REAL_ONLY = (
    tensor.CubeRoot, tensor.Erf, tensor.Erfc, tensor.ErfInverse, tensor.LogGamma, tensor.Digamma,
)  # fmt: skip
FUNCTIONS = [*(cls for cls, _ in REAL), tensor.ErfInverse, tensor.Digamma]

NAN, INF = math.nan, math.inf
CORNERS: dict[type[Op], dict[float, float]] = {
    tensor.SquareRoot: {-1: NAN, 0.0: 0.0, INF: INF},
    tensor.ReciprocalSquareRoot: {0.0: INF, INF: 0.0, -1: NAN},
    tensor.CubeRoot: {-8: -2, -INF: -INF},
    tensor.Exp: {-INF: 0.0, INF: INF, 0: 1},
    tensor.Exp2: {-INF: 0.0, INF: INF, 3: 8},
    tensor.Expm1: {-INF: -1, INF: INF, 0.0: 0.0},
    tensor.Log: {0.0: -INF, -1: NAN, 1: 0, INF: INF, -INF: NAN},
    tensor.Log2: {0.0: -INF, -1: NAN, 8: 3, INF: INF},
    tensor.Log10: {0.0: -INF, -1: NAN, INF: INF},
    tensor.Log1p: {-1: -INF, -2: NAN, 0.0: 0.0, INF: INF},
    tensor.Sin: {0.0: 0.0, INF: NAN, -INF: NAN},
    tensor.Cos: {0: 1, INF: NAN, -INF: NAN},
    tensor.Tan: {0.0: 0.0, INF: NAN, -INF: NAN},
    tensor.Arcsin: {0.0: 0.0, 2: NAN, INF: NAN},
    tensor.Arccos: {1: 0.0, 2: NAN, INF: NAN},
    tensor.Arctan: {0.0: 0.0},
    tensor.Sinh: {0.0: 0.0, INF: INF, -INF: -INF},
    tensor.Cosh: {0: 1, INF: INF, -INF: INF},
    tensor.Tanh: {0.0: 0.0, INF: 1, -INF: -1},
    tensor.Arcsinh: {0.0: 0.0, INF: INF, -INF: -INF},
    tensor.Arccosh: {1: 0.0, 0.5: NAN, INF: INF, -INF: NAN},
    tensor.Arctanh: {0.0: 0.0, 1: INF, -1: -INF, 2: NAN},
    tensor.Erf: {0.0: 0.0, INF: 1, -INF: -1},
    tensor.Erfc: {0.0: 1, INF: 0.0, -INF: 2},
    tensor.ErfInverse: {0.0: 0.0, 1: INF, -1: -INF, 2: NAN, -INF: NAN},
    tensor.LogGamma: {1: 0.0, 2: 0.0, 0.0: INF, -1: INF, -5: INF, INF: INF, -INF: INF},
    tensor.Digamma: {0.0: -INF, -1: NAN, -5: NAN, INF: INF, -INF: NAN},
}

COMPLEX_CORNERS: dict[type[Op], list[tuple[complex, complex]]] = {
    tensor.Expm1: [
        (complex(0, 0), complex(0, 0)),
        (complex(-0.0, 0), complex(0, 0)),
        (complex(-0.0, -0.0), complex(0, -0.0)),
        (complex(1, INF), complex(NAN, NAN)),
        (complex(1, NAN), complex(NAN, NAN)),
        (complex(INF, 0), complex(INF, 0)),
        (complex(INF, 2), complex(-INF, INF)),
        (complex(INF, INF), complex(INF, NAN)),
        (complex(INF, NAN), complex(INF, NAN)),
        (complex(-INF, 0), complex(-1, 0)),
        (complex(-INF, 2), complex(-1, 0)),
        (complex(-INF, INF), complex(-1, 0)),
        (complex(-INF, NAN), complex(-1, 0)),
        (complex(NAN, 0), complex(NAN, 0)),
        (complex(NAN, 1), complex(NAN, NAN)),
        (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    tensor.Tanh: [
        (complex(0, 0), complex(0, 0)),
        (complex(0, INF), complex(0, NAN)),
        (complex(1, INF), complex(NAN, NAN)),
        (complex(1, NAN), complex(NAN, NAN)),
        (complex(INF, 3), complex(1, 0)),
        (complex(INF, -3), complex(1, -0.0)),
        (complex(-INF, 3), complex(-1, 0)),
        (complex(INF, INF), complex(1, 0)),
        (complex(INF, NAN), complex(1, 0)),
        (complex(NAN, 0), complex(NAN, 0)),
        (complex(NAN, 1), complex(NAN, NAN)),
    ],
}
"""What the array API standard says of zeros, of what is infinite and of what is no number."""


def names(cls: Any) -> str:
    return getattr(cls, "name", cls.__name__)


def numbers(dtype: DType) -> Array:
    """Plain numbers, inside and outside of the functions' domains."""
    grid = np.concatenate([np.linspace(-4.1, 4, 33), [1e-3, 0.999, 20.5, 300.25]])
    return grid.astype(dtype.storage)


def expected(function: Function, x: Array, dtype: DType) -> Array:
    """`function` of each number in double precision; NaN where Python finds none."""

    def one(number: float) -> float:
        try:
            return function(number)
        except (ValueError, ZeroDivisionError):
            return NAN
        except OverflowError:
            return INF

    wide = np.array([one(float(number)) for number in x])
    with np.errstate(all="ignore"):
        return wide.astype(dtype.accumulator.storage).astype(dtype.storage)


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=repr), ids=repr)
@pytest.mark.parametrize(("cls", "function"), REAL, ids=names)
def test_of_floats(cls: type[Op], function: Function, dtype: DType) -> None:
    x = numbers(dtype)
    x = x[~np.isin(x.astype(np.float64), [*CORNERS[cls], 1.0])]
    assert near(evaluate(cls, x), expected(function, x, dtype), 4)


@pytest.mark.parametrize("dtype", sorted(COMPLEXES, key=repr), ids=repr)
@pytest.mark.parametrize(("cls", "function"), COMPLEX, ids=names)
def test_of_complex_numbers(cls: type[Op], function: Function, dtype: DType) -> None:
    z = np.array([0.5 + 0.25j, -1.5 + 2j, 3 - 1.25j, -0.75 - 0.5j], dtype.storage)
    wanted = np.array([function(complex(each)) for each in z])
    assert near(evaluate(cls, z), wanted.astype(dtype.storage), 8)


@pytest.mark.parametrize("dtype", sorted(COMPLEXES, key=repr), ids=repr)
@pytest.mark.parametrize("cls", COMPLEX_CORNERS, ids=names)
def test_complex_corners(cls: type[Op], dtype: DType) -> None:
    """To the sign of each zero, which complex numbers compare without; a NaN has no sign."""
    z, wanted = (np.array(each, dtype.storage) for each in zip(*COMPLEX_CORNERS[cls], strict=True))
    made = evaluate(cls, z)
    for part in (np.real, np.imag):
        assert same(part(made), part(wanted))


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=repr), ids=repr)
@pytest.mark.parametrize("cls", FUNCTIONS, ids=names)
def test_corners(cls: type[Op], dtype: DType) -> None:
    """Exactly, wherever the dtype has the number; f8e4m3 has no infinity, neither in nor out."""
    with np.errstate(all="ignore"):
        x = np.array([*CORNERS[cls], NAN]).astype(dtype.storage)
        wanted = np.array([*CORNERS[cls].values(), NAN]).astype(dtype.storage)
    exact = np.isnan(x) | (x.astype(np.float64) == [*CORNERS[cls], NAN])
    lost = np.isnan(x) & ~np.isnan([*CORNERS[cls], NAN])
    wanted = np.where(lost, np.array(NAN, dtype.storage), wanted)
    assert same(evaluate(cls, x)[exact], wanted[exact])


@pytest.mark.parametrize("cls", FUNCTIONS, ids=names)
def test_odd_functions_keep_the_sign_of_zero(cls: type[Op]) -> None:
    if CORNERS[cls].get(0.0) != 0 or 0.0 not in CORNERS[cls]:
        return
    x = np.array([-0.0], np.float32)
    assert same(evaluate(cls, x), x)


@pytest.mark.parametrize("cls", FUNCTIONS, ids=names)
def test_shapes_and_folding(cls: type[Op]) -> None:
    x = np.array(0.25, np.float32)
    whole = evaluate(cls, np.broadcast_to(x, (2, 1, 3)))
    assert same(whole, np.broadcast_to(evaluate(cls, x), (2, 1, 3)))
    assert evaluate(cls, np.zeros((0, 3), np.float64)).shape == (0, 3)
    assert evaluate(cls, np.broadcast_to(x, (1,) * 8)).ndim == 8
    made = folded(cls, x)
    assert same(made[0], evaluate(cls, x))


@pytest.mark.parametrize("cls", FUNCTIONS, ids=names)
def test_wrong_dtypes_are_refused(cls: type[Op]) -> None:
    refused = INTEGERS | (COMPLEXES if cls in REAL_ONLY else set[DType]())
    for dtype in refused:
        with pytest.raises(VerifyError, match="expected a dtype among"):
            evaluate(cls, np.ones(2, dtype.storage))


def test_nan_in_gives_nan_out() -> None:
    for cls in FUNCTIONS:
        for dtype in FLOATS:
            x = special(dtype)
            assert np.isnan(evaluate(cls, x)[np.isnan(x)]).all()
