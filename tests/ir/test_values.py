"""Values, ops and blocks: readers, numbering, order, and changes that keep them true."""

from itertools import pairwise
from random import Random
from unittest import mock

import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import boolean, f32
from brimstone.ir.func import Func, Return, Yield, func_of
from brimstone.ir.locations import Location
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func, print_op
from brimstone.ir.shared import operands
from brimstone.ir.shared.operands import MANY, Places
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue, Op, replace
from brimstone.ir.verifier import verify
from kit.invariants import check_invariants
from kit.programs import random_program

VECTOR = Tensor((4,), f32)


def new_func(arguments: int = 2) -> tuple[Func, Builder, tuple[AnyValue, ...]]:
    """A func of vectors that has no ops yet."""
    func = Func("f", [VECTOR] * arguments)
    return func, Builder(func.body), func.arguments


def op_of(value: AnyValue) -> Op:
    """The op that makes a value."""
    assert value.op is not None
    return value.op


def test_each_reader_is_listed_once() -> None:
    func, builder, (x, y) = new_func()
    double = builder.emit(tensor.Add, x, x)
    total = builder.emit(tensor.Add, double, y)
    assert list(x.uses) == [op_of(double)]
    assert list(double.uses) == [op_of(total)]
    assert not total.uses
    check_invariants(func)


def test_readers_come_in_program_order() -> None:
    _, builder, (x, _) = new_func()
    made = [builder.emit(cls, x) for cls in (tensor.Exp, tensor.Tanh, tensor.Sin)]
    assert list(x.uses) == [op_of(value) for value in made]


def test_other_operands_change_readers_and_number() -> None:
    func, builder, (x, y) = new_func()
    total = op_of(builder.emit(tensor.Add, x, y))
    total.set_operands((y, y))
    assert not x.uses
    assert list(y.uses) == [total]
    assert builder.emit(tensor.Add, y, y) is total.results[0]
    assert builder.emit(tensor.Add, x, y) is not total.results[0]
    check_invariants(func)


def test_replacing_merges_readers_that_become_equal() -> None:
    """exp(x) + 1 and exp(y) + 1 are one chain once y is x, and keep both lines."""
    func, builder, (x, y) = new_func()
    builder.location = Location(("a.py", 1))
    one = builder.emit(tensor.Tanh, builder.emit(tensor.Exp, x))
    builder.location = Location(("a.py", 2))
    other = builder.emit(tensor.Tanh, builder.emit(tensor.Exp, y))
    builder.emit_all(Return, [one, other])
    touched = replace(y, x)
    assert [op.name for op in func.walk()] == ["tensor.exp", "tensor.tanh", "return"]
    assert func.results == (one, one)
    assert op_of(one).location == Location(("a.py", 1), ("a.py", 2))
    assert func.body.terminator in touched
    assert not y.uses
    check_invariants(func)


def test_merging_keeps_the_earlier_op() -> None:
    """Whichever of the two changes, the one that stands first stays."""
    func, builder, (x, y) = new_func()
    first = builder.emit(tensor.Exp, y)
    second = builder.emit(tensor.Exp, x)
    builder.emit_all(Return, [first, second])
    replace(y, x)
    assert func.results == (first, first)
    assert list(func.walk()) == [op_of(first), func.body.terminator]
    check_invariants(func)


def test_replacing_by_oneself_in_one_reader_of_several_operands() -> None:
    func, builder, (x, y) = new_func()
    total = builder.emit(tensor.Add, x, y)
    replace(x, y)
    assert op_of(total).operands == (y, y)
    assert not x.uses
    check_invariants(func)


def test_of_many_operands_none_is_searched_for() -> None:
    func, builder, (x, y, *others) = new_func(MANY + 2)
    builder.emit_all(Return, [*others, *others[:3]])
    with mock.patch.object(operands, "Places", wraps=Places) as looked:
        for place, each in enumerate(others):
            replace(each, y if place % 2 else x)
    expected = [y if place % 2 else x for place in range(MANY)]
    assert func.body.terminator.operands == (*expected, *expected[:3])
    assert looked.call_count == 1
    check_invariants(func)
    func.body.terminator.set_operands((x,))
    assert not func.body.places


def test_many_operands_that_were_set_since_are_looked_up_anew() -> None:
    func, builder, (x, y) = new_func()
    builder.emit_all(Return, [x] * MANY)
    replace(x, y)
    func.body.terminator.set_operands((x, *[y] * MANY))
    replace(y, x)
    assert func.body.terminator.operands == (x,) * (MANY + 1)
    check_invariants(func)


def test_arguments_come_behind_others() -> None:
    func, _, before = new_func()
    made = func.body.add_arguments([(VECTOR, "a"), (VECTOR, None)])
    assert func.arguments == (*before, *made)
    assert [each.index for each in func.arguments] == [0, 1, 2, 3]
    assert [each.name for each in made] == ["a", None]


def test_erasing_forgets_all_that_regions_read() -> None:
    func = Func("f", [Tensor((), boolean), VECTOR])
    predicate, x = func.arguments
    builder = Builder(func.body)
    inner = builder.nest()
    deepest = inner.nest()
    deepest.emit_all(Yield, [deepest.emit(tensor.Exp, x)])
    other = inner.nest()
    other.emit_all(Yield, [x])
    nested = inner.emit(tensor.Cond, predicate, [], deepest.block, other.block)
    inner.emit_all(Yield, [nested])
    plain = builder.nest()
    plain.emit_all(Yield, [x])
    chosen = builder.emit(tensor.Cond, predicate, [], inner.block, plain.block)
    builder.emit_all(Return, [])
    assert len(x.uses) == 3
    op_of(chosen).detach()
    assert not x.uses
    assert not predicate.uses
    assert [op.name for op in func.walk()] == ["return"]
    check_invariants(func)


def test_order_survives_any_number_of_insertions_at_one_place() -> None:
    func, builder, (x, y) = new_func()
    last = op_of(builder.emit(tensor.Exp, x))
    builder.move_to(func.body, last)
    value, made = y, []
    for place in range(500):
        value = builder.emit((tensor.Sin, tensor.Cos)[place % 2], value)
        made.append(op_of(value))
    assert list(func.body) == [*made, last]
    assert all(one.precedes(other) for one, other in pairwise(made))
    check_invariants(func)


def test_what_precedes_what_across_regions() -> None:
    module = parse(
        "func @f(%p: tensor<[], bool>, %x: tensor<[4], f32>) -> tensor<[4], f32> {\n"
        "  %a = tensor.exp %x : tensor<[4], f32>\n"
        "  %b = tensor.cond %p () {\n    %c = tensor.sin %a : tensor<[4], f32>\n    yield %c\n"
        "  } () {\n    yield %a\n  } : tensor<[4], f32>\n"
        "  %d = tensor.exp %b : tensor<[4], f32>\n  return %d\n}\n"
    )
    a, b, c, _, _, d, _ = module.main.walk()
    assert a.precedes(b) and a.precedes(c) and a.precedes(d)
    assert b.precedes(d) and not b.precedes(c) and not d.precedes(c)
    assert not c.precedes(a) and not a.precedes(a)
    assert c.block is not None and func_of(c.block) is module.main


def test_moving_keeps_readers_and_number() -> None:
    func, builder, (x, y) = new_func()
    one, other = op_of(builder.emit(tensor.Exp, x)), op_of(builder.emit(tensor.Exp, y))
    func.body.move(other, one)
    assert list(func.body) == [other, one]
    assert list(y.uses) == [other]
    assert builder.emit(tensor.Exp, y) is other.results[0]
    check_invariants(func)


def test_a_value_says_what_it_is() -> None:
    func, builder, (x, _) = new_func()
    x.name = "weight"
    made = builder.emit(tensor.Exp, x)
    assert repr(x) == "%weight: tensor<[4], f32>"
    assert repr(op_of(made)) == "<tensor.exp>"
    assert print_op(op_of(made)) == "%1 = tensor.exp %weight : tensor<[4], f32>"
    assert (made.shape, made.dtype, made.block, x.op) == ((4,), f32, func.body, None)


def test_equal_names_are_told_apart() -> None:
    func, builder, (x, y) = new_func()
    x.name = y.name = "x"
    builder.emit_all(Return, [builder.emit(tensor.Add, x, y)])
    assert print_func(func).startswith("func @f(%x: tensor<[4], f32>, %x_1: tensor<[4], f32>)")


@pytest.mark.parametrize("seed", range(60))
def test_random_changes_keep_everything_true(seed: int) -> None:
    """Values are replaced by others of their type that stand before, dead ops are erased, ops are
    built anywhere; the program stays one."""
    random = Random(seed)
    func = random_program(seed, 30, built=seed % 2 == 0).main
    for _ in range(15):
        random.choice((replace_any, erase_any, build_any))(random, func)
        check_invariants(func)
    verify(func)


def replace_any(random: Random, func: Func) -> None:
    """One value by another of its type that stands before all of its readers."""
    values = [*func.arguments, *(result for op in func.body for result in op.results)]
    new = random.choice(values)
    later = [value for value in values[values.index(new) + 1 :] if value.type is new.type]
    if later:
        replace(random.choice(later), new)


def erase_any(random: Random, func: Func) -> None:
    dead = [op for op in func.body if op.unused and not op.terminator]
    if dead:
        random.choice(dead).detach()


def build_any(random: Random, func: Func) -> None:
    """An op before any other, of a value that stands there."""
    before = random.choice(list(func.body))
    seen = [value for op in func.body if op.precedes(before) for value in op.results]
    if seen:
        value = random.choice(seen)
        Builder(func.body, before).emit(tensor.Flip, value, ())
