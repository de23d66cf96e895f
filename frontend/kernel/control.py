"""Loops and branches in a kernel, which the machine runs, not Python.

Comes in: functions, which are traced once, and trees of tiles and numbers. Goes out: trees.
Never: a loop unrolled; Python's own `for` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir import dtypes as ir
from ...ir import tile as ops
from ...ir.func import Yield
from ...ir.types import INDEX, Scalar, Type
from ...ir.values import AnyValue
from ..errors import ArgumentError, DTypeError, ShapeError, expect_functions, fail
from ..tree import Structure, flatten
from .draft import current
from .values import lifted, made

_NOTHING: Any = object()


def fori_loop(
    start: Any, stop: Any, body: Callable[..., Any], carry: Any = _NOTHING, *,
    step: Any = 1, label: str | None = None,
) -> Any:  # fmt: skip
    """`carry = body(index, carry)` for each index from `start` to before `stop`, `step` apart.

    Without a carry it is `body(index)`. The label is a name for the loop.
    """
    expect_functions("fori_loop", body)
    draft, bare = current("fori_loop"), carry is _NOTHING
    leaves, structure = flatten(None if bare else carry)
    carried = [lifted("fori_loop", leaf) for leaf in leaves]
    bounds = [_bound(each) for each in (start, stop, step)]
    with draft.region([INDEX, *_types(carried)]) as region:
        index, *inside = [made(each) for each in region.arguments]
        result = body(index) if bare else body(index, structure.build(inside))
        draft.emit_all(Yield, _yielded("fori_loop", result, _types(carried), structure))
    outputs = draft.emit_all(ops.For, *bounds, carried, body=region, label=label)
    return structure.build([made(each) for each in outputs])


def cond(
    predicate: Any, on_true: Callable[..., Any], on_false: Callable[..., Any], *args: Any
) -> Any:
    """`on_true(*args)` where the number holds, else `on_false(*args)`; only one runs."""
    expect_functions("cond", on_true, on_false)
    draft = current("cond")
    condition = lifted("cond", predicate, ir.boolean)
    if condition.type is not Scalar(ir.boolean):
        fail(
            DTypeError, "cond", "the predicate is one boolean", predicate,
            hint="reduce a tile with `tiles.any` or `tiles.all`, or choose with `tiles.where`",
        )  # fmt: skip
    leaves, given = flatten(args)
    carried = [lifted("cond", leaf) for leaf in leaves]
    with draft.region(_types(carried)) as first:
        made_first, structure = flatten(on_true(*given.build([made(x) for x in first.arguments])))
        yielded = [lifted("cond", leaf) for leaf in made_first]
        draft.emit_all(Yield, yielded)
    with draft.region(_types(carried)) as second:
        result = on_false(*given.build([made(x) for x in second.arguments]))
        draft.emit_all(Yield, _yielded("cond", result, _types(yielded), structure))
    outputs = draft.emit_all(ops.If, condition, carried, on_true=first, on_false=second)
    return structure.build([made(each) for each in outputs])


def _types(values: Sequence[AnyValue]) -> list[Type]:
    return [value.type for value in values]


def _bound(value: Any) -> AnyValue:
    """Where a loop starts or stops, or its step."""
    bound = lifted("fori_loop", value, ir.i64)
    if bound.type is not INDEX:
        problem = "a loop starts and stops at an integer of int64"
        fail(DTypeError, "fori_loop", problem, value, hint="cast it with `.astype('int64')`")
    return bound


def _yielded(name: str, result: Any, wanted: Sequence[Any], structure: Structure) -> list[AnyValue]:
    """What a body returned, if it is what it has to be."""
    leaves, found = flatten(result)
    if found is not structure:
        problem = f"one round or branch gives {structure}, another one {found}"
        fail(ArgumentError, name, problem, hint="both are the same kinds of containers")
    values: list[AnyValue] = []
    for leaf, type_ in zip(leaves, wanted, strict=True):
        values.append(lifted(name, leaf, type_.dtype))
        if values[-1].type is not type_:
            problem = f"one round or branch gives {type_}, another one {values[-1].type}"
            hint = "both have one shape and one dtype; start a carry with those it ends with"
            fail(ShapeError, name, problem, hint=hint)
    return values
