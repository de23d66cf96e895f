"""What checkpoints compute again stands in line, whatever merges around it."""

from brimstone.ir import tensor  # noqa: F401 # declares the ops of the texts
from brimstone.ir.parser import parse
from brimstone.passes.fuse.again import open_again
from brimstone.passes.oracle import disagreement, observe

ARGUMENTS_PASS = """
func @f(%x: V, %g: V) -> (V, V, V) {
  %n = tensor.negate %g : V
  %a, %b = tensor.checkpoint %x, %g {again = true} (%t: V, %u: V) {
    %s = tensor.sin %t : V
    yield %s, %u
  } : V, V
  %m = tensor.negate %b : V
  %e = tensor.exp %x : V
  %c = tensor.checkpoint %x, %a {again = true} (%t: V, %u: V) {
    %s = tensor.sin %t : V
    %q = tensor.multiply %s, %u : V
    yield %q
  } : V
  %z = tensor.add %c, %m : V
  return %n, %z, %e
}
"""
"""V is a vector."""


def test_only_what_is_computed_again_waits_when_the_next_op_merges() -> None:
    module = parse(ARGUMENTS_PASS.replace("V", "tensor<[4], f32>"))
    before = list(observe(module))
    waits = open_again(module.main)
    assert disagreement(before, module) is None
    assert [op.name for op in module.main.body].count("tensor.negate") == 1
    assert [op.name for op in waits] == ["tensor.sin", "tensor.sin", "tensor.multiply"]
    assert {value.name for values in waits.values() for value in values} == {"x", "g", "s"}
