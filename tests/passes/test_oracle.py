"""The oracle: the sizes and arguments it chooses, and what it calls a difference."""

import numpy as np
import pytest

from brimstone.ir import tensor  # noqa: F401 # declares the ops of the texts
from brimstone.ir.dtypes import BY_NAME
from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.ir.types import Tensor
from brimstone.passes.oracle import (
    choose_sizes,
    difference,
    disagreement,
    left_out,
    observe,
    random_arguments,
    same_results,
)

RNG = np.random.default_rng(0)


def func(text: str) -> Func:
    return parse(text).main


def test_sizes_are_within_the_facts_and_differ_between_symbols() -> None:
    one = func("func @f<n: 0..64>(%x: tensor<[n], f32>) { return }")
    assert choose_sizes(one) == [{"n": size} for size in (0, 1, 2, 7, 33)]
    two = func("func @f<n: 3..9, m: 0..64 % 8>(%x: tensor<[n, m], f32>) { return }")
    chosen = choose_sizes(two)
    assert all(3 <= sizes["n"] <= 9 and sizes["m"] % 8 == 0 for sizes in chosen)
    assert {sizes["n"] for sizes in chosen} == {3, 7, 9}
    assert choose_sizes(func("func @f() { return }")) == [{}]


def test_sizes_at_which_a_type_has_no_shape_are_left_out() -> None:
    text = "func @f<n: 0..64>(%x: tensor<[n - 2], f32>) { return }"
    assert [sizes["n"] for sizes in choose_sizes(func(text))] == [2, 7, 33]


@pytest.mark.parametrize("name", BY_NAME)
def test_arguments_have_the_declared_types(name: str) -> None:
    dtype = BY_NAME[name]
    made = Func("f", [Tensor((3, 0), dtype), Tensor((), dtype), Tensor((40,), dtype)])
    for special in (False, True):
        arrays = random_arguments(made, {}, RNG, special)
        assert [array.shape for array in arrays] == [(3, 0), (), (40,)]
        assert {array.dtype for array in arrays} == {dtype.storage}


def test_ordinary_integers_can_be_indices_and_special_ones_are_extreme() -> None:
    made = Func("f", [Tensor((500,), BY_NAME["i8"])])
    (ordinary,) = random_arguments(made, {}, RNG, special=False)
    assert set(ordinary.tolist()) == {0, 1, 2}
    (special,) = random_arguments(made, {}, RNG)
    assert {-128, 127, -1} <= set(special.tolist())


def test_special_floats_hold_what_rules_go_wrong_at() -> None:
    made = Func("f", [Tensor((500,), BY_NAME["f16"])])
    (array,) = random_arguments(made, {}, RNG)
    assert np.isnan(array).any()
    assert np.isinf(array).any()
    assert np.signbit(array[array == 0]).any()
    (ordinary,) = random_arguments(made, {}, RNG, special=False)
    assert np.isfinite(ordinary).all()


def test_arguments_are_the_same_for_the_same_seed() -> None:
    made = Func("f", [Tensor((9,), BY_NAME["f32"])])
    one, other = (random_arguments(made, {}, np.random.default_rng(5)) for _ in range(2))
    assert same_results(one, other)


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (f32(0.0), f32(-0.0), "result 0 differs at [0]: 0.0 became -0.0"),
        (f32(1, 2), f32(1, np.nan), "result 0 differs at [1]: 2.0 became nan"),
        (f32(1.0), f32(1.0000001), "result 0 differs at [0]: 1.0 became 1.0000001"),
        (f32(1), np.array([1.0]), "result 0 is float64[1], and was float32[1]"),
        (f32(1), f32(1, 1), "result 0 is float32[2], and was float32[1]"),
        (np.array(True), np.array(False), "result 0 differs at []: true became false"),
        (np.array([1j]), np.array([complex(-0.0, 1)]), "result 0 differs at [0]"),
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [5, 4]]), "at [1, 0]: 3 became 5"),
    ],
)
def test_what_is_a_difference(left: np.ndarray, right: np.ndarray, message: str) -> None:
    assert message in (difference([left], [right]) or "")
    assert not same_results([left], [right])


def test_nans_are_equal_whatever_their_payload() -> None:
    other = np.array([0x7FC00001], np.uint32).view(np.float32)
    assert same_results([f32(np.nan), np.zeros((0, 2))], [other, np.zeros((0, 2))])
    assert difference([f32(1)], []) == "1 results became 0"


def test_a_tolerance_is_relative_above_one_and_absolute_below() -> None:
    assert same_results([f32(1000.0)], [f32(1000.5)], tolerance=1e-3)
    assert not same_results([f32(1000.0)], [f32(1002.0)], tolerance=1e-3)
    assert same_results([f32(1e-9, 0.0)], [f32(0.0, -0.0)], tolerance=1e-3)
    assert not same_results([f32(np.inf)], [f32(-np.inf)], tolerance=1e-3)
    assert not same_results([f32(1.0)], [f32(np.nan)], tolerance=1e-3)
    assert not same_results([np.array([1000])], [np.array([1001])], tolerance=1.0)


EXP = "func @f<n: 0..9>(%x: tensor<[n], f32>) -> tensor<[n], f32> {{ {} return %y }}"
SAME = EXP.format("%y = tensor.exp %x : tensor<[n], f32>\n")
OTHER = EXP.format("%y = tensor.tanh %x : tensor<[n], f32>\n")


def test_a_disagreement_names_the_func_the_sizes_and_the_element() -> None:
    trials = list(observe(parse(SAME)))
    assert len(trials) == 10
    assert disagreement(trials, parse(SAME)) is None
    assert (disagreement(trials, parse(OTHER)) or "").startswith("@f, n = 1: result 0 differs at [")
    assert disagreement(trials, parse(SAME.replace("@f", "@g"))) == "@f is gone"
    fails = SAME.replace("%x: tensor<[n], f32>", "%x: tensor<[n], f32>, %z: tensor<[n], f32>")
    assert "it fails, and did not before" in (disagreement(trials, parse(fails)) or "")


def test_what_fails_by_itself_says_nothing() -> None:
    text = """
    func @f(%x: tensor<[2], f32>, %at: tensor<[1], i32>) -> tensor<[], f32> {
      %y = tensor.gather %x, %at {axes = [0], batch = 0, outside = error} : tensor<[], f32>
      return %y
    }"""
    ran = list(observe(parse(text), seed=1))
    assert all(trial.arguments[1] in (0, 1) for trial in ran)


ENDLESS = """
func @f(%x: tensor<[], f32>) -> tensor<[], f32> {
  %y = tensor.while %x (%a: tensor<[], f32>) {
    %true = tensor.constant {value = true} : tensor<[], bool>
    yield %true
  } (%a: tensor<[], f32>) {
    yield %a
  } : tensor<[], f32>
  return %y
}
"""


def test_an_endless_loop_says_nothing_either() -> None:
    assert not list(observe(parse(ENDLESS)))
    trials = list(observe(parse("func @f(%x: tensor<[], f32>) -> tensor<[], f32> { return %x }")))
    assert "more blocks than it is allowed" in (disagreement(trials, parse(ENDLESS)) or "")


def test_a_func_of_views_is_left_out() -> None:
    module = parse("func @f(%x: view<1, f32, {}>) { return }")
    assert not list(observe(module))
    assert "@f was not run: there are no random values of type view" in next(left_out(module))


GIANT = "func @f<n: {}>(%x: tensor<[n, 1000000], f32>) -> tensor<[n, 1000000], f32> {{ return %x }}"


@pytest.mark.parametrize(
    ("sizes", "chosen"), [("0..64", [0, 1, 2]), ("4..64", [4]), ("5..64", []), ("1..1", [1])]
)
def test_symbols_are_small_enough_for_the_memory(sizes: str, chosen: list[int]) -> None:
    made = choose_sizes(func(GIANT.format(sizes)))
    assert [each["n"] for each in made] == chosen


def test_what_is_always_too_large_is_not_run_and_said_so() -> None:
    module = parse(GIANT.format("0..9").replace("1000000", "4000000, 0, 4000000"))
    assert not list(observe(module))
    (reason,) = left_out(module)
    assert reason.startswith(
        "@f was not run: at all sizes that were tried, a value has no shape or"
    )
    assert not list(left_out(parse(SAME)))


def test_the_least_sizes_are_tried_where_no_others_are_possible() -> None:
    sizes = "<n: 3000..9000 % 3, m: 1400..9000 % 7>"
    text = f"func @f{sizes}(%x: tensor<[n - 2999, m - 1399], f32>) {{ return }}"
    assert choose_sizes(func(text)) == [{"n": 3000, "m": 1400}]


def test_calls_reach_the_other_funcs() -> None:
    text = """
    func @f(%x: tensor<[2], f32>) -> tensor<[2], f32> {
      %y = tensor.call %x {callee = @g} : tensor<[2], f32>
      return %y
    }
    func @g(%x: tensor<[2], f32>) -> tensor<[2], f32> {
      %y = tensor.exp %x : tensor<[2], f32>
      return %y
    }"""
    assert {trial.func for trial in observe(parse(text))} == {"f", "g"}
