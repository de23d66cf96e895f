"""What a kernel states: its results, its grid, which sizes are equal, memory of its own.

Comes in: shapes, in the sizes of the arguments. Goes out: views, and the place of a program.
Never: a size that depends on a value.
"""

from __future__ import annotations

from typing import Any

from ...ir import dims
from ...ir import tile as ops
from ...ir.dims import Dim, DimError, Size, Symbol, substitute, symbols
from ...ir.tile.ids import MAX_GRID_RANK
from ...ir.types import View as ViewType
from ..dtypes import as_dtype
from ..errors import ArgumentError, ShapeError, fail
from ..functions.common import as_size, number
from .draft import Draft, current
from .values import Value, lifted, made
from .views import View


def result(shape: Any, dtype: Any, fill: Any = None) -> View:
    """A tensor that the kernel returns; results are returned in the order of these calls.

    Each element must be stored by one program; what none stores is undefined, or `fill`.
    """
    draft = current("result")
    if fill is not None:
        (payload,) = number(fill, as_dtype(dtype).ir, "result").attributes
        draft.fills.append((len(draft.results), payload.value))
    name = f"result{len(draft.results) or ''}"
    view = argument(draft, name, _sizes(draft, "result", shape), as_dtype(dtype).ir, writable=True)
    draft.results.append(view)
    return view


def grid(*counts: Any) -> Any:
    """State how many programs there are along one to three axes; where this one is among them.

    The place is one number where there is one axis, else a tuple with one an axis.
    """
    draft = current("grid")
    if draft.grid is not None:
        fail(ArgumentError, "grid", "the kernel has stated its grid already")
    if not 1 <= len(counts) <= MAX_GRID_RANK:
        problem = f"a grid has 1 to {MAX_GRID_RANK} axes, not {len(counts)}"
        fail(ArgumentError, "grid", problem)
    draft.grid = _sizes(draft, "grid", counts)
    places = [made(draft.emit(ops.ProgramId, axis=axis)) for axis in range(len(counts))]
    return places[0] if len(places) == 1 else tuple(places)


def scratch(shape: Any, dtype: Any) -> View:
    """Memory that each program has to itself; nothing may be read before it is written."""
    draft = current("scratch")
    sizes = _sizes(draft, "scratch", shape)
    made_ir = draft.emit(ops.Scratch, shape=sizes, dtype=as_dtype(dtype).ir)
    return View(draft, made_ir, "scratch", sizes, writable=True)


def equal(size: Any, other: Any) -> Any:
    """State that two sizes are equal, and have one: calls where they are not are refused."""
    draft = current("equal")
    given = [_sizes(draft, "equal", each)[0] for each in (size, other)]
    left, right = (substitute(each, draft.learned) for each in given)
    if left is right or left == right:
        return left
    for symbol, known in ((right, left), (left, right)):
        if isinstance(symbol, Symbol) and symbol not in symbols(known):
            draft.learn(symbol, known)
            return known
    fail(ShapeError, "equal", f"{left} and {right} are never equal, or neither is a size as such")


def ceil_div(dividend: Any, divisor: Any) -> Any:
    """How many tiles of `divisor` elements cover `dividend` elements."""
    draft = current("ceil_div")
    above, below = (_sizes(draft, "ceil_div", each)[0] for each in (dividend, divisor))
    try:
        return dims.ceil_div(above, below)
    except DimError as problem:
        fail(ArgumentError, "ceil_div", str(problem))


def assume(predicate: Any) -> None:
    """State that a number is true, without a check; a kernel for which it is not has no meaning."""
    current("assume").emit_all(ops.Assume, lifted("assume", predicate))


def argument(
    draft: Draft, name: str, sizes: tuple[Size, ...], dtype: Any, *, writable: bool
) -> View:
    """A further argument of the tile func."""
    facts: dict[str, Any] = {"size": sizes}
    if sizes:
        facts["unit_stride"] = len(sizes) - 1
    value = draft.func.body.add_argument(ViewType(len(sizes), dtype, facts), name)
    return View(draft, value, name, sizes, writable)


def _sizes(draft: Draft, name: str, shape: Any) -> tuple[Size, ...]:
    """A shape in the sizes of the arguments."""
    listed: Any = shape if isinstance(shape, tuple | list) else (shape,)
    for each in listed:
        if isinstance(each, Value):
            problem = "a size follows from the shapes of the arguments, not from a value"
            fail(ArgumentError, name, problem, each, hint="take it as a setting of the kernel")
    sizes = [each if isinstance(each, Dim) else as_size(each, name) for each in listed]
    return tuple([draft.size(size) for size in sizes])
