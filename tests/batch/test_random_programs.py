"""Random programs in many lanes give, bit for bit, what each lane gives alone."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import INEXACT
from brimstone.ir.errors import ExecutionError, VerifyError
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.interpreter.mesh import interpret_mesh
from brimstone.ir.printer import print_module
from brimstone.ir.tensor import Reduction
from brimstone.ir.tensor.control import INDEX
from brimstone.ir.values import Op
from brimstone.ir.verifier import verify
from brimstone.passes.batch import batch
from brimstone.passes.inline import inlined
from brimstone.passes.oracle import choose_sizes, difference, random_arguments
from kit.lanes import Lanes, batching_differs
from kit.programs import program, random_plans

PROGRAMS = 700
WITH_COLLECTIVES = 500
COMPARED_AT_LEAST = 60
ORDER_MAY_CHANGE = (tensor.Contract, tensor.Convolve, tensor.LinearCall)
"""Sums whose terms may be added in another order, or among zeros."""


def programs(
    count: int, collectives: bool, using: type[Op] | None = None
) -> Iterator[tuple[Random, Module]]:
    """Programs whose sums are added in one order only, all of them or those `using` an op."""
    for seed, plan in enumerate(random_plans(count, collectives)):
        if using is not None and all(step.op is not using for step in plan.steps):
            continue
        module = program(plan)
        if not any(isinstance(op, ORDER_MAY_CHANGE) for func in module for op in func.walk()):
            yield Random(seed), module


def lanes_of(func: Func, random: Random, special: bool = True) -> Lanes:
    choices = choose_sizes(func)
    sizes, count = random.choice(choices), random.choice((0, 1, 2, 2, 3))
    numbers = np.random.default_rng(random.getrandbits(32))
    given = [random_arguments(func, sizes, numbers, special) for _ in range(max(count, 1))]
    return Lanes(given, count, sizes)


@pytest.mark.slow
def test_lanes_are_alone(record_summary: list[str]) -> None:
    compared = 0
    for random, module in programs(PROGRAMS, collectives=False):
        lanes = lanes_of(module.main, random)
        batched = [random.random() < 0.6 for _ in module.main.arguments]
        size = random.choice((lanes.count, Symbol("lanes", 0)))
        changed = batching_differs(module.main, batched, lanes, size, module=module)
        assert changed is None, f"{batched}: {changed}\n{print_module(module)}"
        compared += 1
    record_summary.append(f"batch: {compared} of {PROGRAMS} programs compared")
    assert compared >= COMPARED_AT_LEAST


@pytest.mark.slow
def test_lanes_stop_by_themselves(record_summary: list[str]) -> None:
    """The counters of while loops become arguments, so that lanes differ in how long they run."""
    compared = 0
    for random, module in programs(2 * PROGRAMS, collectives=False, using=tensor.While):
        loops = [op for op in module.main.walk() if isinstance(op, tensor.While)]
        for op in loops:
            counter = module.main.body.add_argument(INDEX)
            op.set_operands((counter, *op.operands[1:]))
        if not loops:
            continue
        lanes = lanes_of(module.main, random, special=False)
        batched = [random.random() < 0.8 for _ in module.main.arguments]
        changed = batching_differs(module.main, batched, lanes, module=module)
        assert changed is None, f"{batched}: {changed}\n{print_module(module)}"
        compared += 1
    record_summary.append(f"batch: {compared} programs with while loops compared")
    assert compared >= COMPARED_AT_LEAST


@pytest.mark.slow
def test_lanes_of_lanes_are_alone() -> None:
    """A func that `batch` has made is batched once more, along other arguments."""
    for random, module in programs(PROGRAMS // 2, collectives=False):
        flags = [random.random() < 0.6 for _ in module.main.arguments]
        func, _ = batch(module.main, flags, Symbol("columns_of_lanes", 0, 3), module=module)
        lanes = lanes_of(func, random)
        batched = [random.random() < 0.6 for _ in func.arguments]
        changed = batching_differs(func, batched, lanes)
        assert changed is None, f"{flags}, then {batched}: {changed}\n{print_module(module)}"


@pytest.mark.slow
def test_lanes_meet_like_devices(record_summary: list[str]) -> None:
    """Both axes of a mesh of two by two become axes of lanes."""
    compared = 0
    for random, module in programs(WITH_COLLECTIVES, collectives=True):
        if any(sums_floats(op) for func in module for op in func.walk()):
            continue
        compared += meets_like_devices(module, random)
    record_summary.append(f"batch: {compared} programs with collectives compared")
    assert compared >= COMPARED_AT_LEAST


def sums_floats(op: Op) -> bool:
    """Whether lanes add what devices add too; but lanes make 0.0 of -0.0 and -0.0."""
    added = isinstance(op, tensor.AllReduce | tensor.ReduceScatter)
    return added and op.reduction is Reduction.SUM and op.x.dtype in INEXACT


def meets_like_devices(module: Module, random: Random) -> bool:
    """Compare lanes with devices; False where some devices meet in a branch of their own."""
    func = inlined(module.main, module)
    everywhere = [True] * len(func.arguments)
    sizes = random.choice(choose_sizes(func))
    numbers = np.random.default_rng(random.getrandbits(32))
    given = [random_arguments(func, sizes, numbers) for _ in range(4)]
    try:
        columns, inner = batch(func, everywhere, 2, "model")
        rows, outer = batch(columns, everywhere, 2, "data")
    except VerifyError as refusal:
        assert "not all lanes" in str(refusal)
        return False
    try:
        expected = interpret_mesh(func, given, {"data": 2, "model": 2}, sizes=sizes)
    except ExecutionError:
        return False
    verify(rows)
    stacked = [np.stack(each).reshape(2, 2, *each[0].shape) for each in zip(*given, strict=True)]
    found = interpret(rows, *stacked, sizes=sizes)
    for place, array in enumerate(found):
        alike = (2, 2, *array.shape[inner[place] + outer[place] :])
        split = array if outer[place] else array[None]
        apart = np.broadcast_to(split if inner[place] else split[:, None], alike)
        for device, results in enumerate(expected):
            changed = difference([results[place]], [apart[divmod(device, 2)]])
            assert changed is None, f"{place} of {device}: {changed}\n{print_module(module)}"
    return True
