"""Conditions and loops: text, refusals, and meaning at sizes 0, 1 and a prime."""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import f32, i64
from brimstone.ir.errors import ExecutionError, VerifyError
from brimstone.ir.func import Func, Return, Yield
from brimstone.ir.interpreter import interpret
from brimstone.ir.payloads import Number
from brimstone.ir.types import Tensor
from kit.texts import failing, read, refused, run

F32 = np.float32


def vector(size: int) -> np.ndarray:
    return np.arange(1, size + 1, dtype=F32)


# Conditions --------------------------------------------------------------------------------------

COND = """
func @f(%p: tensor<[], bool>, %x: tensor<[3], f32>, %y: tensor<[3], f32>)
    -> (tensor<[3], f32>, tensor<[3], f32>) {
  %a, %b = tensor.cond %p, %x (%t: tensor<[3], f32>) {
    %s = tensor.add %t, %y : tensor<[3], f32>
    yield %s, %t
  } (%t: tensor<[3], f32>) {
    yield %t, %y
  } : tensor<[3], f32>, tensor<[3], f32>
  return %a, %b
}
"""


def test_one_region_of_a_condition_runs() -> None:
    x, y = vector(3), -2 * vector(3)
    for predicate, expected in ((True, (x + y, x)), (False, (x, y))):
        found = run(COND, np.asarray(predicate), x, y)
        assert all((one == other).all() for one, other in zip(found, expected, strict=True))


def test_a_condition_without_arguments_runs_what_is_outside() -> None:
    text = """
func @f(%p: tensor<[], bool>, %x: tensor<[], f32>) -> tensor<[], f32> {
  %a = tensor.cond %p () {
    yield %x
  } () {
    %b = tensor.negate %x : tensor<[], f32>
    yield %b
  } : tensor<[], f32>
  return %a
}
"""
    assert run(text, np.asarray(True), F32(2)) == 2
    assert run(text, np.asarray(False), F32(2)) == -2


WRONG_CONDS = {
    "predicate has type tensor<[3], f32>, expected a dtype among bool": (
        COND.replace("%p, %x (", "%x, %x (", 1)
    ),
    "the predicate has rank 0: tensor<[1], bool>": COND.replace("%p: tensor<[]", "%p: tensor<[1]"),
    "the region on_true takes (tensor<[3], f64>), expected (tensor<[3], f32>)": (
        """
func @f(%p: tensor<[], bool>, %x: tensor<[3], f32>) -> tensor<[3], f64> {
  %a = tensor.cond %p, %x (%t: tensor<[3], f64>) {
    yield %t
  } (%t: tensor<[3], f64>) {
    yield %t
  } : tensor<[3], f64>
  return %a
}
"""
    ),
    "the region on_false yields (tensor<[3], f32>), expected (tensor<[3], f32>, ": (
        COND.replace("yield %t, %y", "yield %t")
    ),
    "the region on_false does not end in yield": COND.replace("yield %t, %y", "return %t, %y"),
    "the result has type tensor<[3], f32>, tensor<[3], f64>": (
        COND.replace(
            "} : tensor<[3], f32>, tensor<[3], f32>", "} : tensor<[3], f32>, tensor<[3], f64>"
        )
    ),
    "the region on_true holds step.dim, which is not pure": """
func @f(%p: tensor<[], bool>, %x: array<[3], f32>) {
  tensor.cond %p () {
    %a = step.dim %x {axis = 0} : scalar<i64>
    yield
  } () {
    yield
  }
  return
}
""",
}


@pytest.mark.parametrize("problem", WRONG_CONDS)
def test_a_condition_that_breaks_a_rule(problem: str) -> None:
    assert problem in refused(WRONG_CONDS[problem])


# Loops -------------------------------------------------------------------------------------------


def running_sums(reverse: bool) -> str:
    return f"""
func @f<n: 0..64>(%x: tensor<[n, 2], f32>, %start: tensor<[2], f32>)
    -> (tensor<[2], f32>, tensor<[n, 2], f32>, tensor<[n], i64>) {{
  %sum, %sums, %places = tensor.loop [%start], %x {{trip = n, reverse = {str(reverse).lower()}}} (
      %i: tensor<[], i64>, %carry: tensor<[2], f32>, %row: tensor<[2], f32>) {{
    %next = tensor.add %carry, %row : tensor<[2], f32>
    yield %next, %next, %i
  }} : tensor<[2], f32>, tensor<[n, 2], f32>, tensor<[n], i64>
  return %sum, %sums, %places
}}
"""


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_loop_carries_and_stacks(size: int, reverse: bool) -> None:
    x, start = np.arange(2 * size, dtype=F32).reshape(size, 2), np.array([10, 20], F32)
    total, sums, places = run(running_sums(reverse), x, start)
    rows = x[::-1] if reverse else x
    expected = start + np.cumsum(rows, axis=0)
    assert (sums == (expected[::-1] if reverse else expected)).all()
    assert (total == start + x.sum(axis=0)).all()
    assert (places == np.arange(size)).all()
    assert (sums.shape, sums.dtype, places.dtype) == ((size, 2), F32, np.int64)


LISTS: list[tuple[str, Sequence[np.ndarray]]] = [
    ("tensor.loop [] {trip = 3, reverse = false} (%i: tensor<[], i64>) {\n yield\n }\n return", []),
    (
        "%y = tensor.loop [], %x {trip = 3, reverse = false} "
        "(%i: tensor<[], i64>, %r: tensor<[], f32>) {\n"
        "%s = tensor.multiply %r, %r : tensor<[], f32>\nyield %s\n} : tensor<[3], f32>\nreturn %y",
        [vector(3) ** 2],
    ),
    (
        "%y = tensor.loop [%x] {trip = 3, reverse = false} "
        "(%i: tensor<[], i64>, %c: tensor<[3], f32>) {\n"
        "%s = tensor.add %c, %x : tensor<[3], f32>\n yield %s\n} : tensor<[3], f32>\n return %y",
        [4 * vector(3)],
    ),
]


@pytest.mark.parametrize(("body", "expected"), LISTS)
def test_a_loop_may_lack_carries_or_inputs(body: str, expected: Sequence[np.ndarray]) -> None:
    returns = " -> tensor<[3], f32>" if expected else ""
    text = f"func @f(%x: tensor<[3], f32>){returns} {{\n{body}\n}}"
    found = interpret(read(text), vector(3))
    assert all((one == other).all() for one, other in zip(found, expected, strict=True))


def test_a_carry_is_rounded_in_each_step() -> None:
    text = """
func @f(%x: tensor<[2], bf16>) -> tensor<[], bf16> {
  %zero = tensor.constant {value = 256.0} : tensor<[], bf16>
  %y = tensor.loop [%zero], %x {trip = 2} (
      %i: tensor<[], i64>, %c: tensor<[], bf16>, %r: tensor<[], bf16>) {
    %s = tensor.add %c, %r : tensor<[], bf16>
    yield %s
  } : tensor<[], bf16>
  return %y
}
"""
    found = run(text, np.array([1, 1], ml_dtypes.bfloat16))
    assert found.dtype == ml_dtypes.bfloat16
    assert float(found) == 256.0


def test_loops_nest_and_read_what_is_outside() -> None:
    text = """
func @f<n: 0..8>(%x: tensor<[n, n], i64>) -> tensor<[n, n], i64> {
  %y = tensor.loop [], %x {trip = n} (%i: tensor<[], i64>, %row: tensor<[n], i64>) {
    %z = tensor.loop [], %row {trip = n} (%j: tensor<[], i64>, %e: tensor<[], i64>) {
      %ij = tensor.multiply %i, %j : tensor<[], i64>
      %s = tensor.add %ij, %e : tensor<[], i64>
      yield %s
    } : tensor<[n], i64>
    yield %z
  } : tensor<[n, n], i64>
  return %y
}
"""
    x = np.full((5, 5), 100)
    assert (run(text, x) == x + np.outer(np.arange(5), np.arange(5))).all()


def loop(trip: str = "3", body: str = "yield %c, %r", header: str = "") -> str:
    header = header or "%i: tensor<[], i64>, %c: tensor<[], f32>, %r: tensor<[], f32>"
    return f"""
func @f(%x: tensor<[3], f32>, %a: tensor<[], f32>) -> tensor<[3], f32> {{
  %b, %y = tensor.loop [%a], %x {{trip = {trip}}} ({header}) {{
    {body}
  }} : tensor<[], f32>, tensor<[3], f32>
  return %y
}}
"""


WRONG_LOOPS = {
    "an input has type tensor<[3], f32>, expected a leading axis of the trip count, 4": (
        loop(trip="4").replace("tensor<[3], f32>\n  return", "tensor<[4], f32>\n  return")
        .replace("-> tensor<[3]", "-> tensor<[4]")
    ),
    "an input has type tensor<[], f32>, expected a leading axis": (
        loop().replace(", %x {", ", %a {")
    ),
    "-1 is not a size": loop(trip="-1"),
    "the region body takes (tensor<[], i32>, tensor<[], f32>, tensor<[], f32>), expected": (
        loop(header="%i: tensor<[], i32>, %c: tensor<[], f32>, %r: tensor<[], f32>")
    ),
    "the region body takes (tensor<[], i64>, tensor<[], f32>), expected": (
        loop(header="%i: tensor<[], i64>, %c: tensor<[], f32>", body="yield %c, %c")
    ),
    "the region body yields (tensor<[], i64>, tensor<[], f32>), expected (tensor<[], f32>, ": (
        loop(body="yield %i, %r")
    ),
    "the region body yields (), expected (tensor<[], f32>)": (
        loop(body="yield").replace("%b, %y", "%y").replace("} : tensor<[], f32>, ", "} : ")
        .replace("%y = ", "%b = ")
        .replace(": tensor<[3], f32>\n  return %y", ": tensor<[], f32>\n  return %x")
    ),
    "the region body does not end in yield": loop(body="return %c, %r"),
}  # fmt: skip


@pytest.mark.parametrize("problem", WRONG_LOOPS)
def test_a_loop_that_breaks_a_rule(problem: str) -> None:
    assert problem in refused(WRONG_LOOPS[problem])


def test_a_trip_count_that_comes_out_negative() -> None:
    text = """
func @f<n: 0..8>(%x: tensor<[n], f32>) {
  tensor.loop [] {trip = n - 3} (%i: tensor<[], i64>) {
    yield
  }
  return
}
"""
    interpret(read(text), vector(5))
    assert "model.py:3: tensor.loop: the trip count n - 3 is -1" in failing(text, vector(2))


# While -------------------------------------------------------------------------------------------

DOUBLE_UP_TO = """
func @f(%x: tensor<[], i64>, %limit: tensor<[], i64>) -> (tensor<[], i64>, tensor<[], i64>) {
  %zero = tensor.constant {value = 0} : tensor<[], i64>
  %one = tensor.constant {value = 1} : tensor<[], i64>
  %y, %steps = tensor.while %x, %zero (%a: tensor<[], i64>, %n: tensor<[], i64>) {
    %p = tensor.less %a, %limit : tensor<[], bool>
    yield %p
  } (%a: tensor<[], i64>, %n: tensor<[], i64>) {
    %b = tensor.add %a, %a : tensor<[], i64>
    %m = tensor.add %n, %one : tensor<[], i64>
    yield %b, %m
  } : tensor<[], i64>, tensor<[], i64>
  return %y, %steps
}
"""


@pytest.mark.parametrize(("start", "end", "steps"), [(3, 24, 3), (17, 17, 0), (16, 32, 1)])
def test_while_the_condition_holds(start: int, end: int, steps: int) -> None:
    assert run(DOUBLE_UP_TO, np.int64(start), np.int64(17)) == (end, steps)


def test_an_endless_loop_can_be_stopped() -> None:
    with pytest.raises(ExecutionError, match="more blocks than it is allowed"):
        interpret(read(DOUBLE_UP_TO), np.int64(0), np.int64(17), blocks=50)


WRONG_WHILES = {
    "the region condition yields (tensor<[], i64>), expected (tensor<[], bool>)": (
        DOUBLE_UP_TO.replace("yield %p", "yield %a")
    ),
    "the region body yields (tensor<[], i64>), expected (tensor<[], i64>, tensor<[], i64>)": (
        DOUBLE_UP_TO.replace("yield %b, %m", "yield %b")
    ),
    "the region condition takes (tensor<[], i64>, tensor<[], i64>), expected (tensor<[], i64>)": (
        DOUBLE_UP_TO.replace("%x, %zero (", "%x (").replace("%y, %steps =", "%y =")
        .replace("} : tensor<[], i64>, tensor<[], i64>", "} : tensor<[], i64>")
    ),
    "the result has type tensor<[], i64>, tensor<[], f32>": (
        DOUBLE_UP_TO.replace(
            "} : tensor<[], i64>, tensor<[], i64>", "} : tensor<[], i64>, tensor<[], f32>"
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("problem", WRONG_WHILES)
def test_a_while_that_breaks_a_rule(problem: str) -> None:
    assert problem in refused(WRONG_WHILES[problem])


# Building ----------------------------------------------------------------------------------------


def test_a_loop_over_constants_is_built_and_not_unrolled() -> None:
    func = Func("f")
    builder = Builder(func.body)
    one = builder.emit(tensor.Constant, Number(1.0, f32))
    inner = builder.nest([Tensor((), i64), one.type])
    carry = inner.block.arguments[1]
    inner.emit_all(Yield, [inner.emit(tensor.Add, carry, one), carry])
    total, parts = builder.emit_all(tensor.Loop, [one], [], 4, inner.block)
    builder.emit_all(Return, [total, parts])
    assert isinstance(total.op, tensor.Loop)
    found = interpret(func)
    assert (found[0], found[1].tolist()) == (5, [1, 2, 3, 4])


def test_a_loop_cannot_be_built_around_an_unfinished_region() -> None:
    builder = Builder(Func("f").body)
    inner = builder.nest([Tensor((), i64)])
    with pytest.raises(VerifyError, match=r"tensor\.loop: the region body does not end in yield"):
        builder.emit_all(tensor.Loop, [], [], 4, inner.block)
