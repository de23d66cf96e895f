"""Common subexpressions: which of equal ops stays, and which ops are never merged."""

import pytest

from brimstone.ir import tensor  # noqa: F401 # declares the ops of the texts
from brimstone.ir.func import Module
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.passes.context import Context
from brimstone.passes.cse import cse
from brimstone.passes.manager import run_pipeline
from brimstone.passes.oracle import disagreement, observe


def merged(text: str, fuel: int | None = None) -> tuple[Module, Context]:
    """The module after `cse`, verified and still of the same meaning."""
    module, context = parse(text), Context(fuel)
    before = list(observe(module))
    run_pipeline(module, (cse,), context)
    assert before
    assert disagreement(before, module) is None
    return module, context


def names(module: Module) -> list[str]:
    return [op.name.removeprefix("tensor.") for op in module.main.walk()]


CHAINS = """
func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> {
  %a = tensor.exp %x : tensor<[4], f32>
  %b = tensor.tanh %a : tensor<[4], f32>
  %c = tensor.exp %x : tensor<[4], f32>
  %d = tensor.tanh %c : tensor<[4], f32>
  %e = tensor.add %b, %d : tensor<[4], f32>
  return %e
}
"""


def test_what_becomes_equal_by_a_merge_merges_too() -> None:
    module, _ = merged(CHAINS)
    assert names(module) == ["exp", "tanh", "add", "return"]


def test_the_op_that_stays_has_both_lines() -> None:
    module, _ = merged(CHAINS)
    text = print_module(module, locations=True)
    assert '%a = tensor.exp %x : tensor<[4], f32> at "<text>":3, "<text>":5' in text


CHECKPOINT = """
func @f(%x: tensor<[4], f32>) -> (tensor<[4], f32>, tensor<[4], f32>, tensor<[4], f32>) {
  %a = tensor.exp %x : tensor<[4], f32>
  %b = tensor.checkpoint %x (%t: tensor<[4], f32>) {
    %c = tensor.exp %x : tensor<[4], f32>
    %d = tensor.exp %x : tensor<[4], f32>
    %e = tensor.multiply %c, %d : tensor<[4], f32>
    yield %e
  } : tensor<[4], f32>
  %f = tensor.exp %x : tensor<[4], f32>
  return %a, %b, %f
}
"""


def test_a_checkpoint_computes_again_what_stands_outside() -> None:
    module, _ = merged(CHECKPOINT)
    assert names(module) == ["exp", "checkpoint", "exp", "multiply", "yield", "return"]


def test_fuel() -> None:
    module, context = merged(CHAINS, fuel=0)
    assert len(names(module)) == 6
    assert not context.applications
    _, context = merged(CHAINS)
    assert [(change.rule, change.op) for change in context.applications] == [("cse", "tensor.exp")]


REGIONS = """
func @f(%p: tensor<[], bool>, %x: tensor<[4], f32>) -> (tensor<[4], f32>, tensor<[4], f32>) {
  %a = tensor.exp %x : tensor<[4], f32>
  %y = tensor.cond %p () {
    %b = tensor.exp %x : tensor<[4], f32>
    %c = tensor.tanh %x : tensor<[4], f32>
    %d = tensor.add %b, %c : tensor<[4], f32>
    yield %d
  } () {
    %c = tensor.tanh %x : tensor<[4], f32>
    %e = tensor.tanh %x : tensor<[4], f32>
    %g = tensor.add %c, %e : tensor<[4], f32>
    yield %g
  } : tensor<[4], f32>
  %h = tensor.tanh %x : tensor<[4], f32>
  %i = tensor.tanh %x : tensor<[4], f32>
  %j = tensor.add %h, %i : tensor<[4], f32>
  %k = tensor.add %j, %a : tensor<[4], f32>
  return %y, %k
}
"""


def test_an_op_of_an_enclosing_block_stands_for_those_inside() -> None:
    module, _ = merged(REGIONS)
    assert names(module).count("exp") == 1


def test_siblings_and_what_follows_a_region_keep_their_own() -> None:
    module, _ = merged(REGIONS)
    inside = ["tanh", "add", "yield"]
    assert names(module) == ["exp", "cond", *inside, *inside, "tanh", "add", "add", "return"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tensor.constant {value = 0.0}", "tensor.constant {value = -0.0}"),
        ("tensor.exp %x", "tensor.tanh %x"),
        ("tensor.subtract %x, %y", "tensor.subtract %y, %x"),
    ],
)
def test_ops_that_differ_stay_apart(one: str, other: str) -> None:
    module, context = merged(f"""
    func @f(%x: tensor<[], f32>, %y: tensor<[], f32>) -> (tensor<[], f32>, tensor<[], f32>) {{
      %a = {one} : tensor<[], f32>
      %b = {other} : tensor<[], f32>
      return %a, %b
    }}""")
    assert len(names(module)) == 3
    assert not context.applications


def test_ops_of_several_results_merge() -> None:
    module, _ = merged("""
    func @f(%x: tensor<[4], f32>, %y: tensor<[4], i32>) -> (tensor<[4], f32>, tensor<[4], i32>) {
      %a, %b = tensor.sort %x, %y {axis = 0, keys = 1} : tensor<[4], f32>, tensor<[4], i32>
      %c, %d = tensor.sort %x, %y {axis = 0, keys = 1} : tensor<[4], f32>, tensor<[4], i32>
      return %a, %d
    }""")
    assert names(module) == ["sort", "return"]


def test_a_name_is_not_lost() -> None:
    module = parse("""
    func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> {
      %0 = tensor.exp %x : tensor<[4], f32>
      %exponential = tensor.exp %x : tensor<[4], f32>
      %y = tensor.add %0, %exponential : tensor<[4], f32>
      return %y
    }""")
    run_pipeline(module, (cse,))
    assert "%exponential = tensor.exp %x" in print_module(module)
