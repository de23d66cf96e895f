"""The rewriter: rules, the driver that applies them, its journal and its fuel."""

import pytest

from brimstone.ir import tensor
from brimstone.ir.errors import RewriteError
from brimstone.ir.func import Func, Return
from brimstone.ir.locations import Location
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from brimstone.ir.rewriter import Journal, Rewriter, Rules, apply, rewrite
from brimstone.ir.values import AnyValue
from brimstone.ir.verifier import verify
from kit.invariants import check_invariants


@rewrite(tensor.Negate)
def negate_twice(op: tensor.Negate, rewriter: Rewriter) -> AnyValue | None:
    """--x -> x"""
    inner = op.x.op
    if not isinstance(inner, tensor.Negate):
        return None
    rewriter.covers(inner)
    return inner.x


@rewrite(tensor.Subtract)
def subtract_by_adding(op: tensor.Subtract, rewriter: Rewriter) -> AnyValue | None:
    """x - y -> x + -y"""
    return rewriter.emit(tensor.Add, op.left, rewriter.emit(tensor.Negate, op.right))


@rewrite(tensor.Add)
def swap(op: tensor.Add, rewriter: Rewriter) -> AnyValue | None:
    """x + y -> y + x"""
    return rewriter.emit(tensor.Add, op.right, op.left)


@rewrite(tensor.Exp)
def to_another_type(op: tensor.Exp, rewriter: Rewriter) -> AnyValue | None:
    """exp x -> 0, of another shape"""
    return rewriter.emit(tensor.Iota, (3,), 0, op.result.dtype)


@rewrite(tensor.elementwise.Unary)
def unary_to_sin(op: tensor.elementwise.Unary, rewriter: Rewriter) -> AnyValue | None:
    """f x -> sin x"""
    return None if isinstance(op, tensor.Sin) else rewriter.emit(tensor.Sin, op.operands[0])


@rewrite(tensor.Sort)
def sort_to_itself(op: tensor.Sort, rewriter: Rewriter) -> tuple[AnyValue, ...] | None:
    """sort x, y -> x, y"""
    return op.operands


def func_of_lines(*lines: str, arguments: str = "%x: T, %y: T", returns: str = "") -> Func:
    """A func of vectors; T is their type."""
    types = ", ".join(["T"] * returns.count("%"))
    body = "".join(f"  {line}\n" for line in (*lines, f"return {returns}".strip()))
    result = f" -> ({types})" if types else ""
    text = f"func @f({arguments}){result} {{\n{body}}}\n"
    return parse(text.replace("T", "tensor<[4], f32>"), "a.ir").main


def ops(func: Func) -> list[str]:
    return [op.name.removeprefix("tensor.") for op in func.walk()]


def run(func: Func, *rules: object, fuel: int | None = None) -> Journal:
    """Apply rules; what is left must be true IR."""
    journal = Journal(fuel)
    apply(Rules(*rules), func, journal)  # pyright: ignore[reportArgumentType]
    verify(func)
    check_invariants(func)
    return journal


def test_a_rule_is_applied_and_noted() -> None:
    func = func_of_lines("%a = tensor.negate %x : T", "%b = tensor.negate %a : T", returns="%b")
    (entry,) = run(func, negate_twice).applications
    assert ops(func) == ["return"]
    assert func.results == func.arguments[:1]
    assert (entry.rule, entry.op) == ("negate_twice", "tensor.negate")
    assert str(entry) == "negate_twice on tensor.negate at a.ir:3"


def test_a_rule_reads_as_before_and_after() -> None:
    assert negate_twice.summary == "--x -> x"
    with pytest.raises(TypeError, match="lacks 'a -> b'"):

        @rewrite(tensor.Exp)
        def nothing(op: tensor.Exp, rewriter: Rewriter) -> None:
            """Says nothing."""


def test_dead_ops_go_without_a_note() -> None:
    func = func_of_lines("%a = tensor.exp %x : T", "%b = tensor.tanh %a : T", returns="%x")
    assert run(func).applications == []
    assert ops(func) == ["return"]


def test_rules_meet_what_other_rules_made() -> None:
    """x - -y -> x + --y -> x + y"""
    func = func_of_lines(
        "%a = tensor.negate %y : T", "%b = tensor.subtract %x, %a : T", returns="%b"
    )
    journal = run(func, subtract_by_adding, negate_twice)
    assert ops(func) == ["add", "return"]
    assert [entry.rule for entry in journal.applications] == ["subtract_by_adding", "negate_twice"]


def test_equal_readers_merge_after_a_rule() -> None:
    func = func_of_lines(
        "%a = tensor.negate %x : T",
        "%b = tensor.negate %a : T",
        "%c = tensor.exp %b : T",
        "%d = tensor.exp %x : T",
        returns="%c, %d",
    )
    run(func, negate_twice)
    assert ops(func) == ["exp", "return"]
    assert len(set(func.results)) == 1


def test_constants_fold_once_they_are_all_constant() -> None:
    func = func_of_lines(
        "%a = tensor.constant {value = [1.0, 2.0, 3.0, 4.0]} : T",
        "%b = tensor.negate %a : T",
        "%c = tensor.add %b, %b : T",
        returns="%c",
    )
    journal = run(func)
    assert ops(func) == ["constant", "return"]
    assert [entry.rule for entry in journal.applications] == ["fold", "fold"]
    assert "[-2.0, -4.0, -6.0, -8.0]" in print_func(func)


@pytest.mark.parametrize("fuel", range(4))
def test_fuel_ends_changes(fuel: int) -> None:
    func = func_of_lines(
        "%a = tensor.subtract %x, %y : T",
        "%b = tensor.subtract %a, %y : T",
        "%c = tensor.subtract %b, %a : T",
        returns="%c",
    )
    journal = run(func, subtract_by_adding, fuel=fuel)
    assert len(journal.applications) == fuel
    assert ops(func).count("subtract") == 3 - fuel


def test_a_replacement_keeps_the_lines() -> None:
    func = func_of_lines("%a = tensor.subtract %x, %y : T", returns="%a")
    run(func, subtract_by_adding)
    assert {op.location for op in list(func.walk())[:2]} == {Location(("a.ir", 2))}


def test_a_replacement_keeps_the_name() -> None:
    func = func_of_lines("%total = tensor.subtract %x, %y : T", returns="%total")
    run(func, subtract_by_adding)
    assert "%total = tensor.add" in print_func(func)


def test_another_type_is_refused() -> None:
    func = func_of_lines("%a = tensor.exp %x : T", returns="%a")
    with pytest.raises(RewriteError) as caught:
        run(func, to_another_type)
    assert str(caught.value) == (
        "a.ir:2: the rewrite to_another_type replaces tensor.exp : tensor<[4], f32> "
        "by tensor<[3], f32>"
    )


def test_an_endless_rule_is_stopped_and_named() -> None:
    func = func_of_lines("%a = tensor.add %x, %y : T", returns="%a")
    with pytest.raises(RewriteError, match="rewriting does not end; the last rules: swap"):
        run(func, swap)


def test_rules_of_a_base_class_meet_all_of_its_ops() -> None:
    func = func_of_lines("%a = tensor.exp %x : T", "%b = tensor.tanh %a : T", returns="%b")
    run(func, unary_to_sin)
    assert ops(func) == ["sin", "sin", "return"]


def test_several_results_are_replaced_together() -> None:
    func = func_of_lines(
        "%a, %b = tensor.sort %x, %y {axis = 0, keys = 1} : T, T", returns="%b, %a"
    )
    run(func, sort_to_itself)
    assert func.results == (func.arguments[1], func.arguments[0])


def test_sets_of_rules_compose() -> None:
    both = Rules(Rules(negate_twice), subtract_by_adding)
    assert [rule.name for rule in both.rewrites] == ["negate_twice", "subtract_by_adding"]
    assert [name for name, _ in both.of(tensor.Negate)] == ["negate_twice", "fold"]
    assert both.of(Return) == ()


def test_rules_reach_into_regions() -> None:
    text = (
        "func @f(%p: tensor<[], bool>, %x: T) -> T {\n"
        "  %n = tensor.negate %x : T\n"
        "  %y = tensor.cond %p () {\n    %z = tensor.negate %n : T\n    yield %z\n"
        "  } () {\n    yield %x\n  } : T\n  return %y\n}\n"
    )
    func = parse(text.replace("T", "tensor<[4], f32>")).main
    run(func, negate_twice)
    assert ops(func) == ["cond", "yield", "yield", "return"]
