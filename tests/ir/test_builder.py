"""The builder: equal things are one thing from birth, constants fold, mistakes are named."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import boolean, f32, f64, i32
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func, Return, Yield
from brimstone.ir.locations import Location
from brimstone.ir.payloads import Number, payload
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue
from brimstone.ir.verifier import verify
from kit.invariants import check_invariants

VECTOR = Tensor((4,), f32)


def start(*types: Tensor) -> tuple[Func, Builder]:
    """A func of these arguments, with nothing in it."""
    func = Func("f", types or (VECTOR, VECTOR))
    return func, Builder(func.body)


def number(builder: Builder, value: Any, dtype: Any = f32) -> AnyValue:
    return builder.emit(tensor.Constant, Number(value, dtype))


def payload_of(value: AnyValue) -> Any:
    assert isinstance(value.op, tensor.Constant)
    return value.op.value


def test_equal_ops_are_one() -> None:
    func, builder = start()
    x, y = func.arguments
    assert builder.emit(tensor.Add, x, y) is builder.emit(tensor.Add, x, y)
    assert builder.emit(tensor.Add, x, y) is not builder.emit(tensor.Add, y, x)
    assert builder.emit(tensor.Add, x, y) is not builder.emit(tensor.Subtract, x, y)
    assert builder.emit(tensor.Flip, x, (0,)) is builder.emit(tensor.Flip, x, axes=[0])
    assert len(list(func.walk())) == 4


def test_numbers_are_one_only_if_their_bits_are() -> None:
    _, builder = start()
    zero, negative = number(builder, 0.0), number(builder, -0.0)
    assert zero is number(builder, 0.0)
    assert zero is not negative
    assert number(builder, 1.0) is not number(builder, 1.0, f64)
    assert number(builder, 1, i32) is not number(builder, True, boolean)
    quiet = payload(np.array(0x7FC00000, np.uint32).view(np.float32), f32)
    other = payload(np.array(0x7FC00001, np.uint32).view(np.float32), f32)
    nan = builder.emit(tensor.Constant, quiet)
    assert nan is number(builder, float("nan"))
    assert nan is not builder.emit(tensor.Constant, other)


def test_an_equal_op_that_stands_later_moves_up() -> None:
    func, builder = start()
    x, y = func.arguments
    first = builder.emit(tensor.Exp, x)
    later = builder.emit(tensor.Tanh, y)
    builder.move_to(func.body, first.op)
    assert builder.emit(tensor.Tanh, y) is later
    assert list(func.body) == [later.op, first.op]
    check_invariants(func)


def test_reuse_joins_the_lines() -> None:
    func, builder = start()
    lines = [Location(("a.py", line)) for line in (3, 4)]
    for builder.location in (*lines, lines[0]):
        made = builder.emit(tensor.Exp, func.arguments[0])
    assert made.op is not None
    assert made.op.location is Location(("a.py", 3), ("a.py", 4))


def test_a_region_reuses_what_stands_outside_and_keeps_its_own() -> None:
    func, builder = start(Tensor((), boolean), VECTOR)
    predicate, x = func.arguments
    outside = builder.emit(tensor.Exp, x)
    region, other = builder.nest(), builder.nest()
    assert region.emit(tensor.Exp, x) is outside
    inside = region.emit(tensor.Tanh, x)
    region.emit_all(Yield, [inside])
    other.emit_all(Yield, [x])
    chosen = builder.emit(tensor.Cond, predicate, [], region.block, other.block)
    assert builder.emit(tensor.Tanh, x) is not inside
    builder.emit_all(Return, [chosen])
    verify(func)
    check_invariants(func)


def test_a_region_moves_up_what_stands_after_it() -> None:
    """An op that stands behind the region's op comes before it when the region needs it too."""
    func, builder = start(Tensor((), boolean), VECTOR)
    predicate, x = func.arguments
    region, other = builder.nest(), builder.nest()
    region.emit_all(Yield, [x])
    other.emit_all(Yield, [x])
    chosen = builder.emit(tensor.Cond, predicate, [], region.block, other.block)
    later = builder.emit(tensor.Exp, x)
    builder.emit_all(Return, [chosen, later])
    inside = Builder(region.block, region.block.terminator)
    region.block.terminator.set_operands((inside.emit(tensor.Exp, x),))
    assert func.body.first is later.op
    verify(func)
    check_invariants(func)


def test_a_region_may_need_the_op_before_which_it_is_built() -> None:
    func, builder = start(Tensor((), boolean), VECTOR)
    predicate, x = func.arguments
    needed = builder.emit(tensor.Exp, x)
    builder.move_to(func.body, needed.op)
    region, other = builder.nest(), builder.nest()
    region.emit_all(Yield, [region.emit(tensor.Exp, x)])
    other.emit_all(Yield, [x])
    chosen = builder.emit(tensor.Cond, predicate, [], region.block, other.block)
    Builder(func.body).emit_all(Return, [chosen])
    assert [op.name for op in func.body] == ["tensor.exp", "tensor.cond", "return"]
    verify(func)
    check_invariants(func)


def test_ops_on_constants_fold() -> None:
    func, builder = start()
    total = builder.emit(tensor.Add, number(builder, 1.5), number(builder, 2.0))
    assert payload_of(total) is Number(3.5, f32)
    two = builder.emit(tensor.Broadcast, number(builder, 2.0), (3,))
    assert payload_of(two) is payload(np.full(3, 2.0, np.float32), f32)
    assert isinstance(builder.emit(tensor.Add, *func.arguments).op, tensor.Add)


def test_large_results_do_not_fold() -> None:
    _, builder = start()
    wide = builder.emit(tensor.Broadcast, number(builder, 2.0), (1000, 1000))
    assert isinstance(wide.op, tensor.Broadcast)


def test_a_fold_that_fails_is_left_to_the_run() -> None:
    _, builder = start()
    x = builder.emit(tensor.Constant, payload(np.zeros(3, np.float32), f32))
    far = builder.emit(tensor.Constant, payload(np.array([[7]], np.int32), i32))
    assert isinstance(builder.emit(tensor.Gather, x, far, (0,)).op, tensor.Gather)


def test_mistakes_are_named() -> None:
    func, builder = start(VECTOR, Tensor((3,), f32))
    builder.location = Location(("model.py", 12))
    x, y = func.arguments
    with pytest.raises(VerifyError) as caught:
        builder.emit(tensor.Add, x, y)
    assert str(caught.value) == (
        "model.py:12: tensor.add: right has type tensor<[3], f32>, expected tensor<[4], f32> "
        "(from left) (operands: tensor<[4], f32>, tensor<[3], f32>)"
    )


@pytest.mark.parametrize(
    ("cls", "arguments", "said"),
    [
        (tensor.Add, (1.0, 2.0), "left is 1.0, not a value"),
        (tensor.Sort, ([None], 0, 1), "values is None, not a value"),
        (tensor.Sort, (3, 0, 1), "values is 3, not a value"),
        (tensor.Iota, ((4,), "0", f32), "expected an integer, got '0'"),
        (tensor.Iota, ((4,), 0, "f32"), "expected a dtype, got 'f32'"),
        (tensor.Iota, (4, 0, f32), "expected a list, each a size, got 4"),
        (tensor.Iota, ((4.0,), 0, f32), "expected an integer, got 4.0"),
        (tensor.Constant, ("one",), "expected a number, got 'one'"),
    ],
)
def test_wrong_arguments_are_named(cls: Any, arguments: tuple[Any, ...], said: str) -> None:
    _, builder = start()
    with pytest.raises(VerifyError) as caught:
        builder.emit(cls, *arguments)
    assert f"{cls.name}: {said}" in str(caught.value)


def test_nothing_is_left_of_an_op_that_is_refused() -> None:
    func, builder = start(VECTOR, Tensor((3,), f32))
    with pytest.raises(VerifyError):
        builder.emit(tensor.Flip, func.arguments[0], (5,))
    builder.emit_all(Return, [])
    assert [op.name for op in func.walk()] == ["return"]
    assert not func.arguments[0].uses
    check_invariants(func)


def test_results_of_several() -> None:
    func, builder = start()
    made = builder.emit_all(tensor.Sort, func.arguments, 0, 2)
    assert [value.type for value in made] == [VECTOR, VECTOR]
    assert builder.emit(tensor.Sort, func.arguments, 0, 2) is made[0]
