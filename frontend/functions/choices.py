"""Random choices: categories by their weights, elements of a tensor, orders.

Comes in: a key first (None takes the next of the default generator), and what is chosen from. Goes
out: a tensor, of places or of elements.
Never: a loop: categories are found by adding Gumbel noise, orders by sorting random words.
"""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Dim
from ..errors import ArgumentError, AxisError, DTypeError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record, record_parts
from .common import as_axis, as_node, as_shape, as_size, cast_node, either
from .creation import arange
from .draws import Draw, as_key, draw, words
from .elementwise import log
from .indexing import take, take_along_axis
from .manipulation import reshaped
from .reductions import argmax, sum
from .sampling import randint
from .sorting import topk

if TYPE_CHECKING:
    from ..tensor import Tensor


def categorical(
    key: Any = None, logits: Any = None, axis: Any = None, shape: Any = None, *, dim: Any = None
) -> Tensor:
    """Places along an axis of the logits, each as likely as softmax(logits) says.

    `shape` is that of the result: the logits' without the axis, and new axes in front.
    """
    axis = either(axis, dim, -1, "categorical", "axis, dim")
    if logits is None:
        fail(ArgumentError, "categorical", "there are no logits", hint="name them: `logits=x`")
    node = as_node(logits, "categorical")
    if node.type.dtype not in ir.FLOATS:
        fail(DTypeError, "categorical", "logits are floats", logits)
    own = node.type.shape
    place = as_axis(axis, len(own), "categorical")
    rest = own[:place] + own[place + 1 :]
    sizes = rest if shape is None else as_shape(shape, "categorical")
    if sizes[len(sizes) - len(rest) :] != rest:
        problem = f"the logits leave the shape {list(rest)}, with which {list(sizes)} does not end"
        fail(ShapeError, "categorical", problem, logits)
    place += len(sizes) - len(rest)
    whole = (*sizes[:place], own[place - len(sizes) + len(rest)], *sizes[place:])
    wanted = draw("categorical", key, whole, None, logits)
    return argmax(wanted.gumbel() + wanted.parameters[0], axis=place)


def permutation(
    key: Any = None, x: Any = None, axis: Any = None, *, independent: bool = False, dim: Any = None
) -> Tensor:
    """The slices of x along an axis in random order; of a number n, 0 to n - 1 in random order.

    With `independent`, each line along the axis has an order of its own.
    """
    place = either(axis, dim, 0, "permutation", "axis, dim")
    if isinstance(x, int | Dim):
        x = arange(as_size(x, "permutation"))
    node = as_node(x, "permutation")
    shape = node.type.shape
    if not shape:
        fail(AxisError, "permutation", "a tensor of rank 0 has no axis", x,
             hint="a number is given as Python's own")  # fmt: skip
    place = as_axis(place, len(shape), "permutation")
    own = as_key(key, "permutation")
    if independent:
        return take_along_axis(wrap(node), _order(own, shape, place), axis=place)
    return take(wrap(node), _order(own, (shape[place],), 0), axis=place)


def shuffle(key: Any = None, x: Any = None, axis: int = 0) -> Tensor:
    """The slices of x along an axis in random order: `permutation` by another name."""
    return permutation(key, x, axis)


def _order(key: Node, shape: Any, axis: int) -> Tensor:
    """Places in random order: those by which random words of 64 bits are sorted."""
    places = record(ops.Iota, (), (shape, axis, ir.i64))
    noise = words(key, shape, 64)
    return wrap(record_parts(ops.Sort, (noise, places), (axis, 1, False))[1])


def choice(
    key: Any = None,
    a: Any = None,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
) -> Tensor:
    """Slices of `a` along an axis (of a number n: of 0 to n - 1), chosen by the probabilities p.

    Without `replace` none is chosen twice.
    """
    options = (
        arange(as_size(a, "choice")) if isinstance(a, int | Dim) else wrap(as_node(a, "choice"))
    )
    if not options.ndim:
        fail(AxisError, "choice", "there is nothing to choose from", a)
    place = as_axis(axis, options.ndim, "choice")
    total, sizes = options.shape[place], as_shape(shape, "choice")
    wanted = product(sizes)
    if isinstance(total, int) and isinstance(wanted, int):
        _check_count(total, wanted, replace)
    weights = None if p is None else _log_weights(p, total)
    if replace and weights is None:
        places = randint(key, sizes, 0, total)
    elif replace:
        places = categorical(key, weights, shape=sizes)
    elif weights is None:
        places = _order(as_key(key, "choice"), (total,), 0)[:wanted]
    else:
        places = without_replacement(as_key(key, "choice"), weights, wanted)
    return take(options, wrap(reshaped(places.node, sizes)), axis=place)


def without_replacement(key: Node, logits: Tensor, count: Any) -> Tensor:
    """`count` different places along the last axis, drawn one by one by softmax(logits)."""
    noise = Draw(key, logits.node.type.shape, logits.node.type.dtype).gumbel()
    return topk(noise + logits, count).indices


def _check_count(total: int, wanted: int, replace: bool) -> None:
    """Refuse to choose more than there are."""
    if wanted and not total:
        fail(ArgumentError, "choice", "there is nothing to choose from")
    if not replace and wanted > total:
        problem = f"{wanted} of {total} cannot be chosen without one being chosen twice"
        fail(ArgumentError, "choice", problem, hint="give `replace=True`")


def _log_weights(p: Any, total: Any) -> Tensor:
    """The logarithms of the probabilities, in at least float32."""
    from .creation import asarray

    node = asarray(p).node
    if node.type.dtype not in ir.FLOATS or node.type.shape != (total,):
        fail(ShapeError, "choice", f"p is a vector of {total} floats", p)
    wide = wrap(cast_node(node, node.type.dtype.accumulator))
    return log(wide) - log(sum(wide))
