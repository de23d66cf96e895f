"""Functions being traced: Python code run once on stand-ins, to learn the ops it is made of.

Comes in: a function of tensors and the types of its arguments. Goes out: the recording of what it
returned, with the tensors that it read from outside as further arguments.
Never: the value of a stand-in; whoever asks for one is told how to do without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ..ir.locations import Location
from ..ir.tensor import Reshape
from ..ir.types import Tensor as TensorType
from .caller import user_line
from .errors import DeadTensorError, TracedValueError, fail
from .node import Node, argument, next_serial, record

if TYPE_CHECKING:
    from .bounds import Bounds
    from .narrow import Narrow
    from .unseen import Unseen


Made = TypeVar("Made")
Drawer = str | None
"""Who draws random numbers: the name of a part, None for who asks the default generator."""


class Trace:
    """One function being traced: how deep, and since when.

    `hidden_key` makes the argument that is the key of its random numbers, if the function has one
    of its own, and `hidden_number` one that is the number of a draw, by the name of who draws;
    `drawers` are these, in the order of the arguments, None for the key. `make_index` makes what
    counts the times that its ops run for one run of the function around it; `axis_name` is what a
    `vmap` calls its axis; `bounds` are the sizes that its data decide, where it may have such;
    `unseen` those at which nobody has looked, here or in the functions around it; `narrow` says
    what arguments that are integers must be values of.
    """

    __slots__ = (
        "arguments", "axis_name", "bounds", "depth", "drawers", "draws", "ended", "hidden_key",
        "hidden_number", "kind", "location", "make_index", "narrow", "outer", "serial", "unseen",
    )  # fmt: skip

    def __init__(self, kind: str) -> None:
        self.kind, self.outer = kind, _CURRENT.trace
        outer = self.outer
        self.depth = 1 if outer is None else outer.depth + 1
        self.serial = next_serial()
        self.ended = False
        self.location: Location = user_line()
        self.arguments: list[Node] = []
        self.hidden_key: Callable[[], Node] | None = None
        self.hidden_number: Callable[[str], Node] | None = None
        self.drawers: list[Drawer] = []
        self.narrow: dict[Narrow, None] = {}
        self.make_index: Callable[[], Node] | None = None
        self.axis_name: str | None = None
        self.bounds: Bounds | None = None
        self.unseen: Unseen | None = None if outer is None else outer.unseen
        self.draws = 0

    def around(self, work: Callable[[], Made]) -> Made:
        """What is made while this is traced. (No context, whose end is a call: an interrupt right
        before it would leave the thread tracing.)"""
        try:
            _CURRENT.trace = self
            return work()
        finally:
            _CURRENT.trace, self.ended = self.outer, True

    def add_argument(
        self, type_: TensorType, device: Any = None, number: type | None = None
    ) -> Node:
        """One argument more."""
        node = argument(len(self.arguments), type_, self, device, number)
        self.arguments.append(node)
        if self.unseen is not None:
            self.unseen.nodes.append(node)
        return node

    def refuse(self) -> NoReturn:
        """Complain that a tensor outlived the trace that made it."""
        fail(
            DeadTensorError,
            self.kind,
            f"a tensor made inside the {self.kind} at {self.location} is used after it has ended",
            hint="return it from the function instead of keeping it in a variable outside",
        )


class _Current(local):
    trace: Trace | None = None


_CURRENT = _Current()


def current_trace() -> Trace | None:
    """The innermost function that this thread is tracing."""
    return _CURRENT.trace


@contextmanager
def untraced() -> Iterator[None]:
    """While steps run: what they call computes with values, whatever this thread is tracing."""
    trace, _CURRENT.trace = _CURRENT.trace, None
    try:
        yield
    finally:
        _CURRENT.trace = trace


def refuse_outside(before: Node, after: Node) -> None:
    """Complain that the place of a tensor is taken by what a function being traced makes of it,
    where the tensor is from before that function."""
    trace = after.trace
    if trace is None or before.trace is trace or before.serial > trace.serial:
        return
    fail(
        TracedValueError,
        "index",
        f"a tensor from outside of `{trace.kind}` (traced at {trace.location}) would be changed "
        "while it is traced",
        hint="return `x.at[place].set(value)` from the function, or copy the tensor inside of it",
    )


def apart(node: Node) -> Node:
    """What a copy of a tensor holds: in a function being traced a node that is made there, so that
    the copy may be changed."""
    trace = current_trace()
    if trace is None or node.serial > trace.serial:
        return node
    return record(Reshape, (node,), (node.type.shape,))


def refuse_value(node: Node, asked: str) -> None:
    """Complain that Python asks for a value that a traced tensor does not have yet."""
    trace = node.trace
    assert trace is not None
    if trace.ended:
        trace.refuse()
    fail(
        TracedValueError,
        asked,
        f"the value of a traced tensor is needed inside `{trace.kind}` (traced at "
        f"{trace.location}); the tensor was made at {node.location or 'its arguments'}",
        hint=_HINTS.get(asked, _HINT),
    )


_HINT = "return the tensor from the function and read it outside, or mark the argument as static"
_HINTS = {
    "bool": "choose between tensors with `bs.where(condition, x, y)`, between computations with "
    "`bs.cond(condition, on_true, on_false, *tensors)`; repeat with `bs.scan(body, carry, inputs)` "
    "or `bs.while_loop(condition, body, carry)`; for asserts, return the condition"
}
