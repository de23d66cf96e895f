"""The report says what was fused, in words and numbers; names are telling and stay."""

from brimstone.ir import print_module
from brimstone.ir.dims import Symbol
from brimstone.ir.func import Func
from brimstone.passes.fuse import Refuse, fuse
from kit.fusing import checked, func_of

ROWS = "tensor<[n, m], f32>"
TEXT = f"""
func @model<n: 1..64, m: 1..64>(%x: {ROWS}, %w: tensor<[m, m], f32>) -> {ROWS} {{
  %h = tensor.contract %x, %w {{left_batch = [], right_batch = [], left_contract = [1], \
right_contract = [0], dtype = f32}} : {ROWS} at "my model.py":3
  %top = tensor.reduce_maximum %h {{axes = [1]}} : tensor<[n], f32> at "my model.py":4
  %tops = tensor.broadcast %top {{shape = [n, m], axes = [0]}} : {ROWS} at "my model.py":4
  %low = tensor.subtract %h, %tops : {ROWS} at "my model.py":4
  %e = tensor.exp %low : {ROWS} at "my model.py":5
  %sum = tensor.reduce_sum %e {{axes = [1]}} : tensor<[n], f32> at "my model.py":5
  %sums = tensor.broadcast %sum {{shape = [n, m], axes = [0]}} : {ROWS} at "my model.py":5
  %share = tensor.divide %e, %sums : {ROWS} at "my model.py":5
  return %share
}}
"""
REPORT = """\
@model: 8 ops in 2 kernels, 24*m*n + 16*n bytes saved

contract_my_model_3    my model.py:3
  ops     contract
  reads   x f32[n, m], w f32[m, m]
  writes  h f32[n, m]
  bytes   4*m*m + 4*m*n read, 4*m*n written, 0 saved
  not one with softmax_my_model_4: sums of what a contraction makes need all of it

softmax_my_model_4    my model.py:4, my model.py:5
  ops     reduce_maximum, subtract, exp, reduce_sum, divide
  reads   h f32[n, m]
  writes  share f32[n, m]
  bytes   4*m*n read, 4*m*n written, 24*m*n + 16*n saved"""


def test_text() -> None:
    assert str(checked(func_of(TEXT)).report) == REPORT


def test_values() -> None:
    report = checked(func_of(TEXT)).report
    first, second = report.kernels
    n, m = Symbol("n", 1, 64), Symbol("m", 1, 64)
    assert second.bytes == (4 * n * m, 4 * n * m)
    assert first.boundaries == {
        second.name: Refuse("sums of what a contraction makes need all of it")
    }
    assert not Refuse("no")
    assert report.saved == second.saved
    assert second.location == (("my model.py", 4), ("my model.py", 5))


def test_names_are_distinct_and_stay() -> None:
    lines = [
        "%y1 = tensor.cumulative_sum %x {axis = 0} : tensor<[8], f32>",
        "%y2 = tensor.cumulative_sum %y1 {axis = 0} : tensor<[8], f32>",
        "%y3 = tensor.cumulative_sum %y2 {axis = 0} : tensor<[8], f32>",
    ]
    head = "func @cumulative_sum_model_2(%x: tensor<[8], f32>) -> tensor<[8], f32> {\n  "
    func = func_of(head + "\n  ".join(lines) + "\n  return %y3\n}\n")
    names = [each.name for each in fuse(func).report.kernels]
    assert names == ["cumulative_sum_model_2_2", "cumulative_sum_model_3", "cumulative_sum_model_4"]
    assert print_module(fuse(func).module) == print_module(fuse(func).module)


def test_a_func_without_ops() -> None:
    func = func_of("func @f(%x: tensor<[2], f32>) -> tensor<[2], f32> {\n  return %x\n}\n")
    (kernel,) = checked(func).report.kernels
    assert kernel.ops == ("copy",)
    assert kernel.name == "copy_model_1"
    empty = func_of("func @f() -> () {\n  return\n}\n")
    assert isinstance(checked(empty).module.main, Func)
    assert str(checked(empty).report) == "@f: 0 ops in 0 kernels, 0 bytes saved"
