"""What a kernel may hold at most, and where the bounds show."""

import pytest

import brimstone as bs
from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import i64
from brimstone.ir.func import Module
from brimstone.passes.fuse import Fused, fuse
from brimstone.passes.fuse.clusters import CIRCLE
from brimstone.passes.fuse.cost import (
    LAUNCH,
    MOST_ARRAYS,
    MOST_BESIDE,
    MOST_LEVELS,
    MOST_OPS,
    amount,
    effort,
)
from brimstone.passes.fuse.legal import LEVELS
from brimstone.passes.generalise import generalise
from brimstone.passes.manager import run_pipeline
from brimstone.passes.pipelines import PREPARE
from kit.fusing import checked, reasons
from kit.recorder import Recorder


def test_a_kernel_has_so_many_arrays_at_most() -> None:
    r = Recorder()
    total, *others = r.arguments(*[(3, 4)] * (2 * MOST_ARRAYS))
    for each in others:
        total = r.emit(tensor.Add, total, each)
    fused = checked(r.done(total))
    assert len(fused.report.kernels) == 3
    assert all(len(each.reads) + len(each.writes) <= MOST_ARRAYS for each in fused.report.kernels)
    assert reasons(fused) == [f"together they read and write more than {MOST_ARRAYS} arrays"]


def test_a_contraction_has_so_many_arrays_beside_it_at_most() -> None:
    """A weight of which a recurrent network makes use at each of its steps."""

    def loss(w: bs.Tensor, x: bs.Tensor) -> bs.Tensor:
        for _ in range(24):
            x = bs.tanh(x @ w)
        return (x * x).sum()

    traced = bs.jit(bs.grad(loss)).lower(bs.ones((64, 64)), bs.ones((16, 64)))
    func = generalise(traced.ir.main).func
    run_pipeline(Module([func]), PREPARE)
    fused = fuse(func)
    products = [each for each in fused.report.kernels if "contract" in each.name]
    assert len(products) == 24 + 23 + 24  # values, and slopes along them and by the weight
    for kernel in products:
        assert len(kernel.reads) + len(kernel.writes) <= MOST_BESIDE + 2


def test_a_kernel_has_so_many_ops_at_most() -> None:
    r = Recorder()
    x = r.argument(3, 4)
    for _ in range(2 * MOST_OPS):
        x = r.emit(tensor.Sin, x)
    fused = checked(r.done(x))
    assert 2 <= len(fused.report.kernels) <= 4
    assert all(len(each.ops) <= MOST_OPS for each in fused.report.kernels)


def test_what_has_long_code_counts_as_several() -> None:
    """Else a kernel of many random numbers of 64 bits would be too long for machine code."""

    def walk(x: bs.Tensor) -> bs.Tensor:
        for _ in range(16):
            x = x + bs.random.normal(bs.random.key(1), (64,), bs.float64)
        return x

    with bs.device("cpu"):
        text = str(bs.jit(walk).explain(bs.zeros(64, dtype=bs.float64)))
    assert "machine code" in text
    assert "interpreted" not in text


def test_what_is_computed_again_leaves_kernels_as_small() -> None:
    """Each row is put into a table by a map over all of it, which the next one can do as well."""

    def table(rows: list[bs.Tensor]) -> bs.Tensor:
        made = bs.zeros((128, 50))
        for number, row in enumerate(rows):
            made = made.at[number, :20].set(row[:20])
        return made

    traced = bs.jit(table).lower([bs.zeros(50) for _ in range(128)])
    func = generalise(traced.ir.main).func
    run_pipeline(Module([func]), PREPARE)
    for kernel in fuse(func).report.kernels:
        assert len(kernel.reads) + len(kernel.writes) <= MOST_ARRAYS
        assert len(kernel.ops) <= MOST_OPS


@pytest.mark.parametrize(("count", "most"), [(MOST_LEVELS, 1), (MOST_LEVELS + 1, 2), (40, 10)])
def test_so_many_reductions_of_a_kernel_wait_for_each_other(count: int, most: int) -> None:
    r = Recorder()
    x = r.argument(3, 4)
    for _ in range(count):
        x = r.along(tensor.Subtract, x, r.reduce(tensor.ReduceSum, x))
    fused = checked(r.done(x))
    assert len(fused.report.kernels) <= most
    assert all(each.ops.count("reduce_sum") <= MOST_LEVELS for each in fused.report.kernels)
    assert reasons(fused) == [str(LEVELS)] * (count > MOST_LEVELS)


def test_of_reductions_that_do_not_wait_for_each_other_there_may_be_more() -> None:
    r = Recorder()
    x = r.argument(3, 4)
    kinds = (tensor.ReduceSum, tensor.ReduceMaximum, tensor.ReduceMinimum)
    maps = (x, r.emit(tensor.Exp, x), r.emit(tensor.Sin, x), r.emit(tensor.Negate, x))
    fused = checked(r.done(*[r.reduce(kind, each) for kind in kinds for each in maps]))
    assert len(fused.report.kernels) == 1


def test_what_stands_between_keeps_kernels_apart() -> None:
    r = Recorder()
    x = r.argument(6, 5)
    e = r.emit(tensor.Exp, x)
    s = r.emit(tensor.CumulativeSum, e, axis=0)
    fused = checked(r.done(r.emit(tensor.Add, e, s)))
    assert str(CIRCLE) in reasons(fused)


@pytest.mark.parametrize(("turned", "apart", "count"), [(0, 0, 1), (1, 0, 2), (0, 1, 2)])
def test_a_sort_counts_by_itself_what_it_puts_in_order(
    turned: bool, apart: bool, count: int
) -> None:
    r = Recorder()
    x = r.argument(100, 3)
    places = r.emit(tensor.Iota, shape=(100, 3), axis=0, dtype=i64)
    values = (places, x) if turned else (x, places)  # a key is an array
    made = r.builder.emit_all(tensor.Sort, values, axis=0, keys=1)
    assert len(checked(r.done(*made), apart=apart).report.kernels) == count


def _scaled(size: int | Symbol) -> Fused:
    """A function of a short vector, along the rows of a long array."""
    r = Recorder()
    if isinstance(size, Symbol):
        r.func.symbols = (size,)
    x, weight = r.arguments((size, 4), (4,))
    return checked(r.done(r.map(tensor.Multiply, x, r.emit(tensor.Exp, weight))))


def test_costly_functions_of_short_vectors_are_computed_once() -> None:
    assert len(_scaled(Symbol("n", 0)).report.kernels) == 1  # a few kilobytes cost less than that
    assert len(_scaled(Symbol("n", 100_000)).report.kernels) == 2


def test_open_sizes_count_as_typical() -> None:
    assert amount(Symbol("n", 0)) == amount(Symbol("m", 1)) == 1024
    assert amount(Symbol("n", 0, 64)) == 64
    assert amount(Symbol("n", 4096)) == 4096
    assert amount(Symbol("n", 0, 2**20, 100)) == 1000
    assert effort(tensor.Add) < effort(tensor.Divide) < effort(tensor.Exp) < LAUNCH
