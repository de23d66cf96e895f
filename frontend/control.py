"""Control flow on the values of tensors: choices, loops and recurrences that are recorded whole.

Comes in: Python functions, which are traced once, and trees of tensors. Goes out: trees of tensors.
Never: a loop unrolled, or a body run by Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, cast

from ..ir import dtypes as ir
from ..ir import tensor as ops
from ..ir.dims import Dim
from ..ir.types import Tensor as TensorType
from .errors import ArgumentError, DTypeError, ShapeError, described, expect_functions, fail
from .exact import exact
from .function import StandIn, Traced, as_tensors, stand_in, tensors_among, trace
from .functions.common import as_node, as_size
from .handle import Handle, wrap
from .left import has_part
from .node import Node, record_parts
from .paths import paths_of
from .regions import Branch, Gathered, balanced, hand_on
from .sizes import size_of
from .trace import Trace, current_trace
from .tree import Structure, flatten, leaves_of
from .turns import INDEX, Turn, count_turns, counted, in_order, keeping
from .unseen import looked_at


def cond(predicate: Any, on_true: Callable[..., Any], on_false: Callable[..., Any], *args: Any):
    """`on_true(*args)` where the boolean tensor holds, else `on_false(*args)`; only one runs."""
    expect_functions("cond", on_true, on_false)
    condition = as_node(predicate, "cond")
    if condition.type.dtype is not ir.boolean or condition.type.shape:
        fail(
            DTypeError, "cond", "the predicate is one boolean", predicate,
            hint="reduce it with `.any()` or `.all()`, or choose element by element with `where`",
        )  # fmt: skip
    leaves, structure = flatten(args)
    nodes = tensors_among(leaves, "cond")
    gathered = [Gathered("cond", each, args) for each in (on_true, on_false)]
    branches = [_branch(each, nodes, structure) for each in gathered]
    _check_alike("cond", "on_true", branches[0].traced, "on_false", branches[1].traced)
    balance = balanced(branches, [stand_in(node) for node in nodes])
    funcs, captures = _with_all_captures([each.traced for each in balance], len(nodes))
    operands = (condition, *nodes, *captures)
    types = tuple([value.type for value in funcs[0].results])
    parts = record_parts(ops.Cond, operands, (), funcs, types=types)
    result, left = balance[0].traced.rebuild([wrap(part) for part in parts])
    hand_on(balance[0].places, left)
    return result


def scan(
    body: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    inputs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Step through the leading axis of `inputs`: `carry, output = body(carry, input)` at each.

    Returns the last carry and the outputs, stacked along a new leading axis. `reverse` steps from
    the last to the first; `length` says how many steps where there are no inputs.
    """
    expect_functions("scan", body)
    return _scan("scan", body, carry, inputs, length, reverse)


def _scan(
    name: str, body: Callable[[Any, Any], Any], carry: Any, inputs: Any, length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The same for whoever calls it something else."""
    carries, carry_structure = flatten(carry)
    read, input_structure = flatten(inputs)
    carried, sliced = tensors_among(carries, name), tensors_among(read, name)
    trip = _trip(sliced, length)
    steps = [StandIn(node.type.with_shape(node.type.shape[1:]), node.device) for node in sliced]
    gathered = Gathered(name, body, (carry, inputs))

    def one(values: list[Any]) -> Any:
        given = carry_structure.build(values[1:split])
        made, left = gathered(given, input_structure.build(values[split:]))
        if not isinstance(made, tuple) or len(made) != 2:
            problem = f"the body returns a pair (carry, output), not {type(made).__name__}"
            fail(ArgumentError, name, problem)
        gathered.expect_kept(given, made[0], carry)
        after, output = as_tensors(made)
        _check_carry(name, flatten(after), carried, carry_structure)
        return (after, []), (output, left)

    split = 1 + len(carried)
    like = [StandIn(INDEX), *map(stand_in, carried), *steps]
    turn = Turn(trace(name, one, like, _count_steps), like, split)
    stacked = [has_part(inputs, place.owner) for place in gathered.places]
    if stacked:
        turn = keeping(turn, gathered.places, stacked, trip)
    (last, kept), (output, rows) = _looped(turn, carried, sliced, trip, reverse)
    gathered.hand_on(in_order(stacked, kept, rows))
    return last, output


def _looped(turn: Turn, carried: list[Node], sliced: list[Node], trip: Any, reverse: bool) -> Any:
    """What a loop of such turns returns."""
    traced, begun = turn.traced, [*carried, *turn.start]
    made = [value.type for value in traced.func.results]
    types = (*made[: len(begun)], *[_stacked(type_, trip) for type_ in made[len(begun) :]])
    attributes = (trip, reverse, (len(begun), len(sliced)))
    operands = (*begun, *sliced, *traced.captures)
    parts = record_parts(
        ops.Loop, operands, attributes, (traced.func,), len(traced.captures), types
    )
    return traced.rebuild([wrap(part) for part in parts])


def while_loop(
    condition: Callable[[Any], Any],
    body: Callable[[Any], Any],
    carry: Any,
    max_steps: int | None = None,
) -> Any:
    """`carry = body(carry)` as long as `condition(carry)` holds.

    With `max_steps` it stops after as many, and can be differentiated in reverse.
    """
    expect_functions("while_loop", condition, body)
    if max_steps is not None:
        return _bounded_while(condition, body, carry, max_steps)
    leaves, structure = flatten(carry)
    nodes = tensors_among(leaves, "while_loop")
    like = [stand_in(node) for node in nodes]
    asked = _asked(condition, carry)
    gathered = Gathered("while_loop", body, (carry,))

    def step(values: list[Any]) -> Any:
        given = structure.build(values)
        made, left = gathered(given)
        gathered.expect_kept(given, made, carry)
        made = as_tensors(made)
        _check_carry("while_loop", flatten(made), nodes, structure)
        return made, left, None

    traced = [
        trace("while_loop", lambda values: asked(structure.build(values)), like, count_turns),
        trace("while_loop", step, like, count_turns),
    ]
    _check_condition(traced[0])
    halves = [Turn(each, like, len(nodes)) for each in traced]
    turns = counted(halves[0], halves[1], gathered.places)
    begun = [*nodes, *turns[1].start]
    funcs, captures = _with_all_captures([each.traced for each in turns], len(begun))
    types = tuple([node.type for node in begun])
    parts = record_parts(
        ops.While, (*begun, *captures), (), funcs, captures=len(captures), types=types
    )
    last, left, _ = turns[1].traced.rebuild([wrap(part) for part in parts])
    gathered.hand_on(left)
    return last


def _asked(condition: Callable[..., Any], carry: Any) -> Callable[..., Any]:
    """The condition of a loop, which leaves nothing: it is asked once more than the body runs."""
    gathered = Gathered("while_loop", condition, (carry,))

    def asked(value: Any) -> Any:
        made, _ = gathered(value)
        gathered.expect_nothing("the condition of a `while_loop`")
        return as_tensors(made)

    return asked


def _bounded_while(
    condition: Callable[[Any], Any], body: Callable[[Any], Any], carry: Any, max_steps: int
) -> Any:
    """A scan whose steps do nothing once the condition has failed."""
    tensors_among(leaves_of(carry), "while_loop")
    asked = _asked(condition, carry)

    def keep(value: Any) -> Any:
        return value

    def step(value: Any, _: Any) -> tuple[Any, None]:
        return cond(asked(value), body, keep, value), None

    return scan(step, carry, length=max_steps)[0]


def fori_loop(start: Any, stop: Any, body: Callable[[Any, Any], Any], carry: Any) -> Any:
    """`carry = body(index, carry)` for each index from `start` to `stop` - 1.

    A tensor may say where it starts and stops inside `jit`; in a loop or in `vmap`, too, where it
    cannot be differentiated in reverse.
    """
    from .functions.creation import arange

    expect_functions("fori_loop", body)
    ends = _bound(start), _bound(stop)
    current = current_trace()
    if any([isinstance(each, Handle) for each in ends]) and current and current.bounds is None:
        return _counting(*ends, body, carry)
    return _scan(
        "fori_loop", lambda value, index: (body(index, value), None), carry, arange(*ends)
    )[0]


def _counting(start: Any, stop: Any, body: Callable[[Any, Any], Any], carry: Any) -> Any:
    """The same as a loop that looks in each turn whether it is the last one."""
    from .functions.creation import asarray

    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        return state[0] + 1, body(*state)

    begun = asarray(start, dtype="int64"), carry
    return while_loop(lambda state: state[0] < stop, step, begun)[1]


def _bound(value: Any) -> Any:
    """Where a loop starts or stops: an integer, a size that is not known yet, or one traced."""
    if isinstance(value := size_of(value), Dim):
        return value
    if isinstance(value, Handle) and value.node.trace is not None:
        return value
    if hasattr(value, "__index__"):
        return index(cast(Any, value))
    problem = f"a loop starts and stops at an integer, not at {type(value).__name__}"
    fail(ArgumentError, "fori_loop", problem, value)


def _branch(gathered: Gathered, nodes: list[Node], structure: Structure) -> Branch:
    like = [stand_in(node) for node in nodes]

    def run(values: list[Any]) -> Any:
        made, left = gathered(*structure.build(values))
        return as_tensors(made), left

    traced = trace("cond", run, like)
    return Branch(traced, gathered.places)


def _with_all_captures(
    traced: Sequence[Traced], count: int
) -> tuple[tuple[Any, ...], tuple[Node, ...]]:
    """The funcs taking the same captures in the same order, and these captures."""
    captures = tuple(dict.fromkeys([node for each in traced for node in each.captures]))
    return tuple([_recaptured(each, count, captures) for each in traced]), captures


def _recaptured(traced: Traced, count: int, captures: tuple[Node, ...]) -> Any:
    """The func with further arguments for captures that only its sibling has."""
    if traced.captures == captures:
        return traced.func
    from ..ir.builder import Builder
    from ..ir.func import Func, Return
    from ..passes.copying import inline

    own = list(traced.func.arguments)[:count]
    func = Func(traced.func.name, [*[each.type for each in own], *[each.type for each in captures]])
    places = [count + captures.index(node) for node in traced.captures]
    arguments = [*func.arguments[:count], *[func.arguments[place] for place in places]]
    builder = Builder(func.body)
    builder.emit_all(Return, inline(traced.func.body, arguments, builder))
    return func


def _check_alike(name: str, one: str, left: Traced, other: str, right: Traced) -> None:
    """Refuse branches whose results differ in structure, shape or dtype."""
    own, others = left.structure.children[0], right.structure.children[0]
    places = [[at for at in each.places if at < own.count] for each in (left, right)]
    if own is not others or places[0] != places[1]:
        problem = f"{one} returns {own}, {other} returns {others}"
        fail(ArgumentError, name, problem, hint="both must return the same kinds of containers")
    for at in [at for at in range(own.count) if at not in places[0]]:
        if exact(left.static[at]) != exact(right.static[at]):
            problem = (
                f"{one} returns {left.static[at]!r} where {other} returns {right.static[at]!r}"
            )
            fail(ArgumentError, name, problem, hint="only tensors and numbers may differ")
    for place, (a, b) in enumerate(zip(left.results, right.results, strict=False)):
        if place < len(places[0]) and a is not b:
            problem = f"result {place} of {one} is {a}, that of {other} is {b}"
            fail(ShapeError, name, problem, hint="both must return equal shapes and dtypes")


def _check_carry(
    name: str, made: tuple[list[Any], Structure], carried: Sequence[Node], structure: Structure
) -> None:
    """Refuse a body that gives back another kind of carry than it was given."""
    leaves, found = made
    if found is not structure:
        fail(ArgumentError, name, f"the carry comes in as {structure} and goes out as {found}")
    for value, node, path in zip(leaves, carried, paths_of(structure), strict=True):
        after = as_node(value, name)
        if after.type is not node.type:
            begun, ended = described(wrap(node)), described(wrap(after))
            fail(
                ShapeError, name,
                f"{f'carry {path}' if path else 'a carry'} comes in as {begun} and goes out as "
                f"{ended}",
                hint="a carry keeps its shape and dtype; start it with the dtype it ends with",
            )  # fmt: skip


def _check_condition(traced: Traced) -> None:
    found = [value.type for value in traced.func.results]
    if found != [TensorType((), ir.boolean)]:
        problem = (
            f"the condition returns one boolean, not {', '.join(map(str, found)) or 'nothing'}"
        )
        fail(DTypeError, "while_loop", problem)


def _trip(sliced: Sequence[Node], length: int | None) -> Any:
    """How many steps a scan takes."""
    sizes = {node.type.shape[0] if node.type.shape else None for node in sliced}
    if length is not None:
        sizes.add(as_size(length, "scan"))
    if len(sizes) > 1:
        sizes = {*looked_at(tuple(sizes))}
    if len(sizes) != 1 or None in sizes:
        problem = "the inputs need one leading axis of one size"
        fail(ShapeError, "scan", problem, *map(wrap, sliced), hint="or give `length=`")
    return sizes.pop()


def _count_steps(current: Trace, arguments: list[Node]) -> None:
    """Tell the trace of a loop's body which step it is, so that random numbers differ."""
    current.make_index = lambda: arguments[0]


def _stacked(type_: TensorType, trip: Any) -> TensorType:
    return TensorType((trip, *type_.shape), type_.dtype)
