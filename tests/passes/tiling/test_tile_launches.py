"""Launches of tiled kernels: in place, in regions, several of one kernel; refusals; locations."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir import parse, print_module, step, tensor, tile, verify
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import bf16, f32, i32
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.payloads import Number, payload
from brimstone.ir.tensor.rules import Term
from brimstone.ir.types import Tensor, View
from brimstone.passes import tiling
from brimstone.passes.oracle import difference
from brimstone.passes.tiling import KernelShape, Tiled
from kit.tiling import SCHEDULE, SYMBOLS, along, arrays_for, kernel, launched, spread, tiled

N, M = SYMBOLS["n"], SYMBOLS["m"]

IN_PLACE = """
func @main<n: 0..64>(%x: array<[n], f32>) -> array<[n], f32> {
  %y = step.allocate : array<[n], f32>
  step.copy %x, %y
  step.launch [%y], %y {kernel = @k, grid = []}
  return %y
}
func @k<n: 0..64>(%x: tensor<[n], f32>) -> tensor<[n], f32> {
  BODY
  return %y
}
"""

LOOPED = """
func @main<rows: 0..64>(%x: array<[rows, 3], f32>) -> (array<[rows, 3], f32>, array<[8], f32>) {
  %y = step.allocate : array<[rows, 3], f32>
  %z = step.allocate : array<[8], f32>
  %eight = step.allocate : array<[8], f32>
  step.launch [%x], %y {kernel = @k, grid = []}
  step.loop {trip = 3} (%i: scalar<i64>) {
    step.launch [%y], %y {kernel = @k, grid = []}
    yield
  }
  step.launch [], %eight {kernel = @ones, grid = []}
  step.launch [%eight], %z {kernel = @other, grid = []}
  return %y, %z
}
func @k<n: 0..64, m: 0..64>(%x: tensor<[n, m], f32>) -> tensor<[n, m], f32> {
  %y = tensor.add %x, %x : tensor<[n, m], f32>
  return %y
}
func @ones() -> tensor<[8], f32> {
  %one = tensor.constant {value = 1.5} : tensor<[], f32>
  %ones = tensor.broadcast %one {shape = [8]} : tensor<[8], f32>
  return %ones
}
func @other(%x: tensor<[8], f32>) -> tensor<[8], f32> {
  %c = tensor.complex %x, %x : tensor<[8], c64>
  %y = tensor.real %c : tensor<[8], f32>
  return %y
}
"""


def tile_module(text: str) -> tuple[Module, Tiled]:
    module = parse(text, "launches")
    verify(module)
    made = tiling.tile(module, lambda shape: SCHEDULE)
    verify(made.module)
    return module, made


def test_a_map_may_work_in_place() -> None:
    module, made = tile_module(IN_PLACE.replace("BODY", "%y = tensor.exp %x : tensor<[n], f32>"))
    assert not made.refused
    x = np.linspace(-2, 2, 19, dtype=np.float32)
    assert difference(interpret(module, x), interpret(made.module, x)) is None


@pytest.mark.parametrize(
    "body",
    [
        "%y = tensor.flip %x {axes = [0]} : tensor<[n], f32>",
        """%s = tensor.reduce_sum %x {axes = [0]} : tensor<[], f32>
  %t = tensor.broadcast %s {shape = [n]} : tensor<[n], f32>
  %y = tensor.divide %x, %t : tensor<[n], f32>""",
    ],
)
def test_what_reads_again_may_not(body: str) -> None:
    _, made = tile_module(IN_PLACE.replace("BODY", body))
    assert made.refused == {"k": "it works in place, and reads again what it has written"}


def test_rows_of_one_array_count_as_one_array() -> None:
    text = """
func @main<n: 1..64>(%x: array<[2, n], f32>) -> array<[2, n], f32> {
  %y = step.allocate : array<[2, n], f32>
  step.copy %x, %y
  step.loop {trip = 2} (%i: scalar<i64>) {
    %from = step.row %y, %i : array<[n], f32>
    %to = step.row %y, %i : array<[n], f32>
    step.launch [%from], %to {kernel = @k, grid = []}
    yield
  }
  return %y
}
func @k<n: 1..64>(%x: tensor<[n], f32>) -> tensor<[n], f32> {
  %y = tensor.flip %x {axes = [0]} : tensor<[n], f32>
  return %y
}
"""
    module, made = tile_module(text)
    assert made.refused == {"k": "it works in place, and reads again what it has written"}
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    assert difference(interpret(module, x), interpret(made.module, x)) is None


def test_launches_in_regions_and_of_kernels_that_stay() -> None:
    module, made = tile_module(LOOPED)
    before = print_module(module)
    x = np.arange(21, dtype=np.float32).reshape(7, 3)
    assert difference(interpret(module, x), interpret(made.module, x)) is None
    assert list(made.refused) == ["other"]
    assert print_module(module) == before  # what comes in is left alone


def test_what_is_tiled_already_stays() -> None:
    _, made = tile_module(LOOPED)
    again = tiling.tile(made.module, lambda shape: SCHEDULE)
    assert print_module(again.module) == print_module(made.module)


def test_each_op_has_the_line_of_the_tensor_op() -> None:
    add = "%y = tensor.add %x, %x : tensor<[n, m], f32>"
    _, made = tile_module(LOOPED.replace(add, f'{add} at "model.py":7'))
    for cls in (tile.Load, tile.Store):
        (op,) = [each for each in made.module["k"].walk() if isinstance(each, cls)]
        assert op.location == (("model.py", 7),)
    sums = [op for op in made.module["k"].walk() if isinstance(op, tile.Binary)]
    assert [op.location for op in sums if op.results[0].dtype is f32] == [(("model.py", 7),)]


def reshaped_inside(x: Term) -> Term:
    return (x * 2).apply("reshape", shape=(N * 4,))


def two_spaces(x: Term) -> tuple[Term, Term]:
    return x * 2, x.apply("slice", start=(1,), size=(3,), step=(1,))


def two_reductions(x: Term) -> tuple[Term, Term]:
    return x.apply("reduce_sum", axes=(0,)) + 1, x.apply("reduce_sum", axes=(1,))


def padded_sum(x: Term) -> Term:
    return (x * x).apply("pad", low=(1,), high=(0,), interior=(0,), value=Number(0, f32))


def spread_out(x: Term) -> Term:
    return x.apply("pad", low=(0,), high=(0,), interior=(1,), value=Number(0, f32))


def table(x: Term) -> Term:
    numbers = x.builder.emit(tensor.Constant, payload(np.arange(3, dtype=np.float32), f32))
    return x * Term(x.builder, numbers)


def eigenvalues(x: Term) -> tuple[Term, ...]:
    return tuple([Term(x.builder, each) for each in x.builder.emit_all(tensor.Eigh, x.value)])


REFUSED: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "a reshape of a value that is no argument": (reshaped_inside, ("n 4 f32",)),
    "a result of shape [3] in a space of [n]": (two_spaces, ("n f32",)),
    "reductions along different axes": (two_reductions, ("n m f32",)),
    "pads a value that it computes": (padded_sum, ("n f32",)),
    "pads between the elements": (spread_out, ("n f32",)),
    "a constant of several numbers": (table, ("3 f32",)),
    "complex numbers": (lambda x: x * x, ("n c64",)),
    "tensor.eigh has no form of tiles yet": (eigenvalues, ("n n f32",)),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_has_no_form_of_tiles_says_why(reason: str) -> None:
    build, arguments = REFUSED[reason]
    made = tiled(kernel(build, *arguments))
    assert made.refused == {"k": reason}


def norm(x: Term) -> Term:
    total = along(x.apply("reduce_sum", axes=(1,)), x, 1)
    return (x / total).cast(bf16)


def every(axis: int, step: int) -> Callable[[Term], Term]:
    """Three elements along an axis."""

    def build(x: Term) -> Term:
        start, size, steps = [0, 0], [*x.value.type.shape], [1, 1]
        start[axis], size[axis], steps[axis] = 1, 3, step
        return x.apply("slice", start=start, size=size, step=steps)

    return build


def column(x: Term) -> Term:
    n, _ = x.value.type.shape
    return x.apply("slice", start=(0, 2), size=(n, 1), step=(1, 1)).apply("reshape", shape=(n,))


SHAPES: list[tuple[Callable[..., Any], tuple[str, ...], dict[str, Any]]] = [
    (
        lambda x: x + x,
        ("n m f32",),
        {
            "kind": "map",
            "widest": f32,
            "vector_reduced": False,
            "live": 2,
            "single": False,
            "rank": 1,
        },
    ),
    (norm, ("n m f32",), {"kind": "rows", "narrowest": bf16, "vector_reduced": True, "live": 3}),
    (lambda x: x.apply("exp"), ("n f32",), {"costly": True, "transposed": False}),
    (lambda x: x.apply("permute", axes=(1, 0)), ("n m f32",), {"transposed": True}),
    (lambda x: x.apply("reduce_sum", axes=(0,)), ("n m i32",), {"vector_reduced": False}),
    (
        lambda x, y: x + spread(y, x, 1),
        ("n m i32", "m i32"),
        {"narrowest": i32, "live": 3, "rank": 2},
    ),
    (every(1, 1), ("n 8 f32",), {"single": False}),
    (every(1, 2), ("n 8 f32",), {"single": True}),
    (every(0, 2), ("8 m f32",), {"single": False}),
    (lambda x: x.apply("flip", axes=(1,)), ("n m f32",), {"single": False}),
    (column, ("n 8 i8",), {"single": True}),
]


@pytest.mark.parametrize(("build", "arguments", "expected"), SHAPES)
def test_what_the_chooser_is_shown(
    build: Callable[..., Any], arguments: tuple[str, ...], expected: dict[str, Any]
) -> None:
    seen: list[KernelShape] = []

    def choose(shape: KernelShape) -> dict[str, int]:
        seen.append(shape)
        return SCHEDULE

    tiling.tile(launched(kernel(build, *arguments)), choose)
    found = {name: getattr(seen[0], name) for name in expected}
    assert found == expected


def test_more_axes_than_a_grid_has_are_looped_over() -> None:
    def build(x: Term, a: Term, b: Term) -> Term:
        return x + spread(a, x, 0, 2, 4) + spread(b, x, 1, 3)

    func = kernel(build, "2 n 3 m 5 f32", "2 3 5 f32", "n m f32")
    made = tiled(func)
    main = made.module.main
    (launch,) = [op for op in main.walk() if isinstance(op, step.Launch)]
    assert len(launch.grid) == 3
    assert sum(isinstance(op, tile.For) for op in made.module["k"].walk()) == 2


def test_a_name_that_is_taken_is_not_taken_again() -> None:
    func = kernel(lambda x: x.apply("reduce_sum", axes=(0,)), "n f32")
    module = launched(func)
    module.add(Func("k_combined", (), ()))
    Builder(module["k_combined"].body).emit_all(Return, [])
    made = tiling.tile(module, lambda shape: SCHEDULE).module
    verify(made)
    assert list(made.funcs) == ["main", "k_parts", "k_combined_", "k", "k_combined"]


@pytest.mark.parametrize("sizes", ["8 n", "n 8"])
def test_a_sum_of_few_is_no_choice(sizes: str) -> None:
    axis = sizes.split().index("8")
    func = kernel(lambda x: x.apply("reduce_sum", axes=(axis,)), f"{sizes} f32")
    made = tiling.tile(launched(func), lambda shape: SCHEDULE).module
    assert list(made.funcs) == ["main", "k"]
    assert [op.name for op in made.main.walk() if isinstance(op, step.Launch | step.When)] == [
        "step.launch"
    ]


def test_a_program_leaves_alone_what_lies_beside_its_views() -> None:
    func = kernel(lambda x: x - along(x.apply("reduce_maximum", axes=(1,)), x, 1), "n m f32")
    made = tiled(func).module["k"]
    (x,) = arrays_for(func, {"n": 5, "m": 13}, whole=True)
    windows = [tile.poisoned(each, (13, 1)) for each in (x, np.zeros_like(x))]
    tile.run_kernel(made, windows)
    assert tile.is_intact(windows[1])
    np.testing.assert_array_equal(windows[1].array(), x - x.max(1, keepdims=True))


def test_a_merged_axis_is_a_size_of_its_own() -> None:
    func = kernel(lambda x: x * 2, "n m f32")
    made = tiled(func).module["k"]
    assert [symbol.name for symbol in made.symbols] == ["m_n"]
    assert made.symbols[0] is Symbol("m_n", 0, 4096 * 4096)
    assert isinstance(made.arguments[0].type, View) and made.arguments[0].type.rank == 1


def test_of_choices_within_others_only_those_that_sizes_can_meet_are_left() -> None:
    sizes = Symbol("n", 0, 1 << 20), Symbol("m", 0, 1 << 20)
    func = Func("k", [Tensor(sizes, f32)] * 2, sizes)
    builder = Builder(func.body)
    x, y = (Term(builder, argument) for argument in func.arguments)
    sums = (x * y).apply("reduce_sum", axes=(0,))
    builder.emit_all(Return, [(x * (y - along(sums, x, 0))).value])
    main = tiled(func, {**SCHEDULE, "wide": 4096}).module.main
    # Where there are at most 4096 columns, nobody asks whether there are 64 times as many.
    asked = [(str(op.size), op.at_least) for op in main.walk() if isinstance(op, step.When)]
    assert asked == [("m", 4097), ("m*n", 1 << 18), ("n", 512)]
