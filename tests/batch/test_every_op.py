"""Every op of the tensor floor, whichever of its operands are batched, means what a lane means."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random
from zlib import crc32

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.declare import Op
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import COMPLEXES, FLOATS
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.printer import print_module
from brimstone.ir.tensor.base import TensorOp
from brimstone.ir.values import AnyValue, walk
from brimstone.ir.values import Op as BareOp
from brimstone.passes.batch import control
from brimstone.passes.batch.collectives import RULES as COLLECTIVES
from brimstone.passes.copying import copy_ops
from brimstone.passes.oracle import choose_sizes, random_arguments
from kit.evaluate import Array
from kit.lanes import Lanes, batching_differs
from kit.programs import Plan, Step, program
from kit.recipes import drawable

OPS = drawable(collectives=False)
DRAWN, TELLING, MOST_DRAWN = 12, 8, 400
MOST_ARGUMENTS = 4
ORDER_MAY_CHANGE = (tensor.Contract, tensor.Convolve, tensor.LinearCall)
"""Sums whose terms may be added in another order, or among zeros: they are given terms whose sum is
exact, so that only the sign of a zero may change."""


@dataclass(frozen=True)
class Case:
    """A func of one op, and what it is given in some lanes."""

    func: Func
    module: Module
    lanes: Lanes
    rng: Random

    @property
    def telling(self) -> bool:
        """Whether there are several lanes, and none is empty."""
        return self.lanes.count > 1 and all(array.size for array in self.lanes.given[0])


def cases(cls: type[Op]) -> Iterator[Case]:
    """Some cases of an op, many of which tell a right rule from a wrong one."""
    first, found, telling = crc32(cls.name.encode()), 0, 0
    for seed in range(first, first + MOST_DRAWN):
        case = drawn(cls, seed)
        if case is None or (found >= DRAWN and not case.telling):
            continue
        yield case
        found, telling = found + 1, telling + case.telling
        if found >= DRAWN and telling >= TELLING:
            return
    raise AssertionError(f"{MOST_DRAWN} draws of {cls.name} give {telling} telling cases")


def drawn(cls: type[Op], seed: int) -> Case | None:
    """An op as random programs use it; None where the seed leads nowhere."""
    module = program(Plan((Step(cls, seed),), seed, collectives=False))
    main, rng = module.main, Random(seed)
    found = [op for op in main.body if isinstance(op, cls)]
    deeper = (op for func in module for op in func.walk() if op.block is not main.body)
    if not found or any(isinstance(op, ORDER_MAY_CHANGE) for op in deeper):
        return None
    read = list(dict.fromkeys(outside(found[-1])))
    func = alone(found[-1], read, main)
    main.body.terminator.set_operands(tuple(read))
    choices = choose_sizes(main)
    sizes, count = choices[seed % len(choices)], rng.choice((0, 1, 2, 2, 3))
    numbers = np.random.default_rng(seed)
    given = [
        [
            whole(array, value, numbers) if issubclass(cls, ORDER_MAY_CHANGE) else array
            for array, value in zip(made, read, strict=True)
        ]
        for made in (
            interpret(module, *random_arguments(main, sizes, numbers), sizes=sizes)
            for _ in range(max(count, 1))
        )
    ]
    others = [each for each in module if each is not main]
    return Case(func, Module([func, *others]), Lanes(given, count, sizes), rng)


def outside(op: BareOp) -> Iterator[AnyValue]:
    """What an op and its regions read of the block that it stands in."""
    for inner in walk([op]):
        yield from (operand for operand in inner.operands if operand.block is op.block)


def alone(op: BareOp, read: list[AnyValue], main: Func) -> Func:
    """A func of one op, whose arguments are all that it reads."""
    func = Func("f", [value.type for value in read], main.symbols)
    builder = Builder(func.body)
    values = dict(zip(read, func.arguments, strict=True))
    copy_ops([op], builder, values)
    builder.emit_all(Return, [values[result] for result in op.results])
    return func


def whole(array: Array, value: AnyValue, numbers: np.random.Generator) -> Array:
    """Small whole numbers in the place of floats."""
    if value.dtype not in FLOATS | COMPLEXES:
        return array
    return numbers.integers(-2, 3, array.shape).astype(array.dtype)


def subsets(case: Case) -> Iterator[tuple[bool, ...]]:
    """Which arguments are batched: every choice, or of many some."""
    count = len(case.func.arguments)
    if count <= MOST_ARGUMENTS:
        yield from product((False, True), repeat=count)
        return
    for _ in range(1 << MOST_ARGUMENTS):
        yield tuple(case.rng.random() < 0.5 for _ in range(count))


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_lanes_are_alone(cls: type[Op]) -> None:
    units = 1.0 if cls in ORDER_MAY_CHANGE else 0.0
    for case in cases(cls):
        size = case.rng.choice((case.lanes.count, Symbol("lanes", 0)))
        for batched in subsets(case):
            func, module = case.func, case.module
            changed = batching_differs(func, batched, case.lanes, size, units, module)
            assert changed is None, f"{batched}: {changed}\n{print_module(module)}"


def test_every_op_has_a_rule() -> None:
    """Of its own, or in the pass; or it has nothing that could be batched."""
    without = [
        cls.name
        for cls in drawable()
        if issubclass(cls, TensorOp)
        and cls.operand_fields
        and cls.batching is TensorOp.batching
        and cls not in control.RULES
    ]
    assert not without
    collective = [cls for cls in drawable() if cls not in OPS]
    assert set(collective) == set(COLLECTIVES)
