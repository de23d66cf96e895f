"""The verifier: every rule that building keeps is missed when it is broken by hand."""

from collections.abc import Callable

import pytest

from brimstone.ir.builder import Builder
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import f16, f32
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func, Module, Return, Yield
from brimstone.ir.locations import UNKNOWN
from brimstone.ir.parser import parse
from brimstone.ir.types import Tensor
from brimstone.ir.values import Op
from brimstone.ir.verifier import verify
from kit.programs import random_programs

TEXT = """\
func @f(%p: tensor<[], bool>, %x: tensor<[4], f32>) -> tensor<[4], f32> {
  %a = tensor.exp %x : tensor<[4], f32>
  %b = tensor.tanh %a : tensor<[4], f32>
  %c = tensor.cond %p, %b (%y: tensor<[4], f32>) {
    %d = tensor.sin %y : tensor<[4], f32>
    yield %d
  } (%y: tensor<[4], f32>) {
    yield %y
  } : tensor<[4], f32>
  return %c
}
"""

Break = Callable[[Func, list[Op]], object]


def swap_first_two(func: Func, ops: list[Op]) -> None:
    """Linked the wrong way round, with order numbers that go with it."""
    func.body.move(ops[1], ops[0])


def wrong_order(func: Func, ops: list[Op]) -> None:
    ops[0].order, ops[1].order = ops[1].order, ops[0].order


def broken_link(func: Func, ops: list[Op]) -> None:
    ops[1].previous = None
    ops[0].next = ops[2]
    ops[2].previous = ops[1]


def forget_reader(func: Func, ops: list[Op]) -> None:
    ops[0].results[0].uses.clear()


def invent_reader(func: Func, ops: list[Op]) -> None:
    ops[0].results[0].uses[func.body.terminator] = None


def change_type(func: Func, ops: list[Op]) -> None:
    ops[0].results[0].type = Tensor((4,), f16)


def drop_result(func: Func, ops: list[Op]) -> None:
    ops[0].results = ()


def steal_result(func: Func, ops: list[Op]) -> None:
    ops[0].results = ops[1].results


def drop_operand(func: Func, ops: list[Op]) -> None:
    ops[0].set_operands(())


def read_from_a_region(func: Func, ops: list[Op]) -> None:
    func.body.terminator.set_operands(next(iter(ops[2].regions[0])).results)


def steal_region(func: Func, ops: list[Op]) -> None:
    ops[2].regions = (ops[2].regions[0], ops[2].regions[0])


def orphan_region(func: Func, ops: list[Op]) -> None:
    ops[2].regions[1].parent = None


def open_region(func: Func, ops: list[Op]) -> None:
    ops[2].regions[1].terminator.detach()


def yield_another_type(func: Func, ops: list[Op]) -> None:
    ops[2].regions[1].terminator.set_operands((func.arguments[0],))


def return_twice(func: Func, ops: list[Op]) -> None:
    func.body.insert(Return((), (), (), (), UNKNOWN), ops[2])


def end_in_yield(func: Func, ops: list[Op]) -> None:
    func.body.terminator.detach()
    func.body.insert(Yield((), (), (), (), UNKNOWN))


def steal_argument(func: Func, ops: list[Op]) -> None:
    func.body.arguments = func.body.arguments[::-1]


def unknown_size(func: Func, ops: list[Op]) -> None:
    func.body.add_argument(Tensor((Symbol("n", 0, 9),), f32))


def size_named_twice(func: Func, ops: list[Op]) -> None:
    func.symbols = (Symbol("n", 0, 9), Symbol("n", 0, 8))


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (swap_first_two, "tensor.tanh: reads a value that is not defined above it"),
        (wrong_order, "tensor.exp: is out of order in its block"),
        (broken_link, "out of order"),
        (forget_reader, "tensor.tanh: reads a value that does not list it among its readers"),
        (invent_reader, "tensor.exp: lists return as a reader, which reads something else"),
        (
            change_type,
            "tensor.exp: the result has type tensor<[4], f16>, expected tensor<[4], f32>",
        ),
        (drop_result, "tensor.exp: "),
        (steal_result, "tensor.exp: result 0 belongs to another op"),
        (drop_operand, "tensor.exp: "),
        (read_from_a_region, "return: reads a value that is not defined above it"),
        (steal_region, "a block of <tensor.cond"),
        (orphan_region, "says that it belongs to None"),
        (open_region, "does not end in yield"),
        (yield_another_type, "tensor.cond: the region on_false yields"),
        (return_twice, "return: stands before the end of its block"),
        (end_in_yield, "yield: a func ends in return"),
        (steal_argument, "argument 0 of a block of <func @f> belongs elsewhere"),
        (unknown_size, "speaks of n, a size that the func does not name"),
        (size_named_twice, "@f names a size twice"),
    ],
)
def test_broken_rules_are_found(break_it: Break, said: str) -> None:
    module = parse(TEXT, "f.ir")
    verify(module)
    break_it(module.main, list(module.main.body))
    with pytest.raises(VerifyError) as caught:
        verify(module)
    assert said in str(caught.value)


def test_an_error_names_the_op_its_operands_and_its_line() -> None:
    module = parse(TEXT, "f.ir")
    change_type(module.main, list(module.main.body))
    with pytest.raises(VerifyError) as caught:
        verify(module)
    assert str(caught.value).split("\n") == [
        "f.ir:2: tensor.exp: the result has type tensor<[4], f16>, expected tensor<[4], f32>",
        "  in: %a = tensor.exp %x : tensor<[4], f16>",
        "  operands: tensor<[4], f32>",
    ]


def test_a_func_of_its_own_is_verified() -> None:
    func = Func("f", [Tensor((4,), f32)])
    with pytest.raises(VerifyError, match="does not end in return or yield"):
        verify(func)
    Builder(func.body).emit_all(Return, func.arguments)
    verify(func)


@pytest.mark.parametrize(
    ("callee", "said"),
    [
        (
            "func @g(%x: T) -> U {\n  %y = tensor.cast %x {dtype = f16} : U\n  return %y\n}",
            "result 0",
        ),
        ("func @g(%x: U) -> U {\n  return %x\n}", "argument 0"),
        ("func @g() {\n  return\n}", "@g has 0 arguments, the call 1"),
        ("func @h(%x: T) -> T {\n  return %x\n}", "there is no func @g in the module"),
        (
            "func @g(%x: T) -> T {\n  %y = tensor.call %x {callee = @f} : T\n  return %y\n}",
            "would call itself",
        ),
    ],
)
def test_calls_must_fit(callee: str, said: str) -> None:
    caller = "func @f(%x: T) -> T {\n  %y = tensor.call %x {callee = @g} : T\n  return %y\n}\n"
    text = (caller + callee).replace("T", "tensor<[4], f32>").replace("U", "tensor<[4], f16>")
    with pytest.raises(VerifyError) as caught:
        verify(parse(text))
    assert said in str(caught.value)


def test_any_lost_reader_of_a_program_is_found() -> None:
    """In whatever op of whatever program."""
    modules = list(random_programs(100))
    readers = [(module, op) for module in modules for op in module.main.walk() if op.operands]
    assert len(readers) > 500
    for module, op in readers:
        del op.operands[0].uses[op]
        with pytest.raises(VerifyError, match="does not list it among its readers"):
            verify(module)
        op.operands[0].uses[op] = None


def test_modules_name_each_func_once() -> None:
    module = Module([Func("f")])
    with pytest.raises(ValueError, match="the module has a func @f already"):
        module.add(Func("f"))
    assert module["f"] is module.main
    assert len(module) == 1
