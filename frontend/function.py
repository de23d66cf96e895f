"""A Python function of tensors as a func of the tensor floor, and such a func called on tensors.

Comes in: a function, and tensors like those it will get. Goes out: a `Traced`: the func, the
tensors that the function read from outside, and how its results are put together.
Never: a transformation; those work on the func.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..ir.dims import Symbol, substitute
from ..ir.func import Func
from ..ir.tensor import Constant
from ..ir.types import Tensor as TensorType
from ..runtime.device import Device
from .bounds import declare, with_counts
from .dynamic import plain
from .errors import ArgumentError, fail
from .foreign import is_array
from .functions.common import NUMBER_TYPES, as_node
from .handle import Handle, wrap
from .narrow import Narrow
from .node import Called, Leaf, Node, number_type, record_parts
from .recording import Recording, func_of_lines, gather, gathering
from .sizes import whole
from .stages import Stages, split
from .symbolic import resized
from .trace import Drawer, Trace
from .tree import Structure, flatten


@dataclass(frozen=True, slots=True)
class Traced:
    """What tracing a function gave.

    The func takes the traced arguments, then hidden ones that random numbers are made of, one for
    each of `drawers`, then `captures`. `places` says which leaves of the result are its outputs;
    the others are `static`. `narrow` are arguments that must be values of a dtype.
    """

    func: Func
    captures: tuple[Node, ...]
    structure: Structure
    places: tuple[int, ...]
    static: tuple[Any, ...]
    stages: Stages | None = None
    drawers: tuple[Drawer, ...] = ()
    narrow: tuple[Narrow, ...] = ()

    @property
    def results(self) -> tuple[Any, ...]:
        """The types of the outputs."""
        return tuple([value.type for value in self.func.results[: len(self.places)]])

    def at(self, sizes: Mapping[Symbol, int]) -> Traced:
        """The same, where open sizes are these."""
        if not sizes:
            return self
        return replace(self, func=resized(self.func, lambda size: substitute(size, sizes)))

    def rebuild(self, outputs: Sequence[Any], sizes: Mapping[str, int] | None = None) -> Any:
        """The result of the function, where its tensors and its open sizes are these."""
        leaves = [plain(value, sizes) for value in self.static] if sizes else list(self.static)
        for place, output in zip(self.places, outputs, strict=True):
            leaves[place] = output
        return self.structure.build(leaves)


class StandIn(NamedTuple):
    """What is known of an argument while a function is traced.

    `number` is the type of Python number that it stands for, if it does: it promotes like one.
    """

    type: TensorType
    device: Device | None = None
    number: type | None = None


def stand_in(node: Node) -> StandIn:
    """A stand-in for a node."""
    return StandIn(node.type, node.device, number_type(node))


def of_leaves(
    function: Callable[..., Any], leaves: Sequence[Any], structure: Structure, places: Sequence[int]
) -> Callable[[Sequence[Any]], Any]:
    """A function of `(args, kwargs)`, taken apart, as one of the leaves at some places alone."""

    def run(values: Sequence[Any]) -> Any:
        inner = list(leaves)
        for place, value in zip(places, values, strict=True):
            inner[place] = value
        args, kwargs = structure.build(inner)
        return function(*args, **kwargs)

    return run


def trace(
    kind: str,
    function: Callable[[list[Any]], Any],
    like: Sequence[StandIn],
    prepare: Callable[[Trace, list[Node]], None] | None = None,
) -> Traced:
    """Trace `function` of a list of tensors, one for each stand-in.

    `prepare` is told of the trace and its arguments before the function runs.
    """
    current = Trace(kind)

    def run() -> Traced:
        arguments = [current.add_argument(*each) for each in like]
        if prepare is not None:
            prepare(current, arguments)
        return _traced(current, function([wrap(argument) for argument in arguments]))

    made = current.around(run)
    return replace(made, drawers=tuple(current.drawers), narrow=tuple(current.narrow))


def _traced(current: Trace, result: Any) -> Traced:
    """What a function is that has just returned a result."""
    leaves, structure = flatten(result)
    if current.unseen is not None and current.depth == 1:
        current.unseen.look_at_what_is_kept()
    places = [at for at, value in enumerate(leaves) if isinstance(value, Handle)]
    _expect_trees(current.kind, leaves)
    static = [None if isinstance(value, Handle) else whole(value) for value in leaves]
    outputs = [leaves[at].node for at in places]
    check_alive(outputs)
    func, captures, stages = _finish(current, outputs, static)
    return Traced(func, captures, structure, tuple(places), tuple(static), stages)


def _expect_trees(kind: str, leaves: Sequence[Any]) -> None:
    """Refuse what holds tensors where nobody finds them: they would be of an ended trace."""
    for each in leaves:
        members = each if isinstance(each, set | frozenset) else ()
        if isinstance(each, Iterator) or any([isinstance(member, Handle) for member in members]):
            problem = f"the function returns a {type(each).__name__}, whose tensors nobody finds"
            fail(ArgumentError, kind, problem, hint="return a list, a tuple or a dict of them")


def _finish(
    current: Trace, outputs: Sequence[Node], static: Sequence[Any]
) -> tuple[Func, tuple[Node, ...], Stages | None]:
    """The func of what has been traced, what it reads from outside, and its stages."""

    def comes_from_outside(node: Node) -> bool:
        return node.cls is Leaf or (node.serial < current.serial and node.cls is not Constant)

    def gathered(*counts: Node) -> Recording:
        return gather([*outputs, *counts], current.arguments, comes_from_outside)

    stages = None
    with gathering():
        recording, counts = with_counts(current, gathered, static)
        func = func_of_lines(recording)
        if current.bounds is not None and (counts or current.bounds.taken):
            declare(func)
        if counts:
            stages = split(recording, outputs, counts)
    return func, tuple(recording.inputs[len(current.arguments) :]), stages


def call(func: Func, operands: Sequence[Node]) -> list[Node]:
    """The results of a func on nodes, recorded as one operation."""
    types = tuple([value.type for value in func.results])
    return record_parts(Called, tuple(operands), (func,), types=types)


def check_alive(nodes: Sequence[Node]) -> None:
    """Refuse tensors of transformations that have ended."""
    for node in nodes:
        if node.trace is not None and node.trace.ended:
            node.trace.refuse()


def as_tensors(tree: Any) -> Any:
    """A tree whose numbers and arrays are tensors: what a region yields is computed by it."""
    leaves, structure = flatten(tree)
    if all([isinstance(leaf, Handle) for leaf in leaves]):
        return tree
    return structure.build([_as_tensor(leaf) for leaf in leaves])


def _as_tensor(leaf: Any) -> Any:
    is_number = leaf.__class__ in NUMBER_TYPES or is_array(leaf)
    return wrap(as_node(leaf, "asarray")) if is_number else leaf


def tensors_among(values: Sequence[Any], name: str) -> list[Node]:
    """The nodes of leaves that must be tensors, or become such."""
    return [as_node(value, name) for value in values]
