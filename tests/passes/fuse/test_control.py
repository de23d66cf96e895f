"""Loops and branches whose regions are kernels, run by the host."""

import pytest

from brimstone.ir import step, tensor
from brimstone.ir.errors import IRError
from brimstone.passes.fuse import fuse
from brimstone.passes.fuse.graph import MAPS
from brimstone.passes.fuse.views import VIEWS
from kit.fusing import checked, func_of
from kit.programs import drawable, program, random_plan

FUSED = (*MAPS, *VIEWS, tensor.ReduceSum, tensor.Constant, tensor.Iota)
CONTROL = (tensor.Loop, tensor.Cond, tensor.While, tensor.Checkpoint, tensor.CustomVjp)
OTHERS = tuple(op for op in drawable(False) if not issubclass(op, (*FUSED, *CONTROL)))

LOOP = """
func @f<n: 0..9, t: 0..5>(%x: tensor<[n], f32>, %rows: tensor<[t, n], f32>) -> (tensor<[n], f32>, tensor<[t, n], f32>) {
  %last, %all = tensor.loop [%x], %rows {trip = t, reverse = REVERSE} (%i: tensor<[], i64>, %c: tensor<[n], f32>, %row: tensor<[n], f32>) {
    %s = tensor.add %c, %row : tensor<[n], f32>
    %at = tensor.cast %i {dtype = f32} : tensor<[], f32>
    %ats = tensor.broadcast %at {shape = [n], axes = []} : tensor<[n], f32>
    %y = tensor.multiply %s, %ats : tensor<[n], f32>
    %z = tensor.tanh %x : tensor<[n], f32>
    %both = tensor.add %y, %z : tensor<[n], f32>
    yield %both, %c
  } : tensor<[n], f32>, tensor<[t, n], f32>
  return %last, %all
}
"""  # noqa: E501 (a line of text is a line of the program)

BRANCH = """
func @f<n: 0..9>(%p: tensor<[], bool>, %x: tensor<[n], f32>) -> tensor<[n], f32> {
  %e = tensor.exp %x : tensor<[n], f32>
  %y = tensor.cond %p, %x (%c: tensor<[n], f32>) {
    %t = tensor.multiply %c, %e : tensor<[n], f32>
    yield %t
  } (%d: tensor<[n], f32>) {
    yield %d
  } : tensor<[n], f32>
  return %y
}
"""


def test_a_loop() -> None:
    fused = checked(func_of(LOOP.replace("REVERSE", "false")))
    names = [op.name for op in fused.module.main.body if isinstance(op, step.StepOp)]
    assert names.count("step.loop") == 1
    launched = {op.kernel for op in fused.module.main.walk() if isinstance(op, step.Launch)}
    assert launched == {func.name for func in fused.module} - {"f"}
    # One for the map, one for the copy of the carry, and one that counts but is in no report.
    assert len(fused.report.kernels) == len(launched) - 1


def test_a_loop_backwards_is_one_kernel() -> None:
    fused = checked(func_of(LOOP.replace("REVERSE", "true")))
    assert [each.ops for each in fused.report.kernels] == [("loop",)]


def test_a_branch() -> None:
    fused = checked(func_of(BRANCH))
    (branch,) = [op for op in fused.module.main.body if isinstance(op, step.Branch)]
    assert [op.name for op in branch.on_true].count("step.launch") == 1
    assert [each.ops for each in fused.report.kernels] == [("exp",), ("multiply",), ("copy",)]


def test_apart_a_loop_is_one_op() -> None:
    fused = checked(func_of(LOOP.replace("REVERSE", "false")), apart=True)
    assert ("loop",) in [each.ops for each in fused.report.kernels]


def test_calls_are_to_be_put_in_line_first() -> None:
    head = "func @f(%x: tensor<[2], f32>) -> tensor<[2], f32> {"
    call = "%y = tensor.call %x {callee = @g} : tensor<[2], f32>"
    callee = head.replace("@f", "@g") + "\n  return %x\n}\n"
    with pytest.raises(IRError, match="put calls in line"):
        fuse(func_of(f"{head}\n  {call}\n  return %y\n}}\n{callee}"))


@pytest.mark.parametrize("seed", range(25))
def test_random_control(seed: int) -> None:
    module = program(random_plan(seed, 6 + seed, False, OTHERS))
    checked(module.main, runs=False)
