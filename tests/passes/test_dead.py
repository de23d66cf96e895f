"""Dead code: what goes, what stays, and that each erased op is asked for."""

from collections.abc import Iterator

import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import REGISTRY, Effect, Op, Operand, Region, Result, same_as
from brimstone.ir.func import Module
from brimstone.ir.parser import parse
from brimstone.ir.types import Tensor
from brimstone.ir.verifier import verify
from brimstone.passes.context import Context
from brimstone.passes.dead import dead
from brimstone.passes.manager import run_pipeline
from brimstone.passes.oracle import disagreement, observe

CHAIN = """
func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> {
  %a = tensor.exp %x : tensor<[4], f32>
  %b = tensor.tanh %a : tensor<[4], f32>
  %c = tensor.add %a, %b : tensor<[4], f32>
  return %a
}
"""
LOOP = """
func @f(%x: tensor<[4], f32>, %y: tensor<[], f32>) -> tensor<[], f32> {
  %outside = tensor.exp %y : tensor<[], f32>
  %kept = tensor.tanh %y : tensor<[], f32>
  %a, %b, %s = tensor.loop [%y, %y], %x {trip = 4}
    (%i: tensor<[], i64>, %p: tensor<[], f32>, %q: tensor<[], f32>, %e: tensor<[], f32>) {
      %unread = tensor.exp %outside : tensor<[], f32>
      %more = tensor.multiply %unread, %e : tensor<[], f32>
      %p2 = tensor.add %p, %kept : tensor<[], f32>
      yield %p2, %q, %e
  } : tensor<[], f32>, tensor<[], f32>, tensor<[4], f32>
  return %a
}
"""


def cleaned(text: str, fuel: int | None = None) -> tuple[Module, Context]:
    """The module after `dead`, verified and still of the same meaning."""
    module, context = parse(text), Context(fuel)
    before = list(observe(module))
    run_pipeline(module, (dead,), context)
    assert before
    assert disagreement(before, module) is None
    return module, context


def names(module: Module) -> list[str]:
    return [op.name for op in module.main.walk()]


def test_whole_chains_go_last_op_first() -> None:
    module, context = cleaned(CHAIN)
    assert names(module) == ["tensor.exp", "return"]
    assert [change.op for change in context.applications] == ["tensor.add", "tensor.tanh"]


def test_regions_are_cleaned_and_what_only_they_read_goes_too() -> None:
    module, _ = cleaned(LOOP)
    assert names(module) == ["tensor.tanh", "tensor.loop", "tensor.add", "yield", "return"]


def test_unread_results_of_a_read_op_stay() -> None:
    module, _ = cleaned(LOOP)
    loop = next(op for op in module.main.walk() if isinstance(op, tensor.Loop))
    assert len(loop.results) == 3


def test_an_unread_op_with_regions_goes_as_a_whole() -> None:
    module, context = cleaned(LOOP.replace("return %a", "return %y"))
    assert names(module) == ["return"]
    assert context.applications[0].op == "tensor.loop"
    assert len(context.applications) == 3


@pytest.mark.parametrize("fuel", range(4))
def test_every_erased_op_costs_fuel(fuel: int) -> None:
    module, context = cleaned(LOOP, fuel)
    assert len(context.entries) == min(fuel, 3)
    assert len(names(module)) == 8 - min(fuel, 3)


@pytest.fixture
def ops_with_effects() -> Iterator[None]:
    """Ops that are declared for one test only."""

    class Report(Op, name="test.report", effects=(Effect.HOST,)):
        """Say something, and hand on x."""

        x: Operand[Tensor]
        result: Result[Tensor] = same_as("x")

    class Wrap(Op, name="test.wrap"):
        """Run a region."""

        x: Operand[Tensor]
        body: Region
        result: Result[Tensor] = same_as("x")

    yield
    del REGISTRY[Report.name], REGISTRY[Wrap.name]


@pytest.mark.usefixtures("ops_with_effects")
def test_effects_stay_at_any_depth() -> None:
    module = parse("""
    func @f(%x: tensor<[4], f32>) {
      %a = test.report %x : tensor<[4], f32>
      %b = test.wrap %x () {
        %c = test.report %x : tensor<[4], f32>
        %d = tensor.exp %x : tensor<[4], f32>
        yield
      } : tensor<[4], f32>
      %e = test.wrap %x () { yield } : tensor<[4], f32>
      return
    }""")
    dead(module.main, Context())
    verify(module)
    assert names(module) == ["test.report", "test.wrap", "test.report", "yield", "return"]


def test_deep_regions_need_no_deep_stack() -> None:
    depth = 2000
    start = "tensor.cond %p () {\n" * depth
    end = "yield\n} () { yield }\n" * depth
    module = parse(f"func @f(%p: tensor<[], bool>) {{\n{start}{end}return\n}}")
    dead(module.main, Context())
    assert names(module) == ["return"]
