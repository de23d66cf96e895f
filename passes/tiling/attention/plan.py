"""The kernels of an attention, and of its gradients.

Comes in: a kernel func that consists of the one op, and the target's chooser. Goes out: `Stages`:
operands are packed once, for all programs that see them.
Never: what a kernel does.
"""

from collections.abc import Callable
from typing import Any

from ....ir import tensor
from ....ir.func import Func
from ....ir.values import AnyValue
from ..parts import Stages
from ..schedule import Chooser, KernelShape
from .backward import Backward, Pull
from .change import Change
from .diagonal import diagonal
from .forward import Forward
from .handed import Handed, Plan, offset_of
from .heads import across, along, heads_of
from .program import Program
from .scores import Scores, Side
from .sums import Sums


def attention_forward(func: Func, op: Any, choose: Chooser) -> Stages:
    """Attention as one kernel, after two that pack keys and values."""
    assert isinstance(op, tensor.Attention)
    plan = _plan(func, op, choose)
    sizes = plan.sizes
    plan.pack("keys", along(op.key, sizes, sizes.columns))
    values = plan.pack("values", across(op.value, sizes, sizes.columns))
    handed = Handed(plan, func.name)
    handed.read(query=op.query, key=op.key)
    handed.panels("keys", "values")
    numbers = _numbers(op)
    found = handed.offset(diagonal(func, op.score, numbers))
    change = handed.change("score", Change(func, op.score, numbers, apart=found))
    handed.write(output=op.output, log_sum_exp=op.log_sum_exp)
    program, views = handed.open(sizes.heads, sizes.rows, sizes.columns)
    side = Side(program.packed_rows(views["query"], sizes.width), views["keys"], sizes.width)
    offset = offset_of(program, found, views.get("offset"))
    changes, group = handed.changes("score"), group_of(program)
    scores = Scores(program, side, group, program.head, change, changes, op.scale, offset)
    forward = Forward(program, scores, Sums(program, values, views["values"], sizes.depth))
    forward.write(views["output"], views["log_sum_exp"])
    handed.close(program)
    return plan.done()


def attention_backward(func: Func, op: Any, choose: Chooser) -> Stages:
    """The gradients of queries as one kernel, those of keys and values as another."""
    assert isinstance(op, tensor.AttentionBackward)
    plan = _plan(func, op, choose)
    _for_queries(plan, op)
    _for_keys(plan, op)
    return plan.done()


def group_of(program: Program) -> AnyValue:
    """Which of all heads of keys the program's head of queries shares."""
    writer, sizes = program.writer, program.sizes
    if sizes.groups == sizes.heads:
        return program.flat_head
    groups = writer.size(sizes.groups)
    shared = writer.divide(writer.multiply(program.head, groups), writer.size(sizes.heads))
    return writer.add(writer.multiply(program.sample, groups), shared)


def _for_queries(plan: Plan, op: tensor.AttentionBackward) -> None:
    func, sizes = plan.func, plan.sizes
    plan.pack("keys", along(op.key, sizes, sizes.columns))
    plan.pack("values", along(op.value, sizes, sizes.columns))
    across_keys = plan.pack("across_keys", across(op.key, sizes, sizes.columns))
    handed = Handed(plan, f"{func.name}_queries")
    handed.read(query=op.query, cotangent=op.cotangent, key=op.key)
    handed.read(log_sum_exp=op.log_sum_exp, delta=op.delta)
    handed.panels("keys", "values", "across_keys")
    others, own = op.gradients[3:], _numbers(op)
    found = handed.offset(None if others else diagonal(func, op.score, own))
    score = handed.change("score", Change(func, op.score, own, apart=found))
    pull = handed.change("pull", Change(func, op.pull, [*own, None], apart=found))
    handed.write(query_gradient=op.gradients[0])
    handed.write(**{f"other{place}": each for place, each in enumerate(others)})
    program, views = handed.open(sizes.heads, sizes.rows, sizes.columns)
    side = Side(program.packed_rows(views["query"], sizes.width), views["keys"], sizes.width)
    pulled = program.packed_rows(views["cotangent"], sizes.depth)
    numbers = program.packed_numbers(views["log_sum_exp"]), program.packed_numbers(views["delta"])
    offset = offset_of(program, found, views.get("offset"))
    changes, group = handed.changes("score"), group_of(program)
    scores = Scores(program, side, group, program.head, score, changes, op.scale, offset)
    targets = [views[f"other{place}"] for place in range(len(others))]
    backward = Backward(
        program,
        scores,
        Pull(pull, handed.changes("pull"), targets),
        Side(pulled, views["values"], sizes.depth),
        numbers,
        Sums(program, across_keys, views["across_keys"], sizes.width),
    )
    backward.write(lambda head: head())
    backward.store(views["query_gradient"])
    handed.close(program)


def _for_keys(plan: Plan, op: tensor.AttentionBackward) -> None:
    func, sizes = plan.func, plan.sizes
    plan.pack("queries", along(op.query, sizes, sizes.rows))
    plan.pack("cotangents", along(op.cotangent, sizes, sizes.rows))
    across_queries = plan.pack("across_queries", across(op.query, sizes, sizes.rows))
    across_cotangents = plan.pack("across_cotangents", across(op.cotangent, sizes, sizes.rows))
    handed = Handed(plan, f"{func.name}_keys")
    handed.read(key=op.key, value=op.value, query=op.query)
    handed.read(log_sum_exp=op.log_sum_exp, delta=op.delta)
    handed.panels("queries", "cotangents", "across_queries", "across_cotangents")
    own = _numbers(op)
    found = handed.offset(diagonal(func, op.score, own))
    score = handed.change("score", Change(func, op.score, own, turned=True, apart=found))
    pull = handed.change("pull", Change(func, op.pull, [*own, None], turned=True, apart=found))
    handed.write(key_gradient=op.gradients[1], value_gradient=op.gradients[2])
    program, views = handed.open(sizes.groups, sizes.columns, sizes.rows)
    side = Side(program.packed_rows(views["key"], sizes.width), views["queries"], sizes.width)
    pulled = program.packed_rows(views["value"], sizes.depth)
    offset, head = offset_of(program, found, views.get("offset")), program.head
    changes, group = handed.changes("score"), program.flat_head
    scores = Scores(program, side, group, head, score, changes, op.scale, offset, turned=True)
    backward = Backward(
        program,
        scores,
        Pull(pull, handed.changes("pull")),
        Side(pulled, views["cotangents"], sizes.depth),
        (views["log_sum_exp"], views["delta"]),
        Sums(program, across_queries, views["across_queries"], sizes.width),
        Sums(program, across_cotangents, views["across_cotangents"], sizes.depth),
    )
    backward.write(lambda run: _sharing(scores, run))
    backward.store(views["key_gradient"], views["value_gradient"])
    handed.close(program)


def _sharing(scores: Scores, run: Callable[[], None]) -> None:
    """Run something for each head of queries that shares the program's head of keys."""
    program = scores.program
    writer, sizes = program.writer, program.sizes
    if sizes.groups == sizes.heads:
        run()
        return
    heads = writer.size(sizes.heads)
    shared = writer.divide(heads, writer.size(sizes.groups))
    first = writer.multiply(program.head, shared)

    def head(at: AnyValue) -> list[AnyValue]:
        scores.head, scores.group = at, writer.add(writer.multiply(program.sample, heads), at)
        run()
        return []

    writer.loop("head", (first, writer.add(first, shared), 1), head)


def _plan(func: Func, op: Any, choose: Chooser) -> Plan:
    wide = op.query.dtype.accumulator
    return Plan(func, heads_of(op, choose(KernelShape("attention", op.query.dtype, wide))))


def _numbers(op: Any) -> list[int | None]:
    """Which arguments of the func a region's are: the scores are none, then come captures."""
    return [None, *[each.index for each in op.captures]]
