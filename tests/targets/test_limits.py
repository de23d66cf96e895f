"""Slices of tensors of open sizes: refused where they would lie outside, before anything runs."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.errors import ExecutionError
from brimstone.targets.limits import check, limits_of
from brimstone.targets.sizes import Numbers
from kit.texts import read

SLICED = """
func @f<n: 0..64>(%x: tensor<[n], f32>) -> (tensor<[SIZE], f32>) {
  %y = tensor.slice %x {start = [START], size = [SIZE], step = [STEP]} : tensor<[SIZE], f32>
  return %y
}
"""


def sliced(start: str, size: str, step: int = 1) -> Any:
    text = SLICED.replace("START", start).replace("SIZE", size).replace("STEP", str(step))
    return read(text).main


@pytest.mark.parametrize(
    ("start", "size", "step", "right", "wrong"),
    [
        ("2", "1", 1, [3, 64], [0, 2]),
        ("0", "4", 3, [10, 11], [0, 9]),
        ("2", "n - 2", 1, [2, 9], [0, 1]),
        ("n - 1", "1", 1, [1, 9], [0]),
        ("5", "0", 1, [5, 9], [0, 4]),
    ],
)
def test_what_may_lie_outside(
    start: str, size: str, step: int, right: list[int], wrong: list[int]
) -> None:
    func = sliced(start, size, step)
    limits = limits_of(func)
    assert len(limits) == 1
    for number in right:
        check(limits, Numbers({func.symbols[0]: number}))
    for number in wrong:
        with pytest.raises(ExecutionError, match=f"within axis 0 of size {number}"):
            check(limits, Numbers({func.symbols[0]: number}))


@pytest.mark.parametrize(("start", "size", "step"), [("0", "n", 1), ("0", "ceildiv(n, 2)", 2)])
def test_what_lies_inside_whatever_the_size(start: str, size: str, step: int) -> None:
    assert not limits_of(sliced(start, size, step))


FEW = """
func @f<n: 0..64>(%x: tensor<[n], f32>, %i: tensor<[4, 1], i64>) -> tensor<[], i64> {
  %y = tensor.arg_maximum %x {axis = 0, dtype = i64} : tensor<[], i64>
  %z = tensor.sort %x {axis = 0, keys = 1, count = 3} : tensor<[3], f32>
  %w = tensor.gather %x, %i {axes = [0], outside = clamp} : tensor<[4], f32>
  %v = tensor.gather %x, %i {axes = [0], outside = zero} : tensor<[4], f32>
  %u = tensor.sort %x {axis = 0, keys = 1} : tensor<[n], f32>
  return %y
}
"""


def test_what_needs_elements() -> None:
    """A largest one, three to be the first, one to be the nearest."""
    func = read(FEW).main
    limits = limits_of(func)
    assert [each.op.name for each in limits] == [
        "tensor.arg_maximum",
        "tensor.sort",
        "tensor.gather",
    ]
    check(limits, Numbers({func.symbols[0]: 3}))
    with pytest.raises(ExecutionError, match=r"tensor.sort: the first 3 are wanted of 1"):
        check(limits, Numbers({func.symbols[0]: 1}))
    with pytest.raises(ExecutionError, match=r"tensor.arg_maximum: the axis is empty"):
        check(limits, Numbers({func.symbols[0]: 0}))
    assert not limits_of(read(FEW.replace("0..64", "3..64")).main)


OPEN = {"element": lambda x: x[2], "edge": lambda x: bs.pad(x, ((2, 0),), mode="edge")}


@pytest.mark.parametrize("name", OPEN)
def test_open_sizes(name: str) -> None:
    function = OPEN[name]
    compiled = bs.jit(function, dynamic={"x": {0: "n"}})
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(compiled(bs.asarray(x)).numpy(), function(bs.asarray(x)).numpy())
    with pytest.raises(bs.PlaceError, match="within axis 0 of size 0"):
        compiled(bs.zeros((0,))).numpy()
    np.testing.assert_array_equal(compiled(bs.asarray(x)).numpy(), function(bs.asarray(x)).numpy())


def test_counts_that_are_too_small() -> None:
    third = bs.jit(lambda x: x[x > 0][2])
    assert third(bs.asarray([1.0, -1.0, 2.0, 3.0])).item() == 3
    with pytest.raises(IndexError, match="within axis 0 of size 1"):
        third(bs.asarray([1.0, -1.0, -2.0, -3.0])).item()


REGIONS: dict[str, Any] = {
    "a loop": lambda w, rows: bs.scan(lambda sum, row: (sum + row * w[5], sum), w[0], rows)[0],
    "a branch": lambda w, rows: bs.cond(rows.sum() > 0, lambda: w[5] * 1, lambda: w[0] * 2),
    "a branch that is not taken": lambda w, rows: bs.cond(
        rows.sum() < 0, lambda: w[5] * 1, lambda: w[0] * 2
    ),
    "a loop of unknown length": lambda w, rows: bs.while_loop(
        lambda sum: sum < 100, lambda sum: sum + w[5] + rows.sum(), w[0]
    ),
}


@pytest.mark.parametrize("where", REGIONS)
@pytest.mark.parametrize("dynamic", [{}, {"w": {0: "n"}}, {"w": {0: "n"}, "rows": {0: "m"}}])
def test_what_lies_outside_in_regions(where: str, dynamic: Any) -> None:
    """Whether sizes are open or not."""
    with bs.device("cpu"):
        step = bs.jit(REGIONS[where], dynamic=dynamic)
        rows = bs.ones((3,))
        assert float(step(bs.ones((8,)), rows)) > 0
        with pytest.raises(bs.PlaceError):
            step(bs.ones((3,)), rows).numpy()
        assert float(step(bs.ones((6,)), rows)) > 0


def test_a_loop_without_a_round_reads_nothing() -> None:
    with bs.device("cpu"):
        dynamic: Any = {"w": {0: "n"}, "rows": {0: "m"}}
        step = bs.jit(REGIONS["a loop"], dynamic=dynamic)
        assert float(step(bs.ones((8,)), bs.ones((3,)))) == 4
        assert float(step(bs.ones((3,)), bs.ones((0,)))) == 1
