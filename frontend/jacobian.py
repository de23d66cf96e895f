"""Whole matrices of derivatives: of functions with many results, and of gradients.

Comes in: a function of tensors. Goes out: a function that gives derivatives of each element of its
result with respect to each element of its argument.
Never: a loop over elements: one derivative is batched.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import prod as product
from typing import Any, cast

from .errors import ArgumentError, expect_functions, fail, shown
from .functions.common import as_node, as_shape
from .functions.manipulation import moveaxis, reshaped
from .functions.triangles import eye
from .grad import pushing, vjp
from .handle import Handle, wrap
from .tree import tree_map
from .vmap import vmap


def jacrev(function: Callable[..., Any], argnums: int = 0) -> Any:
    """The Jacobian of `function`, a row for each element of its result, by going backward."""
    expect_functions("jacrev", function)

    @wraps(function, updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        inner, point = _of_one(function, args, kwargs, argnums)
        result, pull_back = vjp(inner, point)
        _check_tensor("jacrev", result)
        basis = _basis(result)
        rows = vmap(lambda seed: pull_back(seed)[0])(basis)
        shape = result.shape
        return tree_map(lambda each: _reshaped(each, (*shape, *each.shape[1:])), rows)

    return jacobian


def jacfwd(function: Callable[..., Any], argnums: int = 0) -> Any:
    """The Jacobian of `function`, a column for each element of its argument, by going forward."""
    expect_functions("jacfwd", function)

    @wraps(function, updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        inner, point = _of_one(function, args, kwargs, argnums)
        point = wrap(as_node(point, "jacfwd"))
        # The function runs outside of the batch, so that all columns are of the same noise.
        push_forward = pushing("jacfwd", inner, (point,))
        columns = vmap(lambda seed: push_forward((seed,))[1])(_basis(point))
        shape = point.shape
        return tree_map(lambda each: _columns(each, shape), columns)

    return jacobian


def hessian(function: Callable[..., Any], argnums: int = 0) -> Any:
    """The second derivatives of a function that returns one float: forward over reverse."""
    expect_functions("hessian", function)
    return jacfwd(jacrev(function, argnums), argnums)


def _of_one(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: int
) -> tuple[Callable[[Any], Any], Any]:
    """The function of one argument alone, and that argument."""
    if not isinstance(argnums, int):
        problem = f"`argnums` is the number of one argument, not {shown(argnums)}"
        fail(ArgumentError, "jacobian", problem)
    if not -len(args) <= argnums < len(args):
        problem = f"argument {argnums} is named, and {len(args)} are given"
        fail(ArgumentError, "jacobian", problem)
    place = argnums % len(args)

    def inner(value: Any) -> Any:
        return function(*args[:place], value, *args[place + 1 :], **kwargs)

    return inner, args[place]


def _check_tensor(name: str, result: Any) -> None:
    if not isinstance(result, Handle):
        problem = f"the function returns {type(result).__name__}, expected one tensor"
        fail(ArgumentError, name, problem)


def _basis(tensor: Any) -> Any:
    """A tensor for each element of one like this, with a 1 there."""
    count = product(tensor.shape)
    line = eye(cast(Any, count), dtype=tensor.dtype)
    return _reshaped(line, (count, *tensor.shape))


def _reshaped(tensor: Any, shape: tuple[Any, ...]) -> Any:
    return wrap(reshaped(tensor.node, as_shape(shape, "jacobian")))


def _columns(tensor: Any, shape: tuple[Any, ...]) -> Any:
    """The first axis, which counts the elements of an argument, as that argument's axes, last."""
    last = moveaxis(tensor, 0, -1)
    return _reshaped(last, (*last.shape[:-1], *shape))
