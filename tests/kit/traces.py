"""Small runs for the tests of `passes.trace`.

Comes in: a text and a pipeline. Goes out: the recorder that watched the run.
Never: a file; a run that fails leaves no reproducer.
"""

from typing import Any

from brimstone.ir import tensor
from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.ir.rewriter import Rewriter, Rules, apply, rewrite
from brimstone.ir.values import Value
from brimstone.passes import Context, Settings, pipeline_pass, run_pipeline
from brimstone.passes.notation import Pipeline
from brimstone.passes.trace import Recorder

UNNAMED = """\
func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> {
  %0 = tensor.exp %x : tensor<[4], f32>
  %1 = tensor.tanh %x : tensor<[4], f32>
  %2 = tensor.exp %x : tensor<[4], f32>
  %3 = tensor.add %0, %2 : tensor<[4], f32>
  return %3
}
"""
NESTED = """\
func @f(%x: tensor<[4], f32>, %yes: tensor<[], bool>) -> tensor<[4], f32> {
  %y = tensor.cond %yes, %x (%a: tensor<[4], f32>) {
    %t = tensor.exp %a : tensor<[4], f32>
    yield %t
  } (%b: tensor<[4], f32>) {
    yield %b
  } : tensor<[4], f32>
  return %y
}
"""


@rewrite(tensor.Multiply)
def doubled(op: tensor.Multiply, rewriter: Rewriter) -> Value[Any] | None:
    """x * y -> x + y"""
    return rewriter.emit(tensor.Add, op.left, op.right)


MINE = Rules(doubled)


@pipeline_pass("adding")
def adding(func: Func, context: Context) -> None:
    """Apply the rule above, and drop what is dead."""
    apply(MINE, func, context)


def record(text: str, pipeline: Pipeline) -> Recorder:
    """Run the passes over the text, which comes from `a.ir`."""
    module = parse(text, "a.ir")
    recorder = Recorder(module)
    settings = Settings(reproduce=False)
    run_pipeline(module, pipeline, Context(settings=settings, observers=[recorder]))
    return recorder
