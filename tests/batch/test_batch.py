"""What batching keeps: the func that comes in, lines, names, sizes, what is alike in all lanes."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dims import DimError, Size, Symbol
from brimstone.ir.dtypes import f32
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.locations import Location
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from brimstone.ir.types import Tensor
from brimstone.ir.verifier import verify
from brimstone.passes.batch import batch
from kit.work import calls_of

DISTANCE = """
func @distance<n: 1..64>(%x: tensor<[n], f32>, %y: tensor<[n], f32>) -> (tensor<[], f32>,
    tensor<[n], f32>) with {target: "cpu"} {
  %doubled = tensor.add %y, %y : tensor<[n], f32>
  %left = tensor.subtract %x, %doubled : tensor<[n], f32>
  %squares = tensor.multiply %left, %left : tensor<[n], f32>
  %sum = tensor.reduce_sum %squares {axes = [0]} : tensor<[], f32>
  return %sum, %doubled
}
"""
BATCHED = """\
func @distance<n: 1..64, lanes: 0..8>(%x: tensor<[lanes, n], f32>, %y: tensor<[n], f32>) -> \
(tensor<[lanes], f32>, tensor<[n], f32>) with {target: "cpu"} {
  %doubled = tensor.add %y, %y : tensor<[n], f32>
  %0 = tensor.broadcast %doubled {shape = [lanes, n], axes = [1]} : tensor<[lanes, n], f32>
  %left = tensor.subtract %x, %0 : tensor<[lanes, n], f32>
  %squares = tensor.multiply %left, %left : tensor<[lanes, n], f32>
  %sum = tensor.reduce_sum %squares {axes = [1]} : tensor<[lanes], f32>
  return %sum, %doubled
}
"""
LANES = Symbol("lanes", 0, 8)


def test_what_is_alike_in_all_lanes_is_computed_once() -> None:
    func = parse(DISTANCE).main
    made, varying = batch(func, (True, False), LANES)
    assert print_func(made).strip() == BATCHED.strip()
    assert varying == (True, False)


def test_the_func_that_comes_in_stays() -> None:
    func = parse(DISTANCE).main
    before = print_func(func)
    uses = [list(value.uses) for value in func.arguments]
    batch(func, (True, True), 3)
    assert print_func(func) == before
    assert [list(value.uses) for value in func.arguments] == uses
    verify(func)


def test_every_op_knows_the_line_it_comes_from() -> None:
    func = parse(DISTANCE, "distance.ir").main
    made, _ = batch(func, (True, False), 3)
    lines = [(op.name, str(op.location)) for op in made.walk()]
    assert lines == [
        ("tensor.add", "distance.ir:4"),
        ("tensor.broadcast", "distance.ir:5"),
        ("tensor.subtract", "distance.ir:5"),
        ("tensor.multiply", "distance.ir:6"),
        ("tensor.reduce_sum", "distance.ir:7"),
        ("return", "distance.ir:8"),
    ]
    assert made.location is func.location


def test_nothing_is_batched() -> None:
    func = parse(DISTANCE).main
    made, varying = batch(func, (False, False), 3)
    assert print_func(made) == print_func(func)
    assert varying == (False, False)


def test_an_argument_may_be_a_result() -> None:
    func = parse("func @f(%x: tensor<[2], f32>) -> tensor<[2], f32> {\n  return %x\n}").main
    made, varying = batch(func, (True,), 3)
    assert made.results == made.arguments
    assert varying == (True,)


@pytest.mark.parametrize("size", [Symbol("n", 1, 64), Symbol("n", 1, 64) * 2, Symbol("m") + 1, 0])
def test_any_size_is_how_many_lanes_there_are(size: Size) -> None:
    made, _ = batch(parse(DISTANCE).main, (True, True), size)
    verify(made)
    assert made.arguments[0].type.shape == (size, Symbol("n", 1, 64))
    assert len({symbol.name for symbol in made.symbols}) == len(made.symbols)


def test_sizes_that_cannot_be_are_refused() -> None:
    func = parse(DISTANCE).main
    with pytest.raises(VerifyError, match="@distance has a size n of its own, with other bounds"):
        batch(func, (True, True), Symbol("n", 0, 7))
    with pytest.raises(DimError, match="-1 is not a size"):
        batch(func, (True, True), -1)
    with pytest.raises(ValueError, match="shorter"):
        batch(func, (True,), 3)


def test_lanes_of_lanes() -> None:
    func = parse(DISTANCE).main
    rows, _ = batch(func, (True, False), 3)
    both, varying = batch(rows, (False, True), LANES)
    verify(both)
    assert varying == (True, True)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((3, 5), np.float32), rng.standard_normal((2, 5), np.float32)
    sums, _ = interpret(both, x, y)
    expected = np.square(x[None] - 2 * y[:, None]).sum(-1)
    assert sums.shape == (2, 3)
    assert np.allclose(sums, expected, rtol=1e-5)


def test_an_op_without_a_rule_is_named_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor.ReduceSum, "batching", tensor.TensorOp.batching)
    func = parse(DISTANCE, "distance.ir").main
    with pytest.raises(
        VerifyError, match=r"^distance.ir:7: tensor.reduce_sum: has no batching rule"
    ):
        batch(func, (True, False), 3)


def test_an_op_of_another_floor_is_refused() -> None:
    text = "func @f(%x: array<[2], f32>, %y: array<[2], f32>) {\n  step.copy %x, %y\n  return\n}"
    with pytest.raises(VerifyError, match=r":2: step.copy: has no batching rule"):
        batch(parse(text).main, (True, True), 3)


def chain(length: int) -> Func:
    """Ops of several kinds, one after the other."""
    func = Func("chain", [Tensor((4, 8), f32), Tensor((8,), f32)])
    builder = Builder(func.body)
    x, y = func.arguments
    for place in range(length // 4):
        builder.location = Location(("model.py", place))
        wide = builder.emit(tensor.Broadcast, y, shape=(4, 8), axes=(1,))
        x = builder.emit(tensor.Tanh, builder.emit(tensor.Add, x, wide))
        y = builder.emit(tensor.ReduceSum, x, axes=(0,))
    builder.emit_all(Return, [x, y])
    return func


def calls(func: Func) -> int:
    return calls_of(lambda: batch(func, (True, False), 16))


def test_work_is_linear_in_the_ops() -> None:
    calls(chain(100))
    assert calls(chain(10000)) < 12 * calls(chain(1000))


def nest(depth: int) -> str:
    """A loop in a loop in a loop …, each of which hands its carries on the other way round."""
    scalar = "tensor<[], f32>"
    opened, closed = "", "yield %x, %a1\n"
    for level in range(1, depth + 1):
        before = ("%x", "%y") if level == depth else (f"%b{level + 1}", f"%a{level + 1}")
        opened = (
            f"%r{level}, %s{level} = tensor.loop [{', '.join(before)}] {{trip = 2}} "
            f"(%i{level}: tensor<[], i64>, %a{level}: {scalar}, %b{level}: {scalar}) {{\n{opened}"
        )
        handed = f"yield %s{level}, %r{level}\n" if level < depth else ""
        closed = f"{closed}}} : {scalar}, {scalar}\n{handed}"
    header = f"func @f(%x: {scalar}, %y: {scalar}) -> ({scalar}, {scalar}) {{\n"
    return f"{header}{opened}{closed}return %r{depth}, %s{depth}\n}}"


@pytest.mark.parametrize("batched", [(True, False), (False, True)])
def test_loops_in_loops_are_looked_at_once(batched: tuple[bool, ...]) -> None:
    """Were each loop gone through until nothing changes, time would double with every level."""
    func = parse(nest(40)).main
    verify(func)
    made, varying = batch(func, batched, 3)
    verify(made)
    assert varying == (True, True)
