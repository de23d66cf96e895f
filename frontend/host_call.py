"""Functions of Python on numpy arrays, called in the middle of what is computed.

Comes in: a function, what its results are like, and tensors. Goes out: the results, as tensors; a
call records one operation, which knows the function by a name.
Never: a call while something is recorded or traced.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ..ir import tensor as ops
from ..ir.types import Tensor as TensorType
from ..runtime.kept import functions, identity_of, name_of
from .dtypes import DType, as_dtype
from .errors import ArgumentError, expect_functions, fail
from .functions.common import as_node, as_shape
from .handle import wrap
from .node import record_parts
from .sizes import visible
from .tree import LEAF, Structure, flatten
from .unseen import current_unseen


class ShapeDtype:
    """A shape and a dtype, where a tensor is described that is not there yet."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.shape = visible(as_shape(shape, "ShapeDtype"), current_unseen())
        self.dtype: DType = as_dtype(dtype)

    def __repr__(self) -> str:
        return f"ShapeDtype({self.shape}, {self.dtype})"


def host_call(function: Callable[..., Any], like: Any, *tensors: Any) -> Any:
    """The results of `function`, which is called with read-only numpy arrays when they are needed.

    `like` says what it returns: anything with a shape and a dtype, or a tree of such; a function
    that returns something else fails. It should do nothing but compute its results: it may be
    called more often than once, and is not called where nobody reads them.
    """
    expect_functions("host_call", function)
    leaves, structure = flatten(like)
    types = tuple([_type_of(leaf) for leaf in leaves])
    if not types:
        problem = "the function is to return nothing"
        fail(ArgumentError, "host_call", problem, like, hint="what nobody reads is not computed")
    nodes = tuple([as_node(each, "host_call") for each in tensors])
    attributes = (_named(function, structure),)
    parts = record_parts(ops.HostCall, nodes, attributes, types=types)
    return structure.build([wrap(part) for part in parts])


class _Leaves:
    """A function that returns a tree, as one that returns a tuple of its leaves."""

    def __init__(self, function: Callable[..., Any], structure: Structure) -> None:
        update_wrapper(self, function, updated=())
        self.function, self.structure = function, structure

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        leaves, structure = flatten(self.function(*arrays))
        if structure is not self.structure:
            raise TypeError(f"the result is to be like {self.structure}, and not {structure}")
        return tuple(leaves)


def _named(function: Callable[..., Any], structure: Structure) -> str:
    """The name of a function of arrays that returns an array, or a tuple of them."""
    flat = structure.cls is tuple and all([child is LEAF for child in structure.children])
    if structure is LEAF or flat:
        return name_of(function)
    return functions.keep(_Leaves(function, structure), (identity_of(function), structure))


def _type_of(like: Any) -> TensorType:
    """The type of tensors of the same shape and dtype."""
    shape, dtype = getattr(like, "shape", None), getattr(like, "dtype", None)
    if shape is None or dtype is None:
        problem = "results are described by what has a shape and a dtype"
        hint = "give a tensor, an array or `bs.ShapeDtype(shape, dtype)`, or a tree of them"
        fail(ArgumentError, "host_call", problem, like, hint=hint)
    return TensorType(as_shape(shape, "host_call"), as_dtype(dtype).ir)
