"""Derivatives of functions: `grad` and its relatives, each a function of a function.

Comes in: a function of trees of tensors. Goes out: a function that gives derivatives, whose ops are
recorded like any others, so that it can be transformed again.
Never: a rule of an op; those stand with the ops, and `passes.differentiate` applies them.

A gradient with respect to complex numbers is that of PyTorch: the conjugate of the derivative, so
that going against it descends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from ..ir import dtypes as ir
from ..ir import tensor as ops
from ..passes.differentiate import Linearised, NotDifferentiable, linearise, transpose
from ..passes.differentiate import jvp as differentiate_forward
from ..passes.differentiate import vjp as differentiate_backward
from .errors import ArgumentError, ShapeError, expect_functions, fail, refuse_derivative
from .funcs import table_of_funcs
from .function import Traced, call
from .functions.common import as_node, filled
from .handle import Handle, wrap
from .node import Node, record
from .regions import Gathered
from .selection import Selection

Argnums = int | Sequence[int]
_DERIVED = table_of_funcs()


def grad(function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Any:
    """A function that gives the gradient of `function`, which returns one float, at its arguments.

    `argnums` says with respect to which positional arguments; with `has_aux` the function returns
    a pair of which only the first is differentiated, and the second is handed on.
    """
    expect_functions("grad", function)
    both = value_and_grad(function, argnums, has_aux)

    @wraps(function, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def value_and_grad(
    function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, updates: bool = False
) -> Any:
    """A function that gives both the value of `function` and its gradient.

    With `updates` it gives `(value, tree), gradient`, where the tree is the arguments that are
    differentiated, with what modules in them have left to be updated; what others have left is left
    outside. Else all that is dropped.
    """
    expect_functions("value_and_grad", function)
    if updates:
        return _with_updates(function, argnums, has_aux)

    @wraps(function, updated=())
    def both(*args: Any, **kwargs: Any) -> Any:
        chosen = Selection("grad", args, argnums)
        traced = chosen.trace("grad", function, kwargs)
        _check_scalar(traced, has_aux)
        count = len(traced.func.results)
        operands, flags = chosen.operands(traced)
        func = _derived("grad", differentiate_backward, traced.func, flags, (0,))
        made = call(func, [*operands, filled(1, (), traced.func.results[0].dtype)])
        return _rebuilt(traced, made[:count]), chosen.tree(conjugated(made[count:]))

    return both


def _with_updates(function: Callable[..., Any], argnums: Argnums, has_aux: bool) -> Any:
    """`value_and_grad` that also gives the arguments as they are to be."""

    @wraps(function, updated=())
    def both(*args: Any, **kwargs: Any) -> Any:
        gathered = Gathered("value_and_grad", function, args, kwargs, always=True)

        def whole(*args: Any, **kwargs: Any) -> Any:
            result, values = gathered(*args, **kwargs)
            loss, aux = result if has_aux else (result, None)
            return loss, (aux, values)

        made, gradient = value_and_grad(whole, argnums, has_aux=True)(*args, **kwargs)
        loss, (aux, values) = made
        tree = gathered.applied(Selection("grad", args, argnums).chosen, values)
        return ((loss, aux) if has_aux else loss, tree), gradient

    return both


def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `function`, and a function from cotangents of it to those of its arguments."""
    expect_functions("vjp", function)
    chosen = Selection("vjp", primals, None)
    traced, linear, residuals, outputs = _linearised(chosen, function)
    transposed = _derived("vjp", transpose, linear, len(residuals))

    def pull_back(cotangents: Any) -> Any:
        given = _given("vjp", cotangents, outputs)
        made = call(transposed, [*residuals, *conjugated(given)])
        return chosen.tree(conjugated(made))

    return _rebuilt(traced, outputs), pull_back


def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `function`, and how it changes with its arguments, as a linear function."""
    expect_functions("linearize", function)
    chosen = Selection("linearize", primals, None)
    traced, linear, residuals, outputs = _linearised(chosen, function, pushed=True)

    def push_forward(*tangents: Any) -> Any:
        made = call(linear, [*residuals, *chosen.given(tangents)])
        return _tangents(traced, made)

    return _rebuilt(traced, outputs), push_forward


def jvp(function: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The value of `function`, and how it changes when its arguments change by `tangents`."""
    expect_functions("jvp", function)
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            problem, hint = f"{name} are a tuple, one for each argument", "of one argument, `(x,)`"
            fail(ArgumentError, "jvp", problem, given, hint=hint)
    return pushing("jvp", function, primals)(tangents)


def pushing(
    name: str, function: Callable[..., Any], primals: Any
) -> Callable[..., tuple[Any, Any]]:
    """`jvp` as a function of the tangents, for all of which `function` runs once."""
    chosen = Selection(name, tuple(primals), None)
    traced = chosen.trace("jvp", function, {})
    operands, flags = chosen.operands(traced)
    func = _derived(name, differentiate_forward, traced.func, flags)
    count = len(traced.func.results)

    def push_forward(tangents: Any) -> tuple[Any, Any]:
        made = call(func, [*operands, *chosen.given(tuple(tangents))])
        return _rebuilt(traced, made[:count]), _tangents(traced, made[count:])

    return push_forward


def stop_gradient(tree: Any) -> Any:
    """The same values, through which no derivative flows."""
    from .tree import tree_map

    return tree_map(_stopped, tree)


def _stopped(value: Any) -> Any:
    if not isinstance(value, Handle) or value.node.type.dtype not in ir.INEXACT:
        return value
    node = record(ops.StopGradient, (value.node,))
    node.tracked = False
    return wrap(node)


def _linearised(chosen: Selection, function: Callable[..., Any], pushed: bool = False) -> Any:
    """What was traced, the linear function, its residuals, and the outputs."""
    traced = chosen.trace(chosen.name, function, {})
    operands, flags = chosen.operands(traced)
    linearised: Linearised = _derived(chosen.name, linearise, traced.func, flags, pushed)
    made = call(linearised.forward, operands)
    count = len(traced.func.results)
    return traced, linearised.linear, made[count:], made[:count]


def _derived(name: str, transform: Callable[..., Any], func: Any, *rest: Any) -> Any:
    """What a pass makes of a func, made once; `name` is the function that asks for it."""
    key = (transform, func, *rest)
    found = _DERIVED.get(key)
    if found is None:
        try:
            found = _DERIVED.put(key, transform(func, *rest))
        except NotDifferentiable as problem:
            refuse_derivative(name, problem)
    return found


def _rebuilt(traced: Traced, nodes: Sequence[Node]) -> Any:
    return traced.rebuild([wrap(node) for node in nodes])


def _tangents(traced: Traced, nodes: Sequence[Node]) -> Any:
    """A tree like the function's result, with None where a result has no tangent."""
    remaining = iter(nodes)
    inexact = [value.dtype in ir.INEXACT for value in traced.func.results]
    return traced.rebuild([wrap(next(remaining)) if each else None for each in inexact])


def _given(name: str, tree: Any, outputs: Sequence[Node]) -> list[Node]:
    """The cotangents of the inexact outputs, from a tree like the function's result."""
    from .tree import leaves_of

    leaves = leaves_of(tree)
    wanted = [node for node in outputs if node.type.dtype in ir.INEXACT]
    if len(leaves) == len(outputs):
        pairs = zip(outputs, leaves, strict=True)
        leaves = [leaf for node, leaf in pairs if node.type.dtype in ir.INEXACT]
    if len(leaves) != len(wanted):
        problem = f"{len(leaves)} cotangents were given for {len(wanted)} results"
        fail(ArgumentError, name, problem, hint="give a tree like the function's result")
    return [checked(name, leaf, node) for leaf, node in zip(leaves, wanted, strict=True)]


def checked(name: str, value: Any, like: Node) -> Node:
    """A tangent or cotangent, which has the type of what it belongs to."""
    node = as_node(value, name)
    if node.type is not like.type and not node.type.shape and not like.type.shape:
        from .functions.common import cast_node

        node = cast_node(node, like.type.dtype)
    if node.type is not like.type:
        problem = f"a (co)tangent is {node.type}, what it belongs to is {like.type}"
        fail(ShapeError, name, problem, hint="they have equal shapes and dtypes")
    return node


def conjugated(nodes: Sequence[Node]) -> list[Node]:
    """Complex ones conjugated, as PyTorch's convention wants."""
    return [
        record(ops.Conjugate, (node,)) if node.type.dtype in ir.COMPLEXES else node
        for node in nodes
    ]


def _check_scalar(traced: Traced, has_aux: bool) -> None:
    """Refuse a function whose first result is not one float."""
    results = traced.func.results
    if has_aux and len(traced.structure.children) != 2:
        fail(ArgumentError, "grad", "with has_aux the function returns a pair (loss, aux)")
    loss = traced.structure.children[0] if has_aux else traced.structure
    if loss.cls is not None or not results or 0 not in traced.places:
        kind = loss.cls and f"a {loss.cls.__name__} of {len(loss.children)}"
        problem = f"the function returns {kind or 'no tensor'}, expected one float tensor"
        fail(ArgumentError, "grad", problem, hint="use has_aux=True to return more than the loss")
    type_ = results[0].type
    if type_.shape or type_.dtype not in ir.FLOATS:
        fail(
            ShapeError, "grad", f"the function returns {type_}, expected one float",
            hint="reduce it with `.sum()` or `.mean()`, or use `bs.vjp` or `bs.jacrev`",
        )  # fmt: skip
