"""Lanes exchange along their axis what devices exchange along theirs."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.declare import REGISTRY, Op
from brimstone.ir.dims import Size, Symbol
from brimstone.ir.dtypes import DType, boolean, f16, f32, i8
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.interpreter.mesh import interpret_mesh
from brimstone.ir.parser import parse
from brimstone.ir.tensor.collectives import CollectiveOp, Reduction
from brimstone.ir.types import Tensor
from brimstone.ir.verifier import verify
from brimstone.passes.batch import batch
from kit.evaluate import Array, same

SHAPE = (4, 2, 6)
REDUCTIONS = [{"reduction": reduction} for reduction in Reduction]

# How each collective may be used, on a tensor of SHAPE, along an axis of `count` devices.
USES: dict[type[Op], Any] = {
    tensor.AllReduce: lambda count: REDUCTIONS,
    tensor.AllGather: lambda count: [{"axis": axis, "count": count} for axis in range(3)],
    tensor.ReduceScatter: lambda count: [
        {**each, "axis": axis, "count": count} for each in REDUCTIONS for axis in (0, 1, 2)
    ],
    tensor.AllToAll: lambda count: [
        {"split_axis": split, "concat_axis": concat, "count": count}
        for split in range(3)
        for concat in range(3)
    ],
    tensor.CollectivePermute: lambda count: [
        {"pairs": ()},
        {"pairs": ((0, count - 1),)},
        {"pairs": tuple((place, (place + 1) % count) for place in range(count))},
    ],
    tensor.AxisIndex: lambda count: [{}],
}
COUNTS = (1, 2)


def func_of(cls: type[Op], dtype: DType, attributes: dict[str, Any], axis_name: str = "i") -> Func:
    """A func of one collective."""
    func = Func("f", [Tensor(SHAPE, dtype)])
    builder = Builder(func.body)
    operands = func.arguments if cls.operand_fields else ()
    made = builder.emit(cls, *operands, axis_name=axis_name, **attributes)
    builder.emit_all(Return, [made])
    return func


def numbers(dtype: DType, count: int) -> list[Array]:
    """A tensor of small whole numbers for each device."""
    rng, most = np.random.default_rng(count), 2 if dtype is boolean else 4
    return [rng.integers(0, most, SHAPE).astype(dtype.storage) for _ in range(count)]


def uses() -> list[Any]:
    return [
        pytest.param(cls, count, dtype, attributes, id=f"{name} {count} {dtype} {attributes}")
        for name, cls in REGISTRY.items()
        if issubclass(cls, CollectiveOp) and cls in USES
        for count in COUNTS
        for dtype in (f32, i8)
        for attributes in USES[cls](count)
    ]


def test_every_collective_is_used() -> None:
    assert {cls for cls in REGISTRY.values() if issubclass(cls, CollectiveOp)} - {CollectiveOp} == (
        set(USES)
    )


@pytest.mark.parametrize(("cls", "count", "dtype", "attributes"), uses())
@pytest.mark.parametrize("batched", [True, False])
def test_lanes_are_devices(
    cls: type[Op], count: int, dtype: DType, attributes: dict[str, Any], batched: bool
) -> None:
    func, given = func_of(cls, dtype, attributes), numbers(dtype, count)
    if not batched:
        given = given[:1] * count
    made, (varies,) = batch(func, [batched], count, "i")
    verify(made)
    (found,) = interpret(made, np.stack(given) if batched else given[0])
    expected = interpret_mesh(func, [[each] for each in given], {"i": count})
    for lane, (result,) in enumerate(expected):
        assert same(found[lane] if varies else found, result)
    assert varies == (cls not in (tensor.AllReduce, tensor.AllGather))


@pytest.mark.parametrize(("cls", "count", "dtype", "attributes"), uses())
def test_lanes_of_devices(
    cls: type[Op], count: int, dtype: DType, attributes: dict[str, Any]
) -> None:
    """Along another axis than that of the lanes, devices exchange what all their lanes have."""
    func = func_of(cls, dtype, attributes, axis_name="j")
    made, (varies,) = batch(func, [True], 3, "i")
    verify(made)
    lanes = [numbers(dtype, count + 7 * lane)[-count:] for lane in range(3)]
    stacked = [[np.stack([lane[device] for lane in lanes])] for device in range(count)]
    found = interpret_mesh(made, stacked, {"j": count})
    for place, lane in enumerate(lanes):
        expected = interpret_mesh(func, [[each] for each in lane], {"j": count})
        for (together,), (alone,) in zip(found, expected, strict=True):
            assert same(together[place] if varies else together, alone)
    assert varies == bool(cls.operand_fields)


def test_booleans_have_extremes() -> None:
    for reduction in (Reduction.MAXIMUM, Reduction.MINIMUM):
        func = func_of(tensor.AllReduce, boolean, {"reduction": reduction})
        given = numbers(boolean, 3)
        made, _ = batch(func, [True], 3, "i")
        (found,) = interpret(made, np.stack(given))
        expected = interpret_mesh(func, [[each] for each in given], {"i": 3})
        assert same(found, expected[0][0])


def test_narrow_sums_are_rounded_once() -> None:
    func = Func("f", [Tensor((), f16)])
    builder = Builder(func.body)
    made = builder.emit(tensor.AllReduce, func.arguments[0], "i", Reduction.SUM)
    builder.emit_all(Return, [made])
    given = [np.float16(2048), np.float16(1), np.float16(1)]
    (found,) = interpret(batch(func, [True], 3, "i")[0], np.stack(given))
    assert found == 2050
    assert found == interpret_mesh(func, [[np.asarray(each)] for each in given], {"i": 3})[0][0]


@pytest.mark.parametrize("size", [3, Symbol("lanes", 0)])
def test_a_wrong_number_of_lanes_is_refused(size: Size) -> None:
    gather = func_of(tensor.AllGather, f32, {"axis": 0, "count": 2})
    with pytest.raises(VerifyError, match=f"all_gather: this is for 2 devices.* {size} lanes"):
        batch(gather, [True], size, "i")
    moved = func_of(tensor.CollectivePermute, f32, {"pairs": ((0, 5),)})
    with pytest.raises(VerifyError, match=r"collective_permute: .*lane"):
        batch(moved, [True], size, "i")


def test_symbolic_lanes_are_added_and_counted() -> None:
    lanes = Symbol("lanes", 0, 64)
    total = func_of(tensor.AllReduce, f32, {"reduction": Reduction.SUM})
    made, _ = batch(total, [False], lanes, "i")
    (found,) = interpret(made, np.ones(SHAPE, np.float32), sizes={"lanes": 5})
    assert same(found, np.full(SHAPE, 5, np.float32))
    counted, _ = batch(func_of(tensor.AxisIndex, f32, {}), [False], lanes, "i")
    assert interpret(counted, np.ones(SHAPE, np.float32), sizes={"lanes": 3})[0].tolist() == [
        0,
        1,
        2,
    ]


CHOICE = """
func @f(%p: tensor<[], bool>, %x: tensor<[2], f32>) -> tensor<[2], f32> {
  %r = tensor.cond %p () {
    %y = OP : tensor<[2], f32>
    yield %y
  } () {
    yield %x
  } : tensor<[2], f32>
  return %r
}
"""
SUM = 'tensor.all_reduce %x {axis_name = "i", reduction = sum}'


def test_lanes_that_go_other_ways_never_meet() -> None:
    func = parse(CHOICE.replace("OP", SUM)).main
    together, varying = batch(func, (False, True), 2, "i")
    verify(together)
    assert varying == (True,)
    with pytest.raises(VerifyError, match=r":4: tensor.all_reduce: not all lanes of 'i' come here"):
        batch(func, (True, True), 2, "i")
    verify(batch(func, (True, True), 2, "another")[0])


def test_a_lane_knows_its_place_wherever_it_goes() -> None:
    text = CHOICE.replace(
        "%y = OP",
        """%at = tensor.axis_index {axis_name = "i"} : tensor<[], i64>
    %number = tensor.cast %at {dtype = f32} : tensor<[], f32>
    %y = tensor.broadcast %number {shape = [2], axes = []}""",
    )
    made, _ = batch(parse(text).main, (True, False), 3, "i")
    (found,) = interpret(made, np.array([True, False, True]), np.full(2, 9, np.float32))
    assert found.tolist() == [[0, 0], [9, 9], [2, 2]]


def test_lanes_that_stop_one_by_one_never_meet() -> None:
    text = """
    func @f(%stop: tensor<[], i64>) -> tensor<[], i64> {
      %zero = tensor.constant {value = 0} : tensor<[], i64>
      %end = tensor.while %zero (%i: tensor<[], i64>) {
        %more = tensor.less %i, %stop : tensor<[], bool>
        yield %more
      } (%i: tensor<[], i64>) {
        %next = tensor.all_reduce %stop {axis_name = "i", reduction = sum} : tensor<[], i64>
        yield %next
      } : tensor<[], i64>
      return %end
    }
    """
    func = parse(text).main
    assert batch(func, (False,), 2, "i")[1] == (False,)
    with pytest.raises(VerifyError, match=r":8: tensor.all_reduce: not all lanes of 'i' come here"):
        batch(func, (True,), 2, "i")
