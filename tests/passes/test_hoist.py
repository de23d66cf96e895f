"""What leaves a region, what stays, and how far out it goes; texts are in `hoist/*.ir`."""

import pytest

from brimstone.ir import parse, print_module, tensor
from brimstone.ir.declare import REGISTRY
from brimstone.passes.context import Context, Settings
from brimstone.passes.hoist import ALWAYS_SUCCEED, hoist
from brimstone.passes.manager import run_pipeline

LOOP = """
func @f<n: 0..64>(%x: tensor<[n], f32>) -> tensor<[n], f32> {
  %z = tensor.loop [%x] {trip = 3} (%i: tensor<[], i64>, %c: tensor<[n], f32>) {
    %two = tensor.constant {value = 2.0} : tensor<[], f32> at "model.py":1
    %twos = tensor.broadcast %two {shape = [n], axes = []} : tensor<[n], f32> at "model.py":2
    %sum = tensor.add %x, %twos : tensor<[n], f32> at "model.py":3
    %next = tensor.add %c, %sum : tensor<[n], f32> at "model.py":4
    yield %next
  } : tensor<[n], f32>
  return %z
}
"""


def hoisted(text: str, fuel: int | None = None) -> tuple[str, list[str]]:
    """The text after `hoist`, with lines, and the ops that were moved."""
    module, context = parse(text), Context(fuel, Settings(reproduce=False))
    run_pipeline(module, (hoist,), context)
    return print_module(module, locations=True), [each.op for each in context.applications]


@pytest.mark.parametrize("fuel", range(4))
def test_each_move_takes_fuel(fuel: int) -> None:
    text, moved = hoisted(LOOP, fuel)
    assert moved == ["tensor.constant", "tensor.broadcast", "tensor.add"][:fuel]
    inside = text[text.index("tensor.loop") :]
    assert inside.count("= tensor.") == 4 - fuel


def test_what_moves_keeps_its_line() -> None:
    text, _ = hoisted(LOOP)
    assert '%sum = tensor.add %x, %twos : tensor<[n], f32> at "model.py":3' in text


def test_what_merges_stands_for_both_lines() -> None:
    text, _ = hoisted("""
    func @f(%x: tensor<[], f32>) -> (tensor<[], f32>, tensor<[], f32>) {
      %a = tensor.exp %x : tensor<[], f32> at "model.py":1
      %z = tensor.loop [%x] {trip = 3} (%i: tensor<[], i64>, %c: tensor<[], f32>) {
        %b = tensor.exp %x : tensor<[], f32> at "model.py":2
        yield %b
      } : tensor<[], f32>
      return %a, %z
    }""")
    assert '%a = tensor.exp %x : tensor<[], f32> at "model.py":1, "model.py":2' in text
    assert text.count("tensor.exp") == 1


def test_nothing_is_left_for_a_second_time() -> None:
    once, _ = hoisted(LOOP)
    again, moved = hoisted(once)
    assert (again, moved) == (once, [])


def test_dead_ops_stay_where_they_are() -> None:
    _, moved = hoisted("""
    func @f(%x: tensor<[], f32>) -> tensor<[], f32> {
      %z = tensor.loop [%x] {trip = 3} (%i: tensor<[], i64>, %c: tensor<[], f32>) {
        %unread = tensor.exp %x : tensor<[], f32>
        yield %c
      } : tensor<[], f32>
      return %z
    }""")
    assert not moved


def test_what_leaves_loops_is_pure_and_has_no_regions() -> None:
    leaving = [cls for cls in REGISTRY.values() if issubclass(cls, ALWAYS_SUCCEED)]
    assert len(leaving) > 50
    assert all(cls.numbered and not cls.region_fields for cls in leaving)
    costly = (tensor.ReduceSum, tensor.Contract, tensor.Sort, tensor.Gather, tensor.Concat)
    assert not any(issubclass(cls, ALWAYS_SUCCEED) for cls in costly)
