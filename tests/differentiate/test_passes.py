"""What the four passes promise besides numbers: lines, names, residuals, errors, and no change."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import f32, i32
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.locations import Location
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from brimstone.ir.types import Tensor
from brimstone.ir.values import Value
from brimstone.ir.verifier import verify
from brimstone.passes.differentiate import (
    Linearised,
    NotDifferentiable,
    Origin,
    Source,
    jvp,
    linearise,
    transpose,
    vjp,
)
from kit.derivatives import check_derivatives
from kit.invariants import check_invariants

TEXT = """
func @loss<n: 1..64>(%x: tensor<[n, 3], f64>, %w: tensor<[3], f64>, %k: tensor<[n], i64>)
    -> (tensor<[n, 3], f64>, tensor<[n, 3], f64>, tensor<[n], i64>, tensor<[3], f64>) {
  %wide = tensor.broadcast %w {shape = [n, 3], axes = [1]} : tensor<[n, 3], f64>
  %product = tensor.multiply %x, %wide : tensor<[n, 3], f64>
  %sine = tensor.sin %product : tensor<[n, 3], f64>
  %power = tensor.exp %sine : tensor<[n, 3], f64>
  return %power, %x, %k, %w
}
"""


def loss() -> Func:
    module = parse(TEXT, "loss.ir")
    verify(module)
    return module.main


def test_ops_have_the_lines_of_what_they_come_from() -> None:
    known = {("loss.ir", line) for line in range(4, 8)}
    parts = linearise(loss(), [True, True, False])
    pulled = vjp(loss(), [True, True, False], [0])
    for made in (parts.forward, parts.linear, pulled, jvp(loss(), [True, True, False])):
        for op in made.body:
            if not op.terminator:
                assert op.location, op
                assert set(op.location) <= known
    cosine = next(op for op in pulled.body if isinstance(op, tensor.Cos))
    assert str(cosine.location) == "loss.ir:6"
    total = next(op for op in pulled.body if isinstance(op, tensor.ReduceSum))
    assert str(total.location) == "loss.ir:4"


def test_names_and_sizes_stay() -> None:
    pulled = vjp(loss(), [True, True, False], [0])
    assert [value.name for value in pulled.arguments] == ["x", "w", "k", "power_cotangent"]
    assert pulled.symbols == loss().symbols
    assert pulled.name == "loss_vjp"
    pushed = jvp(loss(), [False, True, False])
    assert [value.name for value in pushed.arguments] == ["x", "w", "k", "w_tangent"]


def test_results_are_outputs_then_what_can_have_a_tangent() -> None:
    func = loss()
    outputs = [value.type for value in func.results]
    inexact = [outputs[0], outputs[1], outputs[3]]
    assert types(jvp(func, [True, False, False])) == [*outputs, *inexact]
    assert types(linearise(func, [False, True, False]).linear) == inexact
    arguments = [value.type for value in func.arguments]
    assert types(vjp(func, [True, True, False], [3, 0])) == [*outputs, *arguments[:2]]


def types(func: Func) -> list[object]:
    return [value.type for value in func.results]


def test_what_does_not_depend_has_a_gradient_of_zeros() -> None:
    pulled = vjp(loss(), [True, True, False], [1])
    x, w, k = np.ones((2, 3)), np.ones(3), np.arange(2)
    *_, by_x, by_w = interpret(pulled, x, w, k, 2 * x)
    assert (by_x == 2).all()
    assert by_w.tolist() == [0, 0, 0]
    *_, tangent = interpret(jvp(loss(), [False, True, False]), x, w, k, w)[4:6]
    assert not tangent.any()


def test_nothing_is_asked_of_a_func_without_flags() -> None:
    func = loss()
    check_derivatives(func, [np.ones((2, 3)), np.ones(3), np.arange(2)], [False, False, False], n=2)
    assert vjp(func, [False, False, False], []).body.terminator.operands
    assert len(linearise(func, [False] * 3).linear.arguments) == 0


def test_an_argument_may_be_returned_twice() -> None:
    text = (
        "func @f(%x: tensor<[2], f64>) -> (tensor<[2], f64>, tensor<[2], f64>) {\n return %x, %x\n}"
    )
    func = parse(text).main
    check_derivatives(func, [np.ones(2)], [True])
    *_, gradient = interpret(vjp(func, [True], [0, 1]), np.ones(2), np.ones(2), np.full(2, 5.0))
    assert gradient.tolist() == [6, 6]


def test_residuals_are_listed_once_with_where_else_they_are() -> None:
    parts = linearise(loss(), [True, True, False])
    found = {
        value.name: source
        for value, source in zip(parts.linear.arguments, parts.residual_sources, strict=False)
    }
    assert found["x"] == Source(Origin.ARGUMENT, 0)
    assert found["w"] == Source(Origin.ARGUMENT, 1), "and not the broadcast one"
    assert found["power"] == Source(Origin.OUTPUT, 0)
    assert found[None] == Source(Origin.STORED, 4 + list(found).index(None))
    assert len(found) == 4
    cosine = parts.forward.results[found[None].index]
    assert isinstance(cosine.op, tensor.Cos)


def test_only_what_is_cheap_is_made_again() -> None:
    parts = linearise(loss(), [True, True, False])
    linear = set(parts.linear.arguments[len(parts.residual_sources) :])
    again = []
    for op in parts.linear.body:
        if linear.intersection(op.operands):
            linear.update(op.results)
        else:
            again.append(op.name)
    assert again == ["tensor.broadcast"]
    assert all(value in linear for value in parts.linear.results)


NORM = """
func @f(%x: tensor<[2, 3], f64>) -> tensor<[2, 3], f64> {
  %e = tensor.exp %x : tensor<[2, 3], f64>
  %m = tensor.reduce_maximum %e {axes = [1]} : tensor<[2], f64>
  %means = tensor.broadcast %m {shape = [2, 3], axes = [0]} : tensor<[2, 3], f64>
  %centred = tensor.subtract WHOLE, %means : tensor<[2, 3], f64>
  %squares = tensor.multiply %centred, %centred : tensor<[2, 3], f64>
  %s = tensor.reduce_sum %squares {axes = [1]} : tensor<[2], f64>
  %sums = tensor.broadcast %s {shape = [2, 3], axes = [0]} : tensor<[2, 3], f64>
  %y = tensor.divide %centred, %sums : tensor<[2, 3], f64>
  %z = tensor.multiply %y, %y : tensor<[2, 3], f64>
  return %z
}"""


@pytest.mark.parametrize("whole", ["x", "e"])
def test_little_arithmetic_on_what_is_at_hand_is_done_again(whole: str) -> None:
    """No result of a subtraction or a division is kept, only what they are made of."""
    func = parse(NORM.replace("WHOLE", f"%{whole}")).main
    parts = linearise(func, [True])
    kept = parts.linear.arguments[: len(parts.residual_sources)]
    assert {value.name for value in kept if value.type.rank == 2} == {"e", whole}
    again = {op.results[0].name for op in parts.linear.body if op.results}
    assert {"centred", "y"} <= again
    check_derivatives(func, [np.array([[0.1, 0.7, 0.2], [0.9, 0.3, 0.4]])], [True])


def test_a_mask_is_kept_as_booleans() -> None:
    text = """
func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> {
  %zero = tensor.constant {value = 0.0} : tensor<[], f32>
  %zeros = tensor.broadcast %zero {shape = [4]} : tensor<[4], f32>
  %p = tensor.less %zeros, %x : tensor<[4], bool>
  %keep = tensor.cast %p {dtype = f32} : tensor<[4], f32>
  %y = tensor.multiply %x, %keep : tensor<[4], f32>
  return %y
}"""
    parts = linearise(parse(text).main, [True])
    assert [value.dtype.name for value in parts.linear.arguments] == ["bool", "f32"]


def test_the_func_is_not_changed() -> None:
    func = loss()
    before = print_func(func), {value: dict(value.uses) for op in func.body for value in op.results}
    parts = linearise(func, [True, True, False])
    linear = print_func(parts.linear)
    transpose(parts.linear, len(parts.residual_sources))
    jvp(func, [True, True, False])
    vjp(func, [True, True, False], [0, 1])
    assert before == (
        print_func(func),
        {value: dict(value.uses) for op in func.body for value in op.results},
    )
    assert print_func(parts.linear) == linear
    check_invariants(func)


def test_a_failure_leaves_the_func_as_it_was() -> None:
    """Also where an op was to be written as simpler ones."""
    text = """
func @f(%q: tensor<[1, 1, 2, 3], f64>, %b: tensor<[1, 1, 2, 2], f64>) -> tensor<[1, 1, 2, 3], f64> {
  %o, %l, %r = tensor.attention %q, %q, %q {scale = 1.0} (%s: tensor<[1, 1, 2, 2], f64>) {
    %k = tensor.custom %s, %b {kernel = "numpy:add"} : tensor<[1, 1, 2, 2], f64>
    yield %k
  } : tensor<[1, 1, 2, 3], f64>, tensor<[1, 1, 2], f64>, tensor<[1, 1, 2], f64>
  return %o
}"""
    func = parse(text, "failing.ir").main
    with pytest.raises(NotDifferentiable, match=r"failing.ir:4.*: tensor.custom has no derivative"):
        jvp(func, [True, True])
    check_invariants(func)


def build(*types: Tensor) -> tuple[Func, Builder]:
    func = Func("f", types)
    return func, Builder(func.body, location=Location(("model.py", 12)))


def test_an_op_without_a_rule_is_named_with_its_line() -> None:
    func, builder = build(Tensor((2,), f32))
    outputs = [Tensor((2,), f32)]
    made = builder.emit_all(tensor.Custom, func.arguments, "package.module:kernel", outputs)
    builder.emit_all(Return, made)
    for differentiate in (jvp, linearise, lambda func, wrt: vjp(func, wrt, [0])):
        with pytest.raises(NotDifferentiable) as caught:
            differentiate(func, [True])
        assert str(caught.value) == "model.py:12: tensor.custom has no derivative"


def test_what_is_not_linear_is_not_transposed() -> None:
    for cls in (tensor.Exp, tensor.Multiply, tensor.Divide):
        func, builder = build(Tensor((2,), f32))
        operands = [*func.arguments] * (1 if cls is tensor.Exp else 2)
        builder.emit_all(Return, [builder.emit(cls, *operands)])
        with pytest.raises(NotDifferentiable, match=f"model.py:12: {cls.name} is (not )?linear"):
            transpose(func, 0)


def test_integers_have_no_tangents() -> None:
    func, builder = build(Tensor((2,), i32), Tensor((2,), f32))
    builder.emit_all(Return, func.arguments)
    with pytest.raises(NotDifferentiable, match=r"@f: an argument is .*i32.*, and only floats"):
        jvp(func, [True, False])
    with pytest.raises(NotDifferentiable, match=r"@f: an output is .*i32"):
        vjp(func, [False, True], [0])
    with pytest.raises(NotDifferentiable, match=r"@f: an argument is .*i32"):
        transpose(func, 0)
    with pytest.raises(NotDifferentiable, match="@f has 2 arguments, and wrt 1 flags"):
        linearise(func, [True])


def test_a_long_chain_is_no_deep_recursion() -> None:
    """Nor is a long chain of views between a residual and what it is made of."""
    func, builder = build(Tensor((2, 3), f32))
    (x,) = func.arguments
    view: Value = x
    for place in range(3000):
        view = builder.emit(tensor.Permute, view, (1, 0))
        view = builder.emit(tensor.Reshape, view, (2, 3) if place % 2 else (3, 2))
        view = builder.emit(tensor.Permute, view, (1, 0)) if view.shape == (3, 2) else view
    builder.emit_all(Return, [builder.emit(tensor.Multiply, x, view)])
    parts: Linearised = linearise(func, [True])
    assert [source.origin for source in parts.residual_sources] == [Origin.ARGUMENT]
    vjp(func, [True], [0])
