"""The kernels of an attention, and of its gradients.

Comes in: a kernel func that consists of the one op, and the target's chooser. Goes out: `Stages`:

    forward            keys, values packed │ a program for each block of queries: output
    gradients          keys, values packed │ a program for each block of queries: theirs
           queries, cotangents packed too  │ a program for each block of keys: theirs, and values'

Never: what a kernel does; here stands what it is handed.
"""

from collections.abc import Callable, Sequence

from ....ir import tensor
from ....ir.func import Func
from ....ir.values import AnyValue
from ..opening import Heading
from ..parts import Stages
from ..schedule import Chooser, KernelShape
from ..space import Refused
from ..staging import Staging
from .backward import Backward, Pull
from .change import Change
from .diagonal import diagonal
from .forward import Forward
from .handed import Handed, Packed
from .heads import across, along, heads_of
from .program import Program
from .reach import Reach
from .scores import Scores, Side
from .sums import Sums

NUMBERS = "log_sum_exp", "rest", "delta"
"""What the gradients know of each query."""


def attention_forward(func: Func, op: tensor.Attention, choose: Chooser) -> Stages:
    """Attention as one kernel, after two that pack keys and values."""
    packed = _packed(func, op, choose)
    sizes = packed.sizes
    packed.pack("keys", along(op.key, sizes, sizes.columns))
    values = packed.pack("values", across(op.value, sizes, sizes.columns))
    handed = Handed(packed, packed.heading)
    handed.read(query=op.query, key=op.key)  # of keys the length, which panels do not tell
    handed.panels("keys", "values")
    numbers = _numbers(op.captures)
    apart = handed.reach(diagonal(func, op.score, numbers))
    score = handed.change("score", Change(func, op.score, numbers, apart=apart))
    handed.write(output=op.output, log_sum_exp=op.log_sum_exp, rest=op.rest)
    program = handed.open(sizes.heads, sizes.rows, sizes.columns)
    views = handed.views
    side = Side(program.packed_rows(views["query"], sizes.width), views["keys"], sizes.width)
    reach, group = Reach(program, handed.offset_in(program)), group_of(program)
    change = handed.changing("score", score)
    scores = Scores(program, side, group, program.head, change, op.scale, reach)
    forward = Forward(program, scores, Sums(program, values, views["values"], sizes.depth))
    forward.write(views["output"], views["log_sum_exp"], views["rest"])
    handed.close(program)
    return packed.staging.done()


def attention_backward(func: Func, op: tensor.AttentionBackward, choose: Chooser) -> Stages:
    """The gradients of queries as one kernel, those of keys and values as another."""
    scores = op.score.arguments[0].type.shape
    if any([each.type.shape != scores for each in op.gradients[3:]]):
        raise Refused("a gradient of what changes the scores has another shape")
    packed = _packed(func, op, choose)
    _for_queries(func, packed, op)
    _for_keys(func, packed, op)
    return packed.staging.done()


def group_of(program: Program) -> AnyValue:
    """Which of all heads of keys the program's head of queries shares."""
    sizes = program.lengths
    if sizes.groups == sizes.heads:
        return program.flat_head
    groups = program.size(sizes.groups)
    shared = program.divide(program.multiply(program.head, groups), sizes.heads)
    return program.add(program.multiply(program.sample, groups), shared)


def _for_queries(func: Func, packed: Packed, op: tensor.AttentionBackward) -> None:
    sizes = packed.sizes
    packed.pack("keys", along(op.key, sizes, sizes.columns))
    packed.pack("values", along(op.value, sizes, sizes.columns))
    across_keys = packed.pack("across_keys", across(op.key, sizes, sizes.columns))
    handed = Handed(packed, packed.heading.plus("queries"))
    handed.read(query=op.query, cotangent=op.cotangent, key=op.key)
    handed.read(log_sum_exp=op.log_sum_exp, rest=op.rest, delta=op.delta)
    handed.panels("keys", "values", "across_keys")
    others, own = op.gradients[3:], _numbers(op.captures)
    apart = handed.reach(None if others else diagonal(func, op.score, own))
    score = handed.change("score", Change(func, op.score, own, apart=apart))
    pull = handed.change("pull", Change(func, op.pull, [*own, None], apart=apart))
    handed.write(query_gradient=op.gradients[0])
    handed.write(**{f"other{place}": each for place, each in enumerate(others)})
    program = handed.open(sizes.heads, sizes.rows, sizes.columns)
    views = handed.views
    side = Side(program.packed_rows(views["query"], sizes.width), views["keys"], sizes.width)
    pulled = program.packed_rows(views["cotangent"], sizes.depth)
    numbers = tuple([program.packed_numbers(views[name]) for name in NUMBERS])
    reach, group = Reach(program, handed.offset_in(program)), group_of(program)
    change = handed.changing("score", score)
    backward = Backward(
        program,
        Scores(program, side, group, program.head, change, op.scale, reach),
        Pull(
            handed.changing("pull", pull), [views[f"other{place}"] for place in range(len(others))]
        ),
        Side(pulled, views["values"], sizes.depth),
        numbers,
        Sums(program, across_keys, views["across_keys"], sizes.width),
    )
    backward.write(lambda head: head())
    backward.store(views["query_gradient"])
    handed.close(program)


def _for_keys(func: Func, packed: Packed, op: tensor.AttentionBackward) -> None:
    sizes = packed.sizes
    packed.pack("queries", along(op.query, sizes, sizes.rows))
    packed.pack("cotangents", along(op.cotangent, sizes, sizes.rows))
    across_queries = packed.pack("across_queries", across(op.query, sizes, sizes.rows))
    across_cotangents = packed.pack("across_cotangents", across(op.cotangent, sizes, sizes.rows))
    handed = Handed(packed, packed.heading.plus("keys"))
    handed.read(key=op.key, value=op.value, query=op.query)
    handed.read(log_sum_exp=op.log_sum_exp, rest=op.rest, delta=op.delta)
    handed.panels("queries", "cotangents", "across_queries", "across_cotangents")
    own = _numbers(op.captures)
    apart = handed.reach(diagonal(func, op.score, own))
    score = handed.change("score", Change(func, op.score, own, turned=True, apart=apart))
    pull = handed.change("pull", Change(func, op.pull, [*own, None], turned=True, apart=apart))
    handed.write(key_gradient=op.gradients[1], value_gradient=op.gradients[2])
    program = handed.open(sizes.groups, sizes.columns, sizes.rows)
    views = handed.views
    side = Side(program.packed_rows(views["key"], sizes.width), views["queries"], sizes.width)
    pulled = program.packed_rows(views["value"], sizes.depth)
    reach, group = Reach(program, handed.offset_in(program), turned=True), program.flat_head
    change = handed.changing("score", score)
    scores = Scores(program, side, group, program.head, change, op.scale, reach)
    backward = Backward(
        program,
        scores,
        Pull(handed.changing("pull", pull)),
        Side(pulled, views["cotangents"], sizes.depth),
        tuple([views[name] for name in NUMBERS]),
        Sums(program, across_queries, views["across_queries"], sizes.width),
        Sums(program, across_cotangents, views["across_cotangents"], sizes.depth),
    )
    backward.write(lambda run: _sharing(scores, run))
    backward.store(views["key_gradient"], views["value_gradient"])
    handed.close(program)


def _sharing(scores: Scores, run: Callable[[], None]) -> None:
    """Run something for each head of queries that shares the program's head of keys."""
    program = scores.program
    sizes = program.lengths
    if sizes.groups == sizes.heads:
        run()
        return
    heads = program.size(sizes.heads)
    shared = program.divide(heads, sizes.groups)
    first = program.multiply(program.head, shared)

    def head(at: AnyValue) -> None:
        scores.head, scores.group = at, program.add(program.multiply(program.sample, heads), at)
        run()

    program.loop("head", (first, program.add(first, shared), 1), head)


def _packed(func: Func, op: tensor.Attention | tensor.AttentionBackward, choose: Chooser) -> Packed:
    """Nothing is packed yet."""
    dtype = op.query.dtype
    schedule = choose(KernelShape("attention", dtype, dtype.accumulator))
    heading = Heading(func.name, func.location, schedule)
    return Packed(Staging.of(func), heads_of(op, schedule), heading)


def _numbers(captures: Sequence[AnyValue]) -> list[int | None]:
    """Which arguments of the func a region's are: the scores are none, then come captures."""
    return [None, *[each.index for each in captures]]
