"""Contractions in machine code: exact where inputs are, for every layout and every branch."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.passes.machine import Machine
from brimstone.passes.oracle import difference
from brimstone.passes.tiling import KernelShape
from brimstone.runtime.host import shared_host
from brimstone.targets.llvm import descent, road
from brimstone.targets.llvm.cache import Cache
from brimstone.targets.llvm.machines import MODELS, host
from brimstone.targets.llvm.program import Program
from brimstone.targets.llvm.schedules import chooser
from kit.contractions import contract, contraction
from kit.endings import ending
from kit.played import played
from kit.tiling import arrays_for, kernel, sizes_of

LIMITS = {
    "chunk": 24, "alone": 256, "few": 3, "beside": 2, "kept": 64, "near": 64, "much": 2, "apart": 1,
    "some": 9, "many": 30, "deep": 20, "part": 1,
}  # fmt: skip
"""Small sizes reach all branches; blocks are those of this processor."""
COMPILED = [
    "nn", "nt", "tn", "heads", "two merged", "two free", "vector, matrix", "vector, rows",
    "columns, vector", "outer", "maps", "bf16", "f16 to f32", "f64", "i8 to i32",
]  # fmt: skip


def small(machine: Machine) -> Any:
    choose = chooser(machine)

    def limited(shape: KernelShape) -> Any:
        schedule = choose(shape)
        return {**schedule, **LIMITS} if shape.kind == "contract" else schedule

    return limited


def program(func: Func) -> Program:
    func.name = "main"
    return road.compile_step(Module([func]), shared_host())


@pytest.mark.parametrize("layout", COMPILED)
def test_machine_code_does_what_the_interpreter_does(
    layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(descent, "chooser", small)
    monkeypatch.setattr(road, "default_cache", lambda: Cache(None))  # nobody else chooses so
    func = contraction(layout)
    made = program(func)
    assert not made.code.refused
    for sizes in [*sizes_of(func), *edges(func)]:
        arguments = arrays_for(func, sizes, whole=True)
        expected = interpret(Module([func]), *arguments)
        assert difference(expected, played(made, arguments, sizes)) is None, sizes


@pytest.mark.parametrize("name", ["turned", "layers"])
def test_what_follows_is_the_same_in_machine_code(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(descent, "chooser", small)
    monkeypatch.setattr(road, "default_cache", lambda: Cache(None))  # nobody else chooses so
    func = ending(name)
    made = program(func)
    assert not made.code.refused
    for sizes in [*sizes_of(func, 4), *edges(func)]:
        arguments = arrays_for(func, sizes, whole=True)
        expected = interpret(Module([func]), *arguments)
        assert difference(expected, played(made, arguments, sizes)) is None, sizes


def edges(func: Func) -> list[dict[str, int]]:
    """Sizes around the blocks of the processor."""
    schedule = chooser(host())(
        KernelShape("contract", func.arguments[0].dtype, func.arguments[0].dtype.accumulator)
    )
    rows, columns = schedule["m"], schedule["n"]
    found = [(rows - 1, columns - 1, 16), (rows, columns, 15), (rows + 1, columns + 1, 17)]
    found += [(2 * rows + 3, 3 * columns + 5, 31), (3, 2 * columns, 8), (rows, 8, 53)]
    found += [(rows + 1, (schedule["strip"] + 1) * columns + 3, 17)]
    found += [(9, 3 * columns + 5, 21), (4, 2 * columns + 1, 37), (7, 130, 64)]  # packed near
    names = [symbol.name for symbol in func.symbols]
    every = [{"m": m, "n": n, "k": k, "l": 2} for m, n, k in found]
    return [{name: sizes[name] for name in names} for sizes in every]


@pytest.mark.parametrize("model", MODELS)
def test_a_block_leaves_registers_for_its_operands(model: str) -> None:
    machine = MODELS[model]
    for name in ("f32", "f64"):
        dtype = kernel(contract((), (), (1,), (0,)), f"m k {name}", f"k n {name}").results[0].dtype
        schedule = chooser(machine)(KernelShape("contract", dtype, dtype))
        vectors = schedule["n"] // machine.lanes(dtype)
        assert schedule["n"] % machine.lanes(dtype) == 0
        assert schedule["m"] * vectors + vectors + 1 <= machine.registers


def test_results_do_not_depend_on_where_they_lie() -> None:
    func = contraction("nn")
    made = program(func)
    left, right = arrays_for(func, {"m": 70, "n": 90, "k": 50}, whole=False)
    (once,), (again,) = (
        played(made, [left, right], {}),
        played(made, [left.copy(), right.copy()], {}),
    )
    np.testing.assert_array_equal(once, again)
    np.testing.assert_allclose(once, left @ right, rtol=1e-4, atol=1e-4)


SHIFTED = """
func @main<n: 0..64, k: 0..64>(%x: tensor<[n, k], f32>, %y: tensor<[k, n], f32>)
    -> tensor<[n, n], f32> {
  %wide = tensor.pad %x {low = [0, 1], high = [0, 0], interior = [0, 0], value = 0.0} : \
tensor<[n, k + 1], f32>
  %part = tensor.slice %wide {start = [0, 0], size = [n, k], step = [1, 1]} : tensor<[n, k], f32>
  %z = tensor.contract %part, %y {left_batch = [], right_batch = [], left_contract = [1], \
right_contract = [0], dtype = f32} : tensor<[n, n], f32>
  return %z
}
"""


def test_what_lies_behind_the_end_of_an_operand_is_not_summed() -> None:
    """It is there: the operand is a part of what is padded, and shifted by one."""
    made = program(parse(SHIFTED).main)
    x, y = np.ones((17, 5), np.float32), np.ones((5, 17), np.float32)
    x[:, -1] = np.nan
    (found,) = played(made, [x, y], {})
    assert (found == 4).all()


def test_an_operand_may_be_made_of_nothing() -> None:
    """Such as the ones of an identity matrix, which no array tells."""
    made = program(
        parse("""
func @main<n: 0..64>(%x: tensor<[n, n], f32>) -> tensor<[n, n], f32> {
  %row = tensor.iota {shape = [n, n], axis = 0, dtype = i32} : tensor<[n, n], i32>
  %column = tensor.iota {shape = [n, n], axis = 1, dtype = i32} : tensor<[n, n], i32>
  %same = tensor.equal %row, %column : tensor<[n, n], bool>
  %ones = tensor.cast %same {dtype = f32} : tensor<[n, n], f32>
  %z = tensor.contract %ones, %x {left_batch = [], right_batch = [], left_contract = [1], \
right_contract = [0], dtype = f32} : tensor<[n, n], f32>
  return %z
}
""").main
    )
    x = np.arange(25, dtype=np.float32).reshape(5, 5)
    assert (played(made, [x], {})[0] == x).all()
