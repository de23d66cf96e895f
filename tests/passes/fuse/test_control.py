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

COUNTED = """
func @f<n: 0..9, t: 0..5>(%rows: tensor<[t, n], f32>) -> tensor<[t, n], f32> {
  %all = tensor.loop [], %rows {trip = t} (%i: tensor<[], i64>, %row: tensor<[n], f32>) {
    %at = tensor.cast %i {dtype = f32} : tensor<[], f32>
    %ats = tensor.broadcast %at {shape = [n], axes = []} : tensor<[n], f32>
    %y = tensor.multiply %row, %ats : tensor<[n], f32>
    yield %y
  } : tensor<[t, n], f32>
  return %all
}
"""

WHILE = """
func @f(%x: tensor<[7], f32>) -> tensor<[7], f32> {
  %y = tensor.while %x (%c: tensor<[7], f32>) {
    %quarter = tensor.constant {value = 0.25} : tensor<[], f32>
    %most = tensor.reduce_maximum %c {axes = [0]} : tensor<[], f32>
    %more = tensor.less %quarter, %most : tensor<[], bool>
    yield %more
  } (%c: tensor<[7], f32>) {
    %quarter = tensor.constant {value = 0.25} : tensor<[], f32>
    %quarters = tensor.broadcast %quarter {shape = [7], axes = []} : tensor<[7], f32>
    %z = tensor.multiply %c, %quarters : tensor<[7], f32>
    yield %z
  } : tensor<[7], f32>
  return %y
}
"""


@pytest.mark.parametrize("reverse", ["false", "true"])
def test_a_loop(reverse: str) -> None:
    fused = checked(func_of(LOOP.replace("REVERSE", reverse)))
    names = [op.name for op in fused.module.main.body if isinstance(op, step.StepOp)]
    assert names.count("step.loop") == 1
    launched = {op.kernel for op in fused.module.main.walk() if isinstance(op, step.Launch)}
    assert launched == {func.name for func in fused.module} - {"f"}
    assert len(fused.report.kernels) == len(launched)


def test_a_step_of_a_loop_makes_rows_where_they_belong() -> None:
    (loop,) = [op for op in checked(func_of(COUNTED)).module.main.walk() if op.regions]
    assert [op.name for op in loop.regions[0]] == [
        "step.row", "step.row", "step.store", "step.launch", "yield",
    ]  # fmt: skip


def test_a_loop_on_a_condition() -> None:
    fused = checked(func_of(WHILE))
    (loop,) = [op for op in fused.module.main.walk() if isinstance(op, step.While)]
    assert [op.name for op in loop.body].count("step.launch") == 2
    assert [each.ops for each in fused.report.kernels] == [
        ("reduce_maximum", "less"), ("multiply",),
    ]  # fmt: skip


def test_a_branch() -> None:
    fused = checked(func_of(BRANCH))
    (branch,) = [op for op in fused.module.main.body if isinstance(op, step.Branch)]
    assert [op.name for op in branch.on_true].count("step.launch") == 1
    assert [each.ops for each in fused.report.kernels] == [("exp",), ("multiply",), ("copy",)]


def test_apart_a_loop_is_one_op() -> None:
    fused = checked(func_of(LOOP.replace("REVERSE", "false")), apart=True)
    assert ("loop",) in [each.ops for each in fused.report.kernels]


TABLE = """
func @f<n: 0..9>(%x: tensor<[n, 3], f32>) -> (tensor<[n, 3], f32>, tensor<[3], f32>) {
  %table = tensor.constant {value = [1.0, 2.0, -0.0]} : tensor<[3], f32>
  %wide = tensor.broadcast %table {shape = [n, 3], axes = [1]} : tensor<[n, 3], f32>
  %y = tensor.multiply %x, %wide : tensor<[n, 3], f32>
  %z = tensor.cumulative_sum %table {axis = 0} : tensor<[3], f32>
  return %y, %z
}
"""


def test_a_constant_of_several_numbers_is_put_into_memory_by_the_host() -> None:
    fused = checked(func_of(TABLE))
    ops = [op.name for op in fused.module.main.body]
    assert ops.count("step.fill") == 1
    done = [each.ops for each in fused.report.kernels]
    assert done == [("copy",), ("multiply",), ("cumulative_sum",)]


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
