"""Attention and its gradients in machine code, beside the interpreter."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.values import Op
from brimstone.passes.differentiate import vjp
from brimstone.passes.fuse import fuse
from brimstone.passes.tiling import tile
from brimstone.runtime.host import shared_host
from brimstone.targets.llvm import road
from brimstone.targets.llvm.lower import lower
from brimstone.targets.llvm.machines import CPU, MODELS
from brimstone.targets.llvm.schedules import BLOCKS, chooser
from kit.attentions import arguments, attention
from kit.played import played

SIZES = [
    {"b": 2, "g": 1, "t": 13, "s": 33, "d": 17, "e": 40},
    {"b": 1, "g": 2, "t": 99, "s": 70, "d": 8, "e": 5},
    {"b": 1, "g": 1, "t": 3, "s": 515, "d": 16, "e": 32},
    {"b": 1, "g": 1, "t": 2, "s": 0, "d": 3, "e": 3},
]


def with_gradients(func: Func) -> Func:
    return vjp(func, [each.dtype.kind.value == "float" for each in func.arguments], [0, 1])


def assert_right(func: Func, all_given: list[list[Any]], tolerance: float) -> None:
    """Compiled once, for all sizes."""
    func.name = "main"
    step = road.compile_step(Module([func]), shared_host())
    for sizes, given in zip(SIZES, all_given, strict=True):
        expected = interpret(func, *given, sizes=sizes)
        for pair in zip(played(step, given, sizes), expected, strict=True):
            found, wanted = (each.astype(np.float64) for each in pair)
            scale = max(1.0, float(np.abs(wanted).max(initial=0, where=np.isfinite(wanted))))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=scale * tolerance)
    assert not step.code.refused


def test_of_narrow_floats() -> None:
    func = attention("causal", "bf16")
    assert_right(func, [arguments(func, sizes) for sizes in SIZES], 2e-2)


def test_with_gradients_and_shared_keys() -> None:
    func = attention("cap", "f32", shared=2)
    all_given: list[list[Any]] = []
    for sizes in SIZES:
        given = arguments(func, sizes, shared=2)
        outputs = interpret(func, *given, sizes=sizes)
        rng = np.random.default_rng(1)
        given += [rng.standard_normal(each.shape).astype(each.dtype) for each in outputs[:2]]
        all_given.append(given)
    assert_right(with_gradients(func), all_given, 2e-5)


@pytest.mark.parametrize("model", ["avx2", "neon"])
def test_every_machine_has_code_of_it(model: str) -> None:
    machine = MODELS[model]
    pulled = with_gradients(attention("cap", "f32", shared=2))
    made = tile(fuse(pulled).module, chooser(machine))
    assert not made.refused
    for name in made.kernels:
        if "attention" in name and "pack" not in name:
            assert lower(made.module[name], machine)


@pytest.mark.parametrize("change", ["cap", "causal"])
def test_products_neither_branch_nor_copy(change: str) -> None:
    """Two forward, three for the gradient of queries and four for those of keys and values."""
    machine = MODELS["avx512"]
    made = tile(fuse(with_gradients(attention(change, "f32"))).module, chooser(machine))
    products: list[list[str]] = []
    for name in made.kernels:
        if "attention" in name and "pack" not in name:
            ops = [*lower(made.module[name], machine).walk()]
            bodies = [list(op.body) for op in ops if isinstance(op, loop.For)]
            steps = [body for body in bodies if is_product(body, machine)]
            products += [[op.name for op in body] for body in steps]
    assert len(products) == 9
    for names in products:
        assert set(names) <= {
            "loop.constant", "loop.binary", "loop.load", "loop.splat", "loop.load_vector",
            "loop.fma", "yield",
        }  # fmt: skip


def is_product(body: list[Op], machine: CPU) -> bool:
    """Whether a loop adds to all sums of a block in registers, by a number of each of its rows."""
    rows, vectors = BLOCKS[machine.name]
    sums = sum(isinstance(op, loop.FusedMultiplyAdd) for op in body)
    return sums >= rows * vectors and sum(isinstance(op, loop.Load) for op in body) >= rows
