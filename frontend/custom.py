"""Functions whose derivatives are computed otherwise: recomputed, or given by the user.

Comes in: a function of trees of tensors. Goes out: a function with the same values.
Never: a change to the values.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import update_wrapper, wraps
from typing import Any

from ..ir import dtypes as ir
from ..ir import tensor as ops
from .elsewhere import OF_CUSTOM_VJP, tell
from .errors import ArgumentError, ShapeError, expect_functions, fail
from .function import StandIn, Traced, stand_in, trace
from .functions.common import as_node, filled
from .handle import Handle, wrap
from .node import Node, record_parts
from .regions import Gathered, on_tensors
from .tree import leaves_of


def checkpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that keeps only its arguments for its derivative, and then runs once more."""
    expect_functions("checkpoint", function)

    @wraps(function, updated=())
    def rematerialised(*args: Any, **kwargs: Any) -> Any:
        gathered = Gathered("checkpoint", function, args, kwargs)
        nodes, run = on_tensors(gathered, args, kwargs)
        traced = trace("checkpoint", run, [stand_in(node) for node in nodes])
        operands = (*nodes, *traced.captures)
        result, values = _recorded(ops.Checkpoint, operands, (traced.func,), traced, (False,))
        gathered.hand_on(values)
        return result

    return rematerialised


_WITHIN: ContextVar[tuple[Any, ...]] = ContextVar("custom_vjp", default=())
"""The functions whose derivatives are being traced."""


class custom_vjp:
    """A function of tensors whose derivative the user gives.

    `f.define(forward, backward)`: `forward` takes what the function takes and returns its result
    and a tree of what `backward(residuals, cotangent)` needs; `backward` returns a tuple with a
    cotangent for each argument, or None. Inside of both the function is what it was before: what
    it says of its derivative is not asked for again.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        expect_functions("custom_vjp", function)
        update_wrapper(self, function)
        self.function = function
        self.forward: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None

    def define(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> custom_vjp:
        """Say how the derivative is computed."""
        expect_functions("custom_vjp", forward, backward)
        self.forward, self.backward = forward, backward
        return self

    def __call__(self, *args: Any) -> Any:
        if self.forward is None or self.backward is None:
            fail(ArgumentError, "custom_vjp", "the function has no derivative yet",
                 hint="give it one with `f.define(forward, backward)`")  # fmt: skip
        if self in _WITHIN.get():
            return self.function(*args)
        token = _WITHIN.set((*_WITHIN.get(), self))
        try:
            return self._call(args)
        finally:
            _WITHIN.reset(token)

    def _call(self, args: tuple[Any, ...]) -> Any:
        nodes, run = on_tensors(self.function, args, {})
        like = [stand_in(node) for node in nodes]
        primal = trace("custom_vjp", run, like)
        assert self.forward is not None
        forward = trace("custom_vjp", on_tensors(self.forward, args, {})[1], like)
        backward = self._backward(forward, args, nodes)
        everything = [primal, forward, backward]
        captures = tuple(dict.fromkeys([node for each in everything for node in each.captures]))
        if captures:
            fail(ArgumentError, "custom_vjp", "the function reads tensors from outside",
                 *[wrap(node) for node in captures[:3]],
                 hint="take them as arguments, so that they have derivatives")  # fmt: skip
        _check_forward(primal, forward)
        funcs = tuple([each.func for each in everything])
        return _recorded(ops.CustomVjp, tuple(nodes), funcs, primal)

    def _backward(self, forward: Traced, args: tuple[Any, ...], nodes: list[Node]) -> Traced:
        """The function from residuals and cotangents to cotangents of the arguments."""
        assert self.backward is not None
        structure = forward.structure.children
        if forward.structure.cls is not tuple or len(structure) != 2:
            problem = "forward returns a pair (result, residuals)"
            fail(ArgumentError, "custom_vjp", problem)
        results = forward.func.results
        outputs = sum(1 for place in forward.places if place < structure[0].count)
        inexact = [value.type for value in results[:outputs] if value.dtype in ir.INEXACT]
        kept = [value.type for value in results[outputs:]]

        def run(values: list[Any]) -> Any:
            residuals, cotangents = values[: len(kept)], iter(values[len(kept) :])
            given = [next(cotangents) if v.dtype in ir.INEXACT else None for v in results[:outputs]]
            result, rest = forward.rebuild([*given, *residuals])
            made = self.backward(rest, result)  # pyright: ignore[reportOptionalCall]
            return [wrap(node) for node in _cotangents(made, args, nodes)]

        return trace("custom_vjp", run, [StandIn(type_) for type_ in (*kept, *inexact)])


tell(custom_vjp, OF_CUSTOM_VJP)


def _cotangents(made: Any, args: tuple[Any, ...], nodes: list[Node]) -> list[Node]:
    """The cotangents that a user's backward gave: one for each inexact tensor, zeros for None."""
    listed = made if isinstance(made, tuple | list) else (made,)
    if len(listed) != len(args):
        problem = f"backward returned {len(listed)} cotangents for {len(args)} arguments"
        fail(ArgumentError, "custom_vjp", problem)
    given: list[Any] = []
    for cotangent, arg in zip(listed, args, strict=True):
        handles = [leaf for leaf in leaves_of(arg) if isinstance(leaf, Handle)]
        given += [None] * len(handles) if cotangent is None else leaves_of(cotangent)
    found: list[Node] = []
    for value, node in zip(given, nodes, strict=True):
        if node.type.dtype not in ir.INEXACT:
            continue
        cotangent = (
            filled(0, node.type.shape, node.type.dtype)
            if value is None
            else as_node(value, "custom_vjp")
        )
        if cotangent.type is not node.type:
            problem = f"backward gave {cotangent.type} for an argument of {node.type}"
            fail(ShapeError, "custom_vjp", problem)
        found.append(cotangent)
    return found


def _check_forward(primal: Traced, forward: Traced) -> None:
    own = [value.type for value in primal.func.results]
    theirs = [value.type for value in forward.func.results][: len(own)]
    if own != theirs or forward.structure.children[0] is not primal.structure:
        problem = "forward gives another result than the function itself"
        fail(ShapeError, "custom_vjp", problem, hint="its pair begins with the same result")


def _recorded(
    op: Any, operands: tuple[Node, ...], funcs: tuple[Any, ...], traced: Traced,
    attributes: tuple[Any, ...] = (),
) -> Any:  # fmt: skip
    """The results of an op with regions, in the containers of what it stands for."""
    types = tuple([value.type for value in traced.func.results])
    parts = record_parts(op, operands, attributes, funcs, types=types)
    return traced.rebuild([wrap(part) for part in parts])
