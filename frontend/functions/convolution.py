"""Convolution as neural networks use it, and its transpose.

Comes in: images [N, C, space…] and weights, with any number of axes of space. Goes out: images
[N, O, space…]: sums of products in at least float32, to which the bias is added, rounded once.
Never: weights that are turned round, as for signals; only the transpose turns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Size, ceil_div, maximum
from ...ir.tensor.windows import spread
from ..errors import ArgumentError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record
from ..unseen import differ, looked_at
from .common import as_integer, cast_node, refuse_dtype, to_common_dtype
from .manipulation import part, permuted, reshaped
from .space import Borders, Numbers, Sizes, around, axes_of_space, each_axis, pairs, refuse_no_place

if TYPE_CHECKING:
    from ..tensor import Tensor


def convolve(
    x: Any, weight: Any, /, bias: Any = None, *, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Sums of products of the weight with each window of x, plus the bias of each output.

    x is [N, C, space…], the weight [O, C / groups, space…], the bias [O], and the result
    [N, O, space…]. Windows begin `stride` apart, and their elements are `dilation` apart: one
    number, or one for each axis of space. `padding` is "valid" for none, "same" for as many zeros
    around x as keep its size, a number, or a number or a pair (before, behind) for each axis.
    Each of `groups` of outputs sees a group of channels of its own.
    """
    name = "convolve"
    nodes = _operands(name, x, weight, bias)
    count = as_integer(groups, name, "`groups`")
    (_, channels, *_), (outputs, inputs, *window) = [node.type.shape for node in nodes[:2]]
    _check_groups(name, count, outputs, "outputs", x, weight)
    if channels != inputs * count:
        problem = f"x has {channels} channels, and the weight takes {inputs} in each of {count}"
        hint = "the weight is [outputs, channels / groups, space…]"
        fail(ShapeError, name, f"{problem} groups", x, weight, hint=hint)
    strides, apart = _steps(name, len(window), stride, dilation)
    spans = tuple(map(spread, window, apart))
    padded = around(name, padding, spans, strides)
    refuse_no_place(name, "weight", nodes[0].type.shape[2:], spans, padded, x, weight)
    return wrap(_biased(name, nodes, outputs, (strides, *padded, _ones(window), apart, count)))


def convolve_transposed(
    x: Any, weight: Any, /, bias: Any = None, *, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Each element of x times the weight, added up where these overlap, plus the bias.

    x is [N, C, space…], the weight [C, O / groups, space…], the bias [O], and the result
    [N, O, space…], of which a `convolve` with the same weight, `stride`, `dilation` and `groups`
    makes the shape of x: it is the gradient of that. So `padding`, a number, or a number or a pair
    for each axis, is taken away from the result, and `output_padding` is how much larger it is
    behind each axis, as several sizes give the same x when windows are apart.
    """
    name = "convolve_transposed"
    nodes = _operands(name, x, weight, bias)
    count = as_integer(groups, name, "`groups`")
    (_, channels, *_), (inputs, outputs, *window) = [node.type.shape for node in nodes[:2]]
    _check_groups(name, count, channels, "channels", x, weight)
    if channels != inputs:
        problem = f"x has {channels} channels, and the weight takes {inputs}"
        hint = "the weight is [channels, outputs / groups, space…]"
        fail(ShapeError, name, problem, x, weight, hint=hint)
    strides, apart = _steps(name, len(window), stride, dilation)
    more = each_axis(name, "output_padding", output_padding, len(window), least=0)
    _check_more(name, more, strides, apart)
    spans = tuple(map(spread, window, apart))
    margins = _margins(spans, pairs(name, padding, len(window)), more)
    _check_result(name, nodes[0].type.shape[2:], strides, spans, margins, x, weight)
    nodes[1] = _turned(nodes[1], count)
    added = tuple([tuple([maximum(size, 0) for size in side]) for side in margins])
    settings = (_ones(window), *added, strides, apart, count)
    return wrap(_inside(_biased(name, nodes, outputs * count, settings), margins))


def _operands(name: str, x: Any, weight: Any, bias: Any) -> list[Node]:
    """x, the weight, and the bias if there is one, in one dtype."""
    given = (x, weight) if bias is None else (x, weight, bias)
    nodes = to_common_dtype(name, *given)
    if nodes[0].type.dtype not in ir.NUMBERS:
        refuse_dtype(name, nodes[0].type.dtype, ir.NUMBERS, *given)
    ranks = [len(node.type.shape) for node in nodes[:2]]
    hint = "two axes stand before those of space; `x[None]` is a batch of one image"
    if min(ranks) < 3:
        problem = "takes images [N, C, space…], and a weight with as many axes"
        fail(ShapeError, name, problem, x, weight, hint=hint)
    if ranks[0] != ranks[1]:
        problem = f"x has {axes_of_space(ranks[0] - 2)}, and the weight has {ranks[1] - 2}"
        fail(ShapeError, name, problem, x, weight, hint=hint)
    return nodes


def _check_groups(name: str, groups: int, channels: Size, what: str, *given: Any) -> None:
    """Refuse groups that are not equally many of the channels."""
    if groups < 1:
        fail(ArgumentError, name, f"`groups` is at least 1, but {groups} was given")
    channels = looked_at(channels)
    if isinstance(channels, int) and channels % groups:
        problem = f"{channels} {what} do not split into {groups} groups"
        fail(ShapeError, name, problem, *given, hint=f"`groups` divides {channels}")


def _check_more(name: str, more: Numbers, strides: Numbers, apart: Numbers) -> None:
    """Refuse more elements behind the result than strides, or dilation, leave open."""
    for each, stride, by in zip(more, strides, apart, strict=True):
        if each >= max(stride, by):
            problem = f"`output_padding` is {each}, with stride {stride} and dilation {by}"
            hint = "it is less than one of them; `bs.pad` adds zeros to a result"
            fail(ArgumentError, name, problem, hint=hint)


def _margins(spans: Sizes, taken: tuple[Numbers, Numbers], more: Numbers) -> Borders:
    """What the image gets before and behind each axis, so that windows of these spans begin and
    end where the result does; less than nothing where more than a window is taken away."""
    before = zip(spans, taken[0], strict=True)
    behind = zip(spans, taken[1], more, strict=True)
    return (
        tuple([span - 1 - low for span, low in before]),
        tuple([span - 1 - high + by for span, high, by in behind]),
    )


def _check_result(
    name: str, sizes: Sizes, strides: Numbers, spans: Sizes, margins: Borders, *given: Any
) -> None:
    """Refuse images without elements, and padding that takes away all of the result."""
    known = looked_at((tuple(sizes), tuple(spans), *margins))
    axes = zip(strides, *known, strict=True)
    for axis, (stride, size, span, low, high) in enumerate(axes, 2):
        if isinstance(size, int) and size < 1:
            fail(ShapeError, name, f"axis {axis} of x has no elements", *given)
        left = (size - 1) * stride + low + high - span + 2
        if isinstance(left, int) and left < 1:
            problem = f"padding leaves {left} elements of axis {axis} of the result"
            fail(ShapeError, name, problem, *given, hint="take away less with `padding`")


def _steps(name: str, count: int, stride: Any, dilation: Any) -> tuple[Numbers, Numbers]:
    """How far apart windows begin, and their elements are."""
    return each_axis(name, "stride", stride, count), each_axis(name, "dilation", dilation, count)


def _biased(name: str, nodes: list[Node], outputs: Size, settings: tuple[Any, ...]) -> Node:
    """The convolution with these settings, plus the bias if there is one, rounded once."""
    x, weight, *bias = nodes
    dtype = x.type.dtype
    if not bias:
        return record(ops.Convolve, (x, weight), (*settings, dtype))
    if differ(bias[0].type.shape, (outputs,)):
        problem = f"a bias has one number for each of {outputs} outputs"
        fail(ShapeError, name, problem, *map(wrap, nodes))
    made = record(ops.Convolve, (x, weight), (*settings, dtype.accumulator))
    wide = cast_node(bias[0], dtype.accumulator)
    everywhere = record(ops.Broadcast, (wide,), (made.type.shape, (1,)))
    return cast_node(record(ops.Add, (made, everywhere)), dtype)


def _turned(weight: Node, groups: int) -> Node:
    """The weight with each offset negated, and with inputs for outputs in each group."""
    channels, outputs, *window = weight.type.shape
    grouped = (groups, ceil_div(channels, groups), outputs, product(window))
    swapped = permuted(reshaped(weight, grouped), (0, 2, 1, 3))
    flipped = record(ops.Flip, (swapped,), ((3,),))
    return reshaped(flipped, (outputs * groups, grouped[1], *window))


def _inside(node: Node, margins: Borders) -> Node:
    """The node without its ends, where an axis of space has a margin of less than nothing."""
    for axis, (low, high) in enumerate(zip(*margins, strict=True), 2):
        first, last = maximum(-low, 0), maximum(-high, 0)
        node = part(node, axis, first, node.type.shape[axis] - first - last)
    return node


def _ones(window: Sequence[Size]) -> Numbers:
    return (1,) * len(window)
