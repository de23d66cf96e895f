"""How good the mathematical functions are: on special numbers, and on many others, in the
interpreter. docs/math.md tells the same of every f32."""

import math
from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import DType, f32, f64
from brimstone.ir.loop import Binary, BinaryKind, UnaryKind, run_loops
from brimstone.ir.parser import parse
from brimstone.ir.tensor import special
from brimstone.passes.expand import expand
from brimstone.passes.expand.table import BINARY, UNARY
from brimstone.passes.machine import Machine
from kit.expanded import FUSED, PLAIN, Array, results, units
from kit.loops import same_bits

SAMPLES = 200_000
FUSED_SAMPLES = 8192
WIDE_SAMPLES = 12_288
FUSED_WIDE_SAMPLES = 64
"""The interpreter's multiply-add of f64 is exact arithmetic, which takes its time."""
EXTENDED = np.finfo(np.longdouble).nmant > 52
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -2.5, math.inf, -math.inf,
           math.nan, 1e-40, -1e-40, 1e-45, -1e-45, 3e38, -3e38, 1e-20, -1e-20, 1e10, 88.8, -104.0,
           0.9999999, 1.0000001, 7.0, -7.0, 1e5, 1e30]  # fmt: skip


def each(function: Any) -> Any:
    """A function of Python floats, on arrays."""
    return lambda *xs: np.asarray(np.frompyfunc(function, len(xs), 1)(*xs), np.float64)


NUMPY = {"cube_root": np.cbrt, "remainder": np.fmod}
EXACT = {
    "reciprocal_square_root": lambda x: 1 / np.sqrt(x),
    "sign": lambda x: np.where((x == 0) | np.isnan(x), x, np.sign(x)),
    "erf": lambda x: each(math.erf)(x.astype(np.float64)),
    "erfc": lambda x: each(math.erfc)(x.astype(np.float64)),
    "erf_inverse": lambda x: special.erf_inverse(x.astype(np.float64)),
    "log_gamma": lambda x: special.log_gamma(x.astype(np.float64)),
    "digamma": lambda x: special.digamma(x.astype(np.float64)),
}
# Units in the last place, of f32 and of f64; those of f64 count what is off in the reference.
BOUNDS: dict[UnaryKind | BinaryKind, tuple[float, float]] = {
    UnaryKind.EXP: (1.8, 1.8), UnaryKind.EXP2: (1.6, 1.6), UnaryKind.EXPM1: (1.6, 2.0),
    UnaryKind.LOG: (1.0, 1.0), UnaryKind.LOG2: (2.0, 2.0), UnaryKind.LOG10: (2.0, 2.0),
    UnaryKind.LOG1P: (1.6, 1.6), UnaryKind.SIN: (2.0, 2.6), UnaryKind.COS: (2.0, 2.6),
    UnaryKind.TAN: (0.6, 4.0), UnaryKind.SINH: (0.6, 3.0), UnaryKind.COSH: (0.6, 2.5),
    UnaryKind.TANH: (1.6, 3.0), UnaryKind.ARCSIN: (3.6, 3.6), UnaryKind.ARCCOS: (3.6, 3.6),
    UnaryKind.ARCTAN: (3.0, 3.0), UnaryKind.ARCSINH: (0.6, 2.5), UnaryKind.ARCCOSH: (0.6, 2.5),
    UnaryKind.ARCTANH: (0.6, 2.5), UnaryKind.ERF: (1.7, 2.0), UnaryKind.ERF_INVERSE: (0.6, 4.0),
    UnaryKind.ERFC: (0.6, 4.0),
    UnaryKind.LOG_GAMMA: (0.6, 40.0), UnaryKind.DIGAMMA: (0.6, 40.0),
    UnaryKind.CUBE_ROOT: (1.0, 1.0), UnaryKind.RECIPROCAL_SQUARE_ROOT: (1.5, 1.5),
    UnaryKind.SIGN: (0.0, 0.0),
    BinaryKind.POWER: (0.6, 2.0), BinaryKind.HYPOT: (0.6, 1.3), BinaryKind.ARCTAN2: (3.0, 3.0),
    BinaryKind.REMAINDER: (0.0, 0.0), BinaryKind.NEXT_AFTER: (0.0, 0.0),
}  # fmt: skip
NEAR_ONE = {UnaryKind.LOG_GAMMA, UnaryKind.DIGAMMA}
"""Whose error is relative to 1 near their zeros."""


def patterns(dtype: DType, count: int, seed: int) -> Array:
    """Random bits, random numbers of the sizes that programs have, and special ones."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 256, count // 4 * dtype.itemsize, np.uint8).view(dtype.storage)
    parts = [bits, rng.uniform(-1, 1, count // 4), rng.uniform(-100, 100, count // 4)]
    parts += [10 ** rng.uniform(-4, 4, count // 4) * rng.choice([-1, 1], count // 4)]
    with np.errstate(all="ignore"):
        made = np.concatenate([np.asarray(part, dtype.storage) for part in (SPECIAL, *parts)])
    return np.asarray(made, dtype.storage)


def reference(kind: UnaryKind | BinaryKind, *arrays: Array) -> Array:
    """The function in more bits, but for neighbours, which are those of the dtype."""
    wide = np.longdouble if arrays[0].dtype == np.float64 else np.float64
    function = EXACT.get(kind.value) or NUMPY.get(kind.value)
    with np.errstate(all="ignore"):
        if kind is BinaryKind.NEXT_AFTER:
            return np.asarray(np.nextafter(*arrays))
        function = function or getattr(np, kind.value)
        return np.asarray(function(*[array.astype(wide) for array in arrays]))


def worst(kind: UnaryKind | BinaryKind, machine: Machine, *arrays: Array) -> float:
    """The largest error of a function."""
    dtype = f32 if arrays[0].dtype == np.float32 else f64
    family = "unary %x" if isinstance(kind, UnaryKind) else "binary %x, %y"
    inputs = [(dtype, array) for array in arrays]
    found = results(f"loop.{family} {{kind = {kind.value}}}", dtype, inputs, machine)
    exact = reference(kind, *arrays)
    off = units(found, exact, floor=1.0 if kind in NEAR_ONE and dtype is f64 else 0.0)
    place = int(np.argmax(off))
    print(kind.value, [array[place] for array in arrays], found[place], exact[place])
    return float(off[place])


def operands(kind: UnaryKind | BinaryKind, dtype: DType, count: int) -> list[Array]:
    """Arguments for a function: each special number meets each."""
    arrays = [patterns(dtype, count, seed) for seed in (1, 2)]
    if isinstance(kind, UnaryKind):
        return arrays[:1]
    special = np.asarray(np.meshgrid(SPECIAL, SPECIAL), np.float64).reshape(2, -1)
    ends = [row.astype(dtype.storage) for row in special]
    if kind is BinaryKind.REMAINDER:  # which takes a turn for each bit of the quotient
        arrays = [np.asarray(array[-(count // 2) :]) for array in arrays]
    return [np.concatenate(pair) for pair in zip(ends, arrays, strict=True)]


KINDS = [pytest.param(kind, id=kind.value) for kind in BOUNDS]
pytestmark = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")


def test_every_function_is_here() -> None:
    assert {*BOUNDS} == {*UNARY, *BINARY}


@pytest.mark.parametrize("kind", KINDS)
def test_single(kind: UnaryKind | BinaryKind) -> None:
    count = SAMPLES if isinstance(kind, UnaryKind) else SAMPLES // 4
    assert worst(kind, PLAIN, *operands(kind, f32, count)) <= BOUNDS[kind][0]


@pytest.mark.parametrize("kind", KINDS)
def test_double(kind: UnaryKind | BinaryKind) -> None:
    found = worst(kind, PLAIN, *operands(kind, f64, WIDE_SAMPLES))
    assert found <= BOUNDS[kind][1] + (0 if EXTENDED else 1)


@pytest.mark.parametrize("kind", KINDS)
def test_fused(kind: UnaryKind | BinaryKind) -> None:
    single = kind in FUSED_IN_SINGLE
    count = FUSED_SAMPLES if single else FUSED_WIDE_SAMPLES
    arrays = [array[-count:] for array in operands(kind, f32, FUSED_SAMPLES)]
    assert worst(kind, FUSED, *arrays) <= BOUNDS[kind][0]
    arrays = [array[-FUSED_WIDE_SAMPLES:] for array in operands(kind, f64, WIDE_SAMPLES)]
    assert worst(kind, FUSED, *arrays) <= BOUNDS[kind][1] + (0 if EXTENDED else 1)


FUSED_IN_SINGLE = {
    UnaryKind.EXP, UnaryKind.EXP2, UnaryKind.EXPM1, UnaryKind.LOG, UnaryKind.LOG2,
    UnaryKind.LOG10, UnaryKind.LOG1P, UnaryKind.TANH, UnaryKind.ERF, UnaryKind.ARCTAN,
}  # fmt: skip
"""Those that compute in f32 alone."""


@pytest.mark.parametrize("exponent", [24, 60, 100, 127, 300, 700, 1023])
@pytest.mark.parametrize("kind", [UnaryKind.SIN, UnaryKind.COS, UnaryKind.TAN])
def test_huge_angles(kind: UnaryKind, exponent: int) -> None:
    rng = np.random.default_rng(exponent)
    wide = rng.uniform(0.5, 1, 4096) * 2.0**exponent
    assert worst(kind, PLAIN, wide) <= BOUNDS[kind][1] + (0 if EXTENDED else 1)
    if exponent < 128:
        assert worst(kind, PLAIN, wide.astype(np.float32)) <= BOUNDS[kind][0]


@pytest.mark.parametrize("kind", [UnaryKind.SIN, UnaryKind.COS, UnaryKind.TAN])
def test_a_huge_angle_changes_no_other_lane(kind: UnaryKind) -> None:
    x = np.linspace(-9, 9, 512, dtype=np.float32)
    op = f"loop.unary %x {{kind = {kind.value}}}"
    alone = results(op, f32, [(f32, x)], PLAIN)
    x[100] = 1e30
    beside = results(op, f32, [(f32, x)], PLAIN)
    assert np.array_equal(np.delete(alone, 100), np.delete(beside, 100))


def raised(exponent: float) -> Any:
    """32 numbers to the power of one that the program states."""
    return parse(
        "func @f(%x: vec<32, f32>, %out: buffer<f32, global>) {\n"
        "  %zero = loop.constant {value = 0} : scalar<i64>\n"
        f"  %exponent = loop.constant {{value = {exponent}}} : scalar<f32>\n"
        "  %y = loop.splat %exponent {lanes = 32} : vec<32, f32>\n"
        "  %z = loop.binary %x, %y {kind = power} : vec<32, f32>\n"
        "  loop.store_vector %out, %zero, %z\n  return\n}"
    ).main


@pytest.mark.parametrize(("exponent", "function"), [(2.0, np.square), (-1.0, np.reciprocal)])
def test_small_powers_are_products(exponent: float, function: Any) -> None:
    func = raised(exponent)
    expand(func, FUSED)
    assert sum(isinstance(op, Binary) for op in func.walk()) == 1
    x, out = np.array(SPECIAL, np.float32), np.zeros(32, np.float32)
    run_loops(func, [x, out])
    with np.errstate(all="ignore"):
        assert same_bits(out, function(x))


def test_a_power_of_one_half_is_a_root() -> None:
    func = raised(0.5)
    expand(func, FUSED)
    assert sum(isinstance(op, Binary) for op in func.walk()) == 1
    out = np.zeros(32, np.float32)
    for x in (np.array(SPECIAL, np.float32), np.arange(32, dtype=np.float32) - 3):
        run_loops(func, [x, out])
        with np.errstate(all="ignore"):
            expected = np.power(x, np.full(32, 0.5))  # of one number, NumPy takes the root
            assert same_bits(out, expected.astype(np.float32))
