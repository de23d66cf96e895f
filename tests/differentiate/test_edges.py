"""Derivatives where a rule has to decide, or where the obvious formula divides by zero."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import BY_NAME, bf16, c64, f16, f32, f64
from brimstone.ir.interpreter import interpret
from brimstone.ir.payloads import Number
from brimstone.ir.tensor.indexing import Combiner
from brimstone.passes.differentiate import jvp, vjp
from kit.derivatives import assert_near, check_derivatives, checked, inexact_outputs
from kit.slopes import Array, Case, one_op

RNG = np.random.default_rng(4)
NAN, INF = np.nan, np.inf


def gradients(case: Case, *cotangents: Array) -> list[Array]:
    """By each argument that is not an integer; cotangents are 1 where none is given."""
    outputs = interpret(case.func, *case.arguments)
    places = inexact_outputs(case.func)
    given = cotangents or [np.ones_like(outputs[place]) for place in places]
    pulled = checked(vjp(case.func, case.wrt, places))
    return list(interpret(pulled, *case.arguments, *given)[len(outputs) :])


def floats(*numbers: float) -> Array:
    return np.array(numbers, np.float64)


KINKS: dict[str, tuple[type[Op], list[Array], list[Array]]] = {
    "|x|' is 0 at 0": (tensor.Absolute, [floats(0.0, -0.0, 2)], [floats(0, 0, 1)]),
    "|z|' is 0 at 0": (tensor.Absolute, [np.array([0j, 3 - 4j])], [np.array([0, 0.6 + 0.8j])]),
    "√' is inf at 0": (tensor.SquareRoot, [floats(0, 4)], [floats(INF, 0.25)]),
    "∛' is inf at 0": (tensor.CubeRoot, [floats(0, 8)], [floats(INF, 1 / 12)]),
    "the larger has it all, of equals each half": (
        tensor.Maximum,
        [floats(1, 2, 3, 0.0), floats(2, 1, 3, -0.0)],
        [floats(0, 1, 0.5, 0.5), floats(1, 0, 0.5, 0.5)],
    ),
    "so has the smaller": (
        tensor.Minimum,
        [floats(1, 2, 3), floats(2, 1, 3)],
        [floats(1, 0, 0.5), floats(0, 1, 0.5)],
    ),
    "a length of 0 has no direction": (
        tensor.Hypot,
        [floats(0, 3), floats(0, 4)],
        [floats(0, 0.6), floats(0, 0.8)],
    ),
    "the origin has no angle": (
        tensor.Arctan2,
        [floats(0, -0.0, 3), floats(0, 0, 4)],
        [floats(0, 0, 0.16), floats(0, 0, -0.12)],
    ),
    "to the 0 is constant, to the 1 is not": (
        tensor.Power,
        [floats(0, 0, 0, 3, -2), floats(0, 1, 2, 0, 0)],
        [floats(0, 1, 0, 0, 0), floats(0, 0, 0, np.log(3), NAN)],
    ),
    "a remainder loses whole multiples": (
        tensor.Remainder,
        [floats(5.5, -5.5, 5.5), floats(2, 2, -2)],
        [floats(1, 1, 1), floats(-2, 2, 2)],
    ),
    "copied signs turn x round": (
        tensor.CopySign,
        [floats(2, -2, 2, 0), floats(-1, -0.0, 0.0, 1)],
        [floats(-1, 1, 1, 0), floats(0, 0, 0, 0)],
    ),
    "the next number moves along": (
        tensor.NextAfter,
        [floats(1, 2), floats(5, -5)],
        [floats(1, 1), floats(0, 0)],
    ),
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks(name: str) -> None:
    cls, arguments, expected = KINKS[name]
    for found, wanted in zip(gradients(one_op(cls, *arguments)), expected, strict=True):
        assert np.allclose(found, wanted, equal_nan=True, rtol=1e-14), found


def test_a_product_with_zeros() -> None:
    rows = np.array([[2.0, 0, 3], [0, 0, 5], [1, 2, 3]])
    (found,) = gradients(one_op(tensor.ReduceProduct, rows, axes=(1,)))
    assert found.tolist() == [[0, 6, 0], [0, 0, 0], [6, 3, 2]]
    check_derivatives(*args_of(one_op(tensor.ReduceProduct, rows, axes=(0, 1))))


@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_products_with_zeros(reverse: bool) -> None:
    rows = np.array([[2.0, 0, 3, 4], [0, 0, 5, 1], [1, 2, 3, 0]])
    case = one_op(tensor.CumulativeProduct, rows, axis=1, reverse=reverse)
    check_derivatives(*args_of(case))


def test_products_of_updates_with_zeros_and_duplicates() -> None:
    x, updates = floats(2, 0, 5, 7), floats(0, 3, 0, 4, 0, 6)
    places = np.array([[0], [0], [1], [1], [3], [2]])
    case = one_op(tensor.Scatter, x, places, updates, axes=(0,), combiner=Combiner.MULTIPLY)
    by_x, by_updates = gradients(case)
    assert by_x.tolist() == [0, 0, 6, 0]
    assert by_updates.tolist() == [6, 0, 0, 0, 7, 5]
    check_derivatives(*args_of(case))


def test_the_last_update_of_a_place_has_the_gradient() -> None:
    places = np.array([[1], [1], [0], [1]])
    case = one_op(tensor.Scatter, floats(1, 2, 3), places, floats(4, 5, 6, 7), axes=(0,))
    by_x, by_updates = gradients(case, floats(10, 20, 30))
    assert by_x.tolist() == [0, 0, 30]
    assert by_updates.tolist() == [0, 0, 10, 20]


@pytest.mark.parametrize("combiner, ends", [(Combiner.MAXIMUM, 8), (Combiner.MINIMUM, 1)])
def test_equal_updates_share(combiner: Combiner, ends: float) -> None:
    places = np.array([[1], [1], [0], [1]])
    updates = floats(ends, ends, 5, 4)
    case = one_op(tensor.Scatter, floats(5, ends, 3), places, updates, axes=(0,), combiner=combiner)
    by_x, by_updates = gradients(case, floats(12, 30, 7))
    assert np.allclose(by_x, [6, 10, 7])
    assert np.allclose(by_updates, [10, 10, 6, 0])


def test_equal_elements_share() -> None:
    rows = np.array([[1.0, 3, 3, 3], [2, 2, 2, 2], [0, 0, 9, 0]])
    (found,) = gradients(one_op(tensor.ReduceMaximum, rows, axes=(1,)), floats(3, 8, 1))
    assert np.allclose(found, [[0, 1, 1, 1], [2, 2, 2, 2], [0, 0, 1, 0]])
    (found,) = gradients(one_op(tensor.ReduceMinimum, -rows, axes=(0, 1)), np.asarray(4.0))
    assert found.tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 4, 0]]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f8e5m2"])
def test_many_equal_elements_share_in_narrow_floats(dtype: str) -> None:
    """Their number, 70,000, is more than f16 holds."""
    ones = np.ones(70_000, BY_NAME[dtype].storage)
    (found,) = gradients(one_op(tensor.ReduceMaximum, ones, axes=(0,)))
    assert np.allclose(found.astype(float), 1 / 70_000, rtol=0.2)


@pytest.mark.parametrize("cls", [tensor.ReduceMaximum, tensor.ReduceMinimum, tensor.ReduceProduct])
def test_an_empty_axis_has_no_gradient(cls: type[Op]) -> None:
    case = one_op(cls, np.zeros((2, 0)), axes=(1,))
    made = interpret(jvp(case.func, [True]), *case.arguments, np.zeros((2, 0)))
    assert made[1].tolist() == [0, 0]
    assert gradients(case)[0].shape == (2, 0)


def test_the_last_of_equals_has_the_gradient_of_a_running_maximum() -> None:
    line = floats(1, 3, 3, 2, 3)
    (found,) = gradients(one_op(tensor.CumulativeMaximum, line, axis=0), floats(1, 2, 4, 8, 16))
    assert found.tolist() == [1, 2, 12, 0, 16]
    (found,) = gradients(
        one_op(tensor.CumulativeMinimum, -line, axis=0, reverse=True), floats(1, 2, 4, 8, 16)
    )
    assert found.tolist() == [0, 3, 4, 0, 24]


def test_equal_keys_keep_their_order_when_gradients_are_sorted() -> None:
    keys, others = floats(2, 1, 2, 1), floats(0, 0, 0, 0)
    case = one_op(tensor.Sort, keys, others, axis=0, keys=1)
    by_keys, by_others = gradients(case, floats(1, 2, 3, 4), floats(5, 6, 7, 8))
    assert by_keys.tolist() == [3, 1, 4, 2]
    assert by_others.tolist() == [7, 5, 8, 6]


# By the recurrence and the reflection of ψ₁, from ψ₁(1/2) = π²/2 and ψ₁(1) = π²/6.
TRIGAMMA = {
    0.5: np.pi**2 / 2, 1.0: np.pi**2 / 6, 1.5: np.pi**2 / 2 - 4, 2.0: np.pi**2 / 6 - 1,
    3.0: np.pi**2 / 6 - 1.25, -0.5: np.pi**2 / 2 + 4, -1.5: np.pi**2 / 2 + 4 + 4 / 9,
    0.25: 17.197329154507110271, 10.0: 0.10516633568168574612, 1e-3: 1000001.6425331958690,
    1e6: 1.0000005000001666667e-6, 1e12: 1.0000000000005e-12,
}  # fmt: skip


def test_the_derivative_of_digamma() -> None:
    places, expected = map(np.array, zip(*TRIGAMMA.items(), strict=True))
    (found,) = gradients(one_op(tensor.Digamma, places))
    assert np.allclose(found, expected, rtol=1e-13, atol=0)


def test_later_derivatives_of_digamma_are_finite_at_whole_numbers() -> None:
    """ψ₂(1) = -2 ζ(3), and ψ₂(n + 1) = ψ₂(n) + 2 / n³."""
    case = one_op(tensor.Digamma, floats(1, 2, 3))
    once = vjp(case.func, [True], [0])
    twice = vjp(once, [True, False], [1])
    *_, found = interpret(twice, *case.arguments, np.ones(3), np.ones(3))
    at_one = -2 * 1.2020569031595942854
    assert np.allclose(found, [at_one, at_one + 2, at_one + 2.25], rtol=1e-12)


NARROW: dict[str, tuple[type[Op], list[tuple[int, ...]], dict[str, Any]]] = {
    "exp": (tensor.Exp, [(3,)], {}),
    "power": (tensor.Power, [(3,), (3,)], {}),
    "maximum": (tensor.Maximum, [(3,), (3,)], {}),
    "digamma": (tensor.Digamma, [(3,)], {}),
    "reduce_product": (tensor.ReduceProduct, [(2, 3)], {"axes": (1,)}),
    "cumulative_product": (tensor.CumulativeProduct, [(2, 3)], {"axis": 1}),
    "cumulative_maximum": (tensor.CumulativeMaximum, [(2, 3)], {"axis": 1}),
    "pad": (tensor.Pad, [(2,)], {"low": (1,), "high": (0,), "interior": (0,)}),
}


@pytest.mark.parametrize("dtype", [f16, bf16, f32], ids=str)
@pytest.mark.parametrize("name", NARROW)
def test_tangents_have_the_dtype_of_their_values(name: str, dtype: Any) -> None:
    cls, shapes, attributes = NARROW[name]
    if cls is tensor.Pad:
        attributes = {**attributes, "value": Number(0, dtype)}
    arrays = [RNG.uniform(0.5, 2, shape).astype(dtype.storage) for shape in shapes]
    wide = [each.astype(float) for each in arrays]
    named = {**attributes, "value": Number(0, f64)} if cls is tensor.Pad else attributes
    found, expected = gradients(one_op(cls, *arrays, **attributes)), one_op(cls, *wide, **named)
    for ours, theirs in zip(found, gradients(expected), strict=True):
        assert ours.dtype == dtype.storage
        assert np.allclose(ours.astype(float), theirs, rtol=0.05)


PRODUCT = {"left_batch": (), "right_batch": (), "left_contract": (1,), "right_contract": (0,)}
WINDOW = {
    name: (1,) for name in ("strides", "low", "high", "input_dilation", "kernel_dilation")
}  # fmt: skip


@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64], ids=str)
@pytest.mark.parametrize("given", [f16, bf16], ids=str)
def test_contractions_whose_result_is_of_another_dtype(given: Any, dtype: Any) -> None:
    left, right = (RNG.standard_normal(shape).astype(given.storage) for shape in ((2, 3), (3, 4)))
    x, kernel = (RNG.standard_normal((2, 2, 3)).astype(given.storage) for _ in range(2))
    product = one_op(tensor.Contract, left, right, **PRODUCT, dtype=dtype)
    by_left, by_right = gradients(product)
    ones = np.ones((2, 4))
    assert by_left.dtype == by_right.dtype == given.storage
    assert np.allclose(by_left.astype(float), ones @ right.astype(float).T, rtol=0.02, atol=0.02)
    assert np.allclose(by_right.astype(float), left.astype(float).T @ ones, rtol=0.02, atol=0.02)
    by_x, by_kernel = gradients(one_op(tensor.Convolve, x, kernel, **WINDOW, groups=1, dtype=dtype))
    assert (by_x.dtype, by_kernel.dtype) == (x.dtype, kernel.dtype)


def test_casts_that_round_are_linear_all_the_same() -> None:
    for source, target in ((f64, f16), (f32, f64), (f64, c64), (c64, f32)):
        x = RNG.standard_normal(3).astype(source.storage)
        case = one_op(tensor.Cast, x, dtype=target)
        (found,) = gradients(case)
        assert found.dtype == x.dtype
        assert found.tolist() == [1, 1, 1]


def test_gradients_of_complex_numbers_are_not_conjugated() -> None:
    """With f(z) = z², c · f'(z) is 2cz."""
    z, c = np.array([1 + 2j]), np.array([3 - 1j])
    case = one_op(tensor.Multiply, z, z)
    left, right = gradients(case, c)
    assert_near(left + right, 2 * c * z, 1e-15, "a gradient")
    (found,) = gradients(one_op(tensor.Conjugate, z), c)
    assert_near(found, np.conj(c), 1e-15, "a gradient")


def args_of(case: Case) -> tuple[Any, Any, list[bool]]:
    return case.func, case.arguments, case.wrt
