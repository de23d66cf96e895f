"""The functions of the array API standard, one rule each.

Comes in: nothing. Goes out: how every function of the main namespace is called, and how exact it
is.
Never: an extension; these stand in `standard_extensions.py`.
"""

from typing import Any

import numpy as np

from kit import standard_calls as calls
from kit.standard import (
    ALL,
    BITS,
    COMPLEXES,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REALS,
    Call,
    Dtype,
    Inputs,
    call,
    meet,
)
from kit.standard_calls import Rule, any_array, binary, made, of_numbers, some_dtype, unary

CURVE = 4  # units in the last place by which libraries of curves differ
TOTAL = 64  # units of the largest number, for what is added up in any order


def cast(inputs: Inputs) -> Call:
    """A cast that keeps kinds, or turns whole numbers into others."""
    array = inputs.array(inputs.one_of(REALS), values="finite")
    array = np.abs(array)
    dtype = Dtype(inputs.one_of(NUMBERS if array.dtype.kind != "f" else INEXACT))
    return call(array, dtype, copy=inputs.flag())


def types(inputs: Inputs) -> Call:
    """Dtypes and arrays that have a common dtype."""
    one, other = inputs.one_of(NUMBERS), inputs.one_of(NUMBERS)
    kinds = {np.dtype(name).kind for name in (one, other)}
    if not meet(one, other) or (kinds & {*"iu"} and kinds & {*"fc"}):
        other = one
    return call(inputs.array(one), Dtype(other))


def casts(inputs: Inputs) -> Call:
    """Two dtypes of one kind."""
    names = inputs.one_of([INTEGERS[:4], INTEGERS[4:], FLOATS, COMPLEXES])
    return call(Dtype(inputs.one_of(names)), Dtype(inputs.one_of(names)))


def kinds(inputs: Inputs) -> Call:
    """A dtype and one kind, or several."""
    names = ["bool", "integral", "real floating", "complex floating", "numeric", "signed integer"]
    kind = inputs.one_of([*names, (names[0], names[2]), Dtype("int8")])
    return call(Dtype(inputs.one_of(ALL)), kind)


def ranged(inputs: Inputs) -> Call:
    """One, two or three whole numbers, or halves."""
    dtype = inputs.one_of(["int8", "int64", *FLOATS])
    numbers: tuple[Any, ...] = (inputs.whole(-4, 4), inputs.whole(-4, 9), inputs.one_of([1, 2, -3]))
    if dtype in FLOATS and inputs.flag():
        numbers = (numbers[0] / 2, numbers[1] / 2, numbers[2] / 2)
    return call(*numbers[: inputs.whole(1, 3)], dtype=Dtype(dtype))


def like(inputs: Inputs) -> Call:
    """An array, and perhaps another dtype."""
    return call(any_array(inputs), dtype=Dtype(inputs.one_of(ALL)) if inputs.flag() else None)


def filled(inputs: Inputs) -> Call:
    """A shape and a number."""
    number = inputs.one_of([0, 1, 7])
    return call(inputs.shape(), number, dtype=Dtype(inputs.one_of(NUMBERS)))


def grids(inputs: Inputs) -> Call:
    """Vectors of one dtype."""
    dtype = inputs.one_of(NUMBERS)
    vectors = [inputs.array(dtype, (inputs.whole(0, 3),)) for _ in range(inputs.whole(1, 3))]
    return call(*vectors, indexing=inputs.one_of(["xy", "ij"]))


def triangle(inputs: Inputs) -> Call:
    """Matrices and the number of a diagonal."""
    return call(any_array(inputs, least=2), k=inputs.whole(-3, 3))


def multiplied(inputs: Inputs) -> Call:
    """Matrices or vectors whose inner sizes agree."""
    dtype = inputs.one_of(NUMBERS)
    inner, batch = inputs.whole(0, 3), inputs.one_of([(), (2,), (1, 3)])
    left = inputs.one_of([(inner,), (2, inner), (*batch, 3, inner)])
    right = inputs.one_of([(inner,), (inner, 2), (*batch, inner, 1)])
    return call(inputs.array(dtype, left, "finite"), inputs.array(dtype, right, "finite"))


def dotted(inputs: Inputs) -> Call:
    """Vectors along an axis."""
    dtype, shape = inputs.one_of(NUMBERS), inputs.shape(least=1)
    axis = inputs.axis(len(shape))
    axis = axis - len(shape) if axis >= 0 else axis
    return call(*(inputs.array(dtype, shape, "finite") for _ in range(2)), axis=axis)


def contracted(inputs: Inputs) -> Call:
    """Axes to sum over: so many of them, or listed pairs."""
    dtype = inputs.one_of(NUMBERS)
    axes = inputs.one_of([0, 1, 2, ((0, 1), (1, 0)), ((-1,), (-1,))])
    shapes = ((2, 3), (3, 2)) if isinstance(axes, tuple) and axes[0] == (0, 1) else ((3, 3),) * 2
    return call(*(inputs.array(dtype, shape, "finite") for shape in shapes), axes=axes)


def spaced(inputs: Inputs) -> Call:
    """Two ends and a number of steps."""
    ends = inputs.whole(-5, 5), inputs.whole(-5, 5) / 2
    dtype = Dtype(inputs.one_of(FLOATS))
    return call(*ends, inputs.whole(0, 7), dtype=dtype, endpoint=inputs.flag())


def converted(inputs: Inputs) -> Call:
    """An array, a number or nested lists."""
    given = inputs.one_of([any_array(inputs), 3, [[1, 2], [3, 4]], [], [0.5, 1.5]])
    if isinstance(given, np.ndarray):
        return call(given, copy=inputs.one_of([None, True]))
    return call(given, dtype=Dtype(inputs.one_of(FLOATS)))


CURVES = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log",
    "log10", "log2", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip

RULES: dict[str, Rule] = {
    **{name: Rule(unary(INEXACT), CURVE) for name in CURVES},
    **{name: Rule(unary(REALS)) for name in ("ceil", "floor", "trunc")},
    **{name: Rule(unary(NUMBERS)) for name in ("negative", "positive", "round", "square")},
    **{name: Rule(unary(NUMBERS), 2) for name in ("abs", "sign")},
    **{name: Rule(unary(NUMBERS)) for name in ("isfinite", "isinf", "isnan", "conj", "real")},
    **{name: Rule(binary(NUMBERS)) for name in ("add", "subtract", "equal", "not_equal")},
    **{name: Rule(binary(REALS)) for name in ("less", "less_equal", "greater", "greater_equal")},
    **{name: Rule(binary(FLOATS), CURVE) for name in ("atan2", "hypot", "logaddexp")},
    **{name: Rule(binary(FLOATS)) for name in ("copysign", "nextafter")},
    **{name: Rule(binary(REALS)) for name in ("maximum", "minimum")},
    **{name: Rule(binary(("bool",))) for name in ("logical_and", "logical_or", "logical_xor")},
    **{name: Rule(binary(BITS)) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **{name: Rule(calls.shift) for name in ("bitwise_left_shift", "bitwise_right_shift")},
    "log1p": Rule(unary(FLOATS), CURVE),  # of complex numbers near 0 array-api-strict loses digits
    "multiply": Rule(binary(NUMBERS), 2, scaled=True),
    "divide": Rule(binary(INEXACT), 2),
    "reciprocal": Rule(unary(INEXACT), 2),
    "imag": Rule(unary(COMPLEXES)),
    "signbit": Rule(unary(FLOATS)),
    "bitwise_invert": Rule(unary(BITS)),
    "logical_not": Rule(unary(("bool",))),
    "floor_divide": Rule(calls.divided),
    "remainder": Rule(calls.modulo, 1),
    "pow": Rule(calls.power, CURVE),
    "clip": Rule(calls.clip),
    "where": Rule(calls.where),
    "sum": Rule(calls.reduced(NUMBERS, "moderate", dtype=True), TOTAL, scaled=True),
    "prod": Rule(calls.reduced(NUMBERS, "finite", dtype=True), TOTAL),
    "mean": Rule(calls.reduced(FLOATS, "finite", smallest=1), TOTAL, scaled=True),
    "var": Rule(calls.varied, TOTAL, scaled=True),
    "std": Rule(calls.varied, TOTAL, scaled=True),
    **{name: Rule(calls.reduced(REALS, smallest=1)) for name in ("max", "min")},
    **{name: Rule(calls.reduced(ALL)) for name in ("all", "any", "count_nonzero")},
    **{name: Rule(calls.placed) for name in ("argmax", "argmin")},
    "cumulative_sum": Rule(calls.scanned, TOTAL, scaled=True),
    "cumulative_prod": Rule(calls.scanned, TOTAL),
    "diff": Rule(calls.diff, 2, scaled=True),
    **{name: Rule(calls.ordered) for name in ("sort", "argsort")},
    "searchsorted": Rule(calls.searched),
    **{f"unique_{what}": Rule(calls.distinct) for what in ("all", "counts", "inverse", "values")},
    "isin": Rule(calls.isin),
    "nonzero": Rule(lambda inputs: call(any_array(inputs, least=1))),
    "take": Rule(calls.taken),
    "take_along_axis": Rule(calls.taken_along),
    "concat": Rule(calls.concat),
    "stack": Rule(calls.stack),
    "unstack": Rule(calls.along()),
    "expand_dims": Rule(calls.expanded),
    "squeeze": Rule(calls.squeezed),
    "flip": Rule(calls.flipped),
    "permute_dims": Rule(calls.permuted),
    "moveaxis": Rule(calls.moved),
    "reshape": Rule(calls.reshaped),
    "repeat": Rule(calls.repeated),
    "roll": Rule(calls.rolled),
    "tile": Rule(calls.tiled),
    "broadcast_to": Rule(calls.stretched),
    "broadcast_arrays": Rule(calls.stretched_all),
    "broadcast_shapes": Rule(lambda inputs: call(*inputs.shapes(3))),
    "matrix_transpose": Rule(lambda inputs: call(any_array(inputs, least=2))),
    "matmul": Rule(multiplied, TOTAL, scaled=True),
    "vecdot": Rule(dotted, TOTAL, scaled=True),
    "tensordot": Rule(contracted, TOTAL, scaled=True),
    "astype": Rule(cast, 1),
    "can_cast": Rule(casts),
    "result_type": Rule(types),
    "isdtype": Rule(kinds),
    "finfo": Rule(made(some_dtype(INEXACT))),
    "iinfo": Rule(made(some_dtype(INTEGERS))),
    "arange": Rule(ranged, 2),
    "linspace": Rule(spaced, CURVE, scaled=True),
    "asarray": Rule(converted),
    "from_dlpack": Rule(lambda inputs: call(any_array(inputs))),
    "empty": Rule(made(Inputs.shape, dtype=some_dtype(ALL)), undefined=True),
    "empty_like": Rule(like, undefined=True),
    **{name: Rule(made(Inputs.shape, dtype=some_dtype(ALL))) for name in ("ones", "zeros")},
    **{name: Rule(like) for name in ("ones_like", "zeros_like")},
    "full": Rule(filled),
    "full_like": Rule(lambda inputs: call(inputs.array(inputs.one_of(NUMBERS)), 1)),
    "eye": Rule(
        made(of_numbers(0, 3), of_numbers(0, 3), k=of_numbers(-3, 3), dtype=some_dtype(NUMBERS))
    ),
    "meshgrid": Rule(grids),
    **{name: Rule(triangle) for name in ("tril", "triu")},
}
