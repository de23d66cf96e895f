"""Wrong changes planted in three passes: random programs find each, `bisect` names the rule and the
user's line, `reduce` leaves a handful of ops; with the right pass, nothing is found there."""

from dataclasses import dataclass
from functools import cache

import pytest

from brimstone.ir import tensor
from brimstone.ir.dtypes import FLOATS
from brimstone.ir.func import Func, Module
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.rewriter import Rewriter, Rules, apply, rewrite
from brimstone.ir.values import AnyValue, Op, replace
from brimstone.ir.verifier import verify
from brimstone.passes.bisect import bisect
from brimstone.passes.context import Context, Settings
from brimstone.passes.copying import copy_module
from brimstone.passes.cse import cse
from brimstone.passes.declare import Pass, pipeline_pass
from brimstone.passes.examine import DIFFERS, examine
from brimstone.passes.hoist import hoist
from brimstone.passes.manager import count_ops, run_pipeline
from brimstone.passes.reduce import fails_like, reduce_module
from brimstone.passes.simplify import SIMPLIFY, simplify
from kit.programs import random_programs

PROGRAMS = 1000


@rewrite(tensor.Maximum)
def larger(op: tensor.Maximum, rewriter: Rewriter) -> AnyValue | None:
    """maximum(x, y) -> x > y ? x : y, which is wrong where x is NaN"""
    if op.left.dtype not in FLOATS:
        return None
    greater = rewriter.emit(tensor.Less, op.right, op.left)
    return rewriter.emit(tensor.Select, greater, op.left, op.right)


@pipeline_pass("simplify_more")
def simplify_more(func: Func, context: Context) -> None:
    """The rules of `simplify`, and a wrong one."""
    apply(Rules(larger, SIMPLIFY), func, context)


@pipeline_pass("cse_blind")
def cse_blind(func: Func, context: Context) -> None:
    """Merge ops of equal operands, also where their last attribute differs."""
    seen: dict[object, Op] = {}
    for op in list(func.walk()):
        if not op.numbered or not op.operands:
            continue
        types = tuple(result.type for result in op.results)
        key = (op.__class__, op.operands, op.attributes[:-1], types)
        found = seen.setdefault(key, op)
        if found is op:
            continue
        if not found.precedes(op):
            seen[key] = op
        elif op.block is not None and context.allow("cse_blind", op):
            for old, new in zip(op.results, found.results, strict=True):
                replace(old, new)
            op.detach()


@pipeline_pass("hoist_carries")
def hoist_carries(func: Func, context: Context) -> None:
    """Move ops before the loop they are in, also those that read a carry, which is wrong from the
    second step on."""
    for loop in [op for op in func.walk() if isinstance(op, tensor.Loop)]:
        begin = dict(zip(loop.body.arguments[1:], loop.carries, strict=False))
        for op in [op for op in loop.body if op.numbered]:
            operands = tuple(begin.get(operand, operand) for operand in op.operands)
            inside = any(operand.block is loop.body for operand in operands)
            if not inside and loop.block is not None and context.allow("hoist_carries", op):
                op.detach()
                op.set_operands(operands)
                loop.block.insert(op, loop)


@dataclass(frozen=True)
class Planted:
    """A wrong pass, the right one, the wrong rule, and how many ops show that it is wrong.

    `ops` counts every op of every func, those in regions and terminators too.
    """

    wrong: Pass
    right: Pass
    rule: str
    ops: int


PLANTED = (
    Planted(simplify_more, simplify, "larger", 5),
    Planted(cse_blind, cse, "cse_blind", 5),
    Planted(hoist_carries, hoist, "hoist_carries", 8),
)
each = pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.wrong.name)


@cache
def found_by(wrong: Pass) -> tuple[str, Module]:
    """The text and the module of the first random program whose results the pass changes."""
    for number, made in enumerate(random_programs(PROGRAMS, collectives=False)):
        context = Context(settings=Settings(reproduce=False))
        run_pipeline(copy_module(made), (wrong,), context)
        if not context.entries:
            continue  # it has nothing to do here
        text = print_module(made)
        module = parse(text, f"program_{number}.ir")
        failure = examine(module, (wrong,)).failure
        if failure is not None:
            assert failure.kind == DIFFERS
            return text, module
    pytest.fail(f"none of {PROGRAMS} programs shows that {wrong.name} is wrong")


@each
def test_random_programs_find_it_and_blame_no_right_pass(planted: Planted) -> None:
    _, module = found_by(planted.wrong)
    assert examine(module, (planted.right,)).failure is None


@each
def test_bisect_names_the_rule_and_the_line(planted: Planted) -> None:
    text, module = found_by(planted.wrong)
    culprit = bisect(module, (planted.wrong,))
    assert culprit is not None
    assert culprit.application is not None
    assert (culprit.step, culprit.application.rule) == (planted.wrong.name, planted.rule)
    ((file, line),) = culprit.application.location
    assert file.startswith("program_")
    assert culprit.application.op in text.splitlines()[line - 1]


@each
def test_reduce_leaves_a_handful_of_ops(planted: Planted) -> None:
    _, module = found_by(planted.wrong)
    failure = examine(module, (planted.wrong,)).failure
    assert failure is not None
    reduced = reduce_module(module, fails_like(failure, (planted.wrong,)))
    verify(reduced)
    assert count_ops(reduced) <= planted.ops, print_module(reduced)
    assert examine(reduced, (planted.wrong,)).failure is not None
    assert examine(reduced, (planted.right,)).failure is None
