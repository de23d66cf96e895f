"""What four kernels look like: as a person would write them."""

from brimstone.ir import print_module
from brimstone.ir.func import Func, Module
from brimstone.ir.tensor.rules import Term
from kit.tiling import SYMBOLS, along, kernel, spread, tiled

N, M = (SYMBOLS[name] for name in "nm")

BIASED = """\
func @k<n: 0..4096, m: 0..4096>(%x: view<2, f32, {size: [n, m], unit_stride: 1}>, \
%bias: view<1, f32, {size: [m], unit_stride: 0}>, \
%y: view<2, f32, {size: [n, m], unit_stride: 1}>) \
with {grid: [n, ceildiv(m, 64)], tile: {n: 64}} {
  %at_n = tile.program_id {axis = 0} : scalar<i64>
  %0 = tile.program_id {axis = 1} : scalar<i64>
  %1 = tile.constant {value = 64} : scalar<i64>
  %at_m = tile.binary %0, %1 {kind = multiply} : scalar<i64>
  %2 = tile.load %x, %at_n, %at_m {shape = [1, 64], padding = 0.0} : tile<[1, 64], f32>
  %3 = tile.load %bias, %at_m {shape = [64], padding = 0.0} : tile<[64], f32>
  %4 = tile.broadcast %3 {shape = [1, 64], axes = [1]} : tile<[1, 64], f32>
  %5 = tile.binary %2, %4 {kind = add} : tile<[1, 64], f32>
  %6 = tile.unary %5 {kind = tanh} : tile<[1, 64], f32>
  tile.store %y, %6, %at_n, %at_m
  return
}
"""

SOFTMAX = """\
func @k<n: 0..4096, m: 0..4096>(%x: view<2, f32, {size: [n, m], unit_stride: 1}>, \
%y: view<2, f32, {size: [n, m], unit_stride: 1}>) \
with {grid: [n], tile: {n: 64}} {
  %at_n = tile.program_id {axis = 0} : scalar<i64>
  %0 = tile.constant {value = -inf} : scalar<f32>
  %1 = tile.full %0 {shape = [1, 64]} : tile<[1, 64], f32>
  %m = tile.extent %x {axis = 1} : scalar<i64>
  %2 = tile.constant {value = 0} : scalar<i64>
  %3 = tile.constant {value = 64} : scalar<i64>
  %4 = tile.for %2, %m, %3, %1 {label = "level0"} \
(%at_m: scalar<i64>, %5: tile<[1, 64], f32>) {
    %6 = tile.load %x, %at_n, %at_m {shape = [1, 64], padding = -inf} : tile<[1, 64], f32>
    %7 = tile.binary %5, %6 {kind = maximum} : tile<[1, 64], f32>
    yield %7
  } : tile<[1, 64], f32>
  %8 = tile.reduce %4 {axis = 1, kind = maximum} : tile<[1], f32>
  %9 = tile.constant {value = 0.0} : scalar<f32>
  %10 = tile.full %9 {shape = [1, 64]} : tile<[1, 64], f32>
  %11 = tile.broadcast %8 {shape = [1, 64], axes = [0]} : tile<[1, 64], f32>
  %12 = tile.for %2, %m, %3, %10 {label = "level1"} \
(%at_m_1: scalar<i64>, %13: tile<[1, 64], f32>) {
    %14 = tile.load %x, %at_n, %at_m_1 {shape = [1, 64], padding = 0.0} : tile<[1, 64], f32>
    %15 = tile.binary %14, %11 {kind = subtract} : tile<[1, 64], f32>
    %16 = tile.unary %15 {kind = exp} : tile<[1, 64], f32>
    tile.store %y, %16, %at_n, %at_m_1
    %17 = tile.full %at_m_1 {shape = [1, 64]} : tile<[1, 64], i64>
    %18 = tile.iota {shape = [1, 64], axis = 1, dtype = i64} : tile<[1, 64], i64>
    %19 = tile.binary %17, %18 {kind = add} : tile<[1, 64], i64>
    %20 = tile.full %m {shape = [1, 64]} : tile<[1, 64], i64>
    %21 = tile.compare %19, %20 {kind = less} : tile<[1, 64], bool>
    %22 = tile.select %21, %16, %10 : tile<[1, 64], f32>
    %23 = tile.binary %13, %22 {kind = add} : tile<[1, 64], f32>
    yield %23
  } : tile<[1, 64], f32>
  %24 = tile.reduce %12 {axis = 1, kind = sum} : tile<[1], f32>
  %25 = tile.broadcast %24 {shape = [1, 64], axes = [0]} : tile<[1, 64], f32>
  tile.for %2, %m, %3 {label = "level2"} (%at_m_2: scalar<i64>) {
    %26 = tile.load %y, %at_n, %at_m_2 {shape = [1, 64], padding = 0.0} : tile<[1, 64], f32>
    %27 = tile.binary %26, %25 {kind = divide} : tile<[1, 64], f32>
    tile.store %y, %27, %at_n, %at_m_2
    yield
  }
  return
}
"""

STEP = """\
func @main<n: 0..4096, m: 0..4096>(%0: array<[n, m], f32>) -> array<[m], f32> {
  %1 = step.allocate : array<[m], f32>
  step.when {size = ceildiv(m, 64), at_least = 64} () {
    step.launch [%0], %1 {kernel = @k, grid = [ceildiv(m, 64)]}
    yield
  } () {
    step.when {size = n, at_least = 512} () {
      %2 = step.allocate : array<[ceildiv(n, 256), m], f32>
      step.launch [%0], %2 {kernel = @k_parts, grid = [ceildiv(n, 256), ceildiv(m, 64)]}
      step.launch [%2], %1 {kernel = @k_combined, grid = [ceildiv(m, 64)]}
      step.free %2
      yield
    } () {
      step.launch [%0], %1 {kernel = @k, grid = [ceildiv(m, 64)]}
      yield
    }
    yield
  }
  return %1
}
"""

COLUMN_SUMS = """\
func @k_parts<n: 0..4096, m: 0..4096, chunks: 0..9223372036854775807>\
(%x: view<2, f32, {size: [n, m], unit_stride: 1}>, \
%part_parts: view<2, f32, {size: [chunks, m], unit_stride: 1}>) \
with {grid: [chunks, ceildiv(m, 64)], tile: {n: 64}} {
  %at_chunks = tile.program_id {axis = 0} : scalar<i64>
  %0 = tile.program_id {axis = 1} : scalar<i64>
  %1 = tile.constant {value = 64} : scalar<i64>
  %at_m = tile.binary %0, %1 {kind = multiply} : scalar<i64>
  %2 = tile.constant {value = 0.0} : scalar<f32>
  %3 = tile.full %2 {shape = [1, 64]} : tile<[1, 64], f32>
  %n = tile.extent %x {axis = 0} : scalar<i64>
  %4 = tile.constant {value = 256} : scalar<i64>
  %5 = tile.binary %at_chunks, %4 {kind = multiply} : scalar<i64>
  %6 = tile.binary %5, %4 {kind = add} : scalar<i64>
  %7 = tile.binary %6, %n {kind = minimum} : scalar<i64>
  %8 = tile.constant {value = 1} : scalar<i64>
  %9 = tile.for %5, %7, %8, %3 {label = "level0"} \
(%at_n: scalar<i64>, %10: tile<[1, 64], f32>) {
    %11 = tile.load %x, %at_n, %at_m {shape = [1, 64], padding = 0.0} : tile<[1, 64], f32>
    %12 = tile.binary %10, %11 {kind = add} : tile<[1, 64], f32>
    yield %12
  } : tile<[1, 64], f32>
  tile.store %part_parts, %9, %at_chunks, %at_m
  return
}
"""

STREAMED = """\
func @k<n: 0..4096, m: 0..4096>(%x: view<2, f32, {size: [n, m], unit_stride: 1}>, \
%y: view<1, f32, {size: [m], unit_stride: 0}>) \
with {grid: [ceildiv(m, 1024)], tile: {n: 64, unroll: 4, wide: 1024}} {
  %0 = tile.program_id {axis = 0} : scalar<i64>
  %1 = tile.constant {value = 1024} : scalar<i64>
  %at_m = tile.binary %0, %1 {kind = multiply} : scalar<i64>
  %m = tile.extent %x {axis = 1} : scalar<i64>
  %2 = tile.binary %at_m, %1 {kind = add} : scalar<i64>
  %3 = tile.binary %2, %m {kind = minimum} : scalar<i64>
  %4 = tile.constant {value = 64} : scalar<i64>
  %sums = tile.scratch {shape = [1, 1024], dtype = f32} \
: view<2, f32, {size: [1, 1024], unit_stride: 1}>
  %5 = tile.constant {value = 0} : scalar<i64>
  %6 = tile.constant {value = 1} : scalar<i64>
  tile.for %at_m, %3, %4 {label = "columns"} (%at_m_1: scalar<i64>) {
    %7 = tile.constant {value = 0.0} : scalar<f32>
    %8 = tile.full %7 {shape = [1, 64]} : tile<[1, 64], f32>
    %9 = tile.binary %at_m_1, %at_m {kind = subtract} : scalar<i64>
    %10 = tile.view %sums, [%5, %9], %6, %4 {axes = [0, 1]} : view<2, f32, {unit_stride: 1}>
    tile.store %10, %8, %5, %5
    yield
  }
  %n = tile.extent %x {axis = 0} : scalar<i64>
  %11 = tile.constant {value = 4} : scalar<i64>
  tile.for %5, %n, %11 {label = "level0"} (%at_n: scalar<i64>) {
    tile.for %at_m, %3, %4 {label = "columns"} (%at_m_2: scalar<i64>) {
      %12 = tile.binary %at_m_2, %at_m {kind = subtract} : scalar<i64>
      %13 = tile.view %sums, [%5, %12], %6, %4 {axes = [0, 1]} : view<2, f32, {unit_stride: 1}>
      %14 = tile.load %13, %5, %5 {shape = [1, 64], padding = 0.0} : tile<[1, 64], f32>
      %15 = tile.load %x, %at_n, %at_m_2 {shape = [4, 64], padding = 0.0} : tile<[4, 64], f32>
      %16 = tile.reduce %15 {axis = 0, kind = sum} : tile<[64], f32>
      %17 = tile.reshape %16 {shape = [1, 64]} : tile<[1, 64], f32>
      %18 = tile.binary %14, %17 {kind = add} : tile<[1, 64], f32>
      tile.store %13, %18, %5, %5
      yield
    }
    yield
  }
  tile.for %at_m, %3, %4 {label = "columns"} (%at_m_3: scalar<i64>) {
    %19 = tile.binary %at_m_3, %at_m {kind = subtract} : scalar<i64>
    %20 = tile.view %sums, [%5, %19], %6, %4 {axes = [0, 1]} : view<2, f32, {unit_stride: 1}>
    %21 = tile.load %20, %5, %5 {shape = [1, 64], padding = 0.0} : tile<[1, 64], f32>
    %22 = tile.reshape %21 {shape = [64]} : tile<[64], f32>
    tile.store %y, %22, %at_m_3
    yield
  }
  return
}
"""

TURNED = """\
  %26 = tile.binary %n, %6 {kind = subtract} : scalar<i64>
  %27 = tile.binary %26, %11 {kind = remainder} : scalar<i64>
  %28 = tile.binary %26, %27 {kind = subtract} : scalar<i64>
  tile.for %5, %n, %11 {label = "level1"} (%done: scalar<i64>) {
    %at_n_1 = tile.binary %28, %done {kind = subtract} : scalar<i64>
"""


def named(func: Func, *names: str) -> Func:
    """The kernel with names that a user would give."""
    for value, name in zip((*func.arguments, *func.results), names, strict=True):
        value.name = name
    return func


def test_a_map_of_rows_and_a_bias() -> None:
    func = kernel(lambda x, bias: (x + spread(bias, x, 1)).apply("tanh"), "n m f32", "m f32")
    made = tiled(named(func, "x", "bias", "y"), {"n": 64}).module
    assert print_module(Module([made["k"]])) == BIASED


def test_softmax_keeps_the_exponentials_where_its_result_will_be() -> None:
    def softmax(x: Term) -> Term:
        above = (x - along(x.apply("reduce_maximum", axes=(1,)), x, 1)).apply("exp")
        return above / along(above.apply("reduce_sum", axes=(1,)), x, 1)

    made = tiled(named(kernel(softmax, "n m f32"), "x", "y"), {"n": 64}).module
    assert print_module(Module([made["k"]])) == SOFTMAX


def test_column_sums_are_made_in_chunks() -> None:
    func = kernel(lambda x: x.apply("reduce_sum", axes=(0,)), "n m f32")
    func.arguments[0].name = "x"
    made = tiled(func, {"n": 64}).module
    assert print_module(Module([made.main])) == STEP
    assert print_module(Module([made["k_parts"]])) == COLUMN_SUMS


def test_rows_stream_past_the_sums_of_many_columns() -> None:
    func = named(kernel(lambda x: x.apply("reduce_sum", axes=(0,)), "n m f32"), "x", "y")
    made = tiled(func, {"n": 64, "unroll": 4, "wide": 1024}).module
    assert print_module(Module([made["k"]])) == STREAMED


def test_vectors_run_along_rows_whatever_is_read_once_a_row() -> None:
    """A row of `x` is whole in memory; of `y` and of `z` there is one number for it."""
    func = kernel(
        lambda x, y, z: x.apply("reduce_sum", axes=(1,)) * y + z, "n m f32", "n f32", "n f32"
    )
    (text,) = print_module(Module([tiled(func, {"n": 64}).module["k"]])).split("with", 1)[1:]
    assert text.startswith(" {grid: [n], tile: {n: 64}}")


def test_axes_are_one_beside_those_of_which_a_part_is_read() -> None:
    """Pairs of neighbours, one of which is read; and a part of each row, seen through a window."""
    pairs = kernel(
        lambda x: x.apply("slice", start=(0, 0, 1), size=(N, M, 1), step=(1, 1, 1)), "n m 2 f32"
    )
    text = print_module(Module([tiled(pairs, {"n": 64}).module["k"]]))
    assert "view<2, f32, {size: [m_n, 2], unit_stride: 1}>" in text
    assert "grid: [ceildiv(m_n, 64)]" in text
    parts = kernel(
        lambda x: x.apply("slice", start=(0, 0, 1), size=(N, M, 2), step=(1, 1, 1)), "n m 4 f32"
    )
    text = print_module(Module([tiled(parts, {"n": 64}).module["k"]]))
    assert "view<2, f32, {size: [m_n, 4], unit_stride: 1}>" in text
    assert "grid: [m_n, 1]" in text


def test_rows_that_were_read_last_are_the_first_again() -> None:
    """They are still in a cache; in which order sums are made stays as it is."""

    def centred(x: Term) -> Term:
        return x - along(x.apply("reduce_sum", axes=(0,)), x, 0)

    func = named(kernel(centred, "n m f32"), "x", "y")
    text = print_module(Module([tiled(func, {"n": 64, "unroll": 4, "wide": 1024}).module["k"]]))
    assert TURNED in text
    assert text.count("%done") == 2  # nowhere else
