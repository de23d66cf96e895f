"""A user's function, run once on views: the tile func that it means.

Comes in: the function, the ranks and dtypes of its tensors, its settings. Goes out: a `Program`:
the func as text, and as the object that the text describes.
Never: a size; those of the arguments are symbols, so one text serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import unwrap
from typing import Any, NamedTuple

from ...ir.attributes import Frozen
from ...ir.dims import Size, Symbol, substitute, symbols
from ...ir.dtypes import DType
from ...ir.errors import IRError
from ...ir.func import Func, Module, Return
from ...ir.locations import UNKNOWN, Location
from ...ir.printer import print_func
from ...ir.tile.written import program_of
from ...ir.verifier import verify
from ..errors import ArgumentError, fail
from .draft import Draft, Known, drafting
from .stating import argument

MOST_ROUNDS = 8


class Tensors(NamedTuple):
    """What is known of an argument: its name in the function, its rank and its dtype."""

    name: str
    rank: int
    dtype: DType


class Program(NamedTuple):
    """A kernel for arguments of some ranks and dtypes; `settings` is what a `tensor.custom` has."""

    func: Func
    settings: Frozen


def traced(
    name: str, function: Callable[..., Any], inputs: Sequence[Tensors], settings: Mapping[str, Any]
) -> Program:
    """Run the function; again if it has stated that sizes are equal, with these sizes as one."""
    known: Known = {}
    for _ in range(MOST_ROUNDS):
        draft = _drafted(name, function, inputs, settings, known)
        if not draft.learned:
            return _finished(draft, name)
        known = _together(known, draft.learned)
    fail(ArgumentError, name, "the kernel never comes to an end of stating equal sizes")


def _drafted(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[Tensors],
    settings: Mapping[str, Any],
    known: Known,
) -> Draft:
    draft = Draft(name, _line_of(function), known)
    with drafting(draft):
        given = [_view(draft, each) for each in inputs]
        numbers = [view if view.shape else view.load() for view in given]
        returned = function(*numbers, **settings)
        if returned is not None:
            fail(
                ArgumentError, name, f"the kernel returned {type(returned).__name__}",
                hint="a kernel returns nothing: it stores to what `tiles.result` gives",
            )  # fmt: skip
        draft.emit_all(Return, [])
    return draft


def _line_of(function: Any) -> Location:
    """Where the function begins."""
    code = getattr(unwrap(function), "__code__", None)
    return UNKNOWN if code is None else Location((code.co_filename, code.co_firstlineno))


def _view(draft: Draft, tensor: Tensors) -> Any:
    sizes = [draft.size(Symbol(f"{tensor.name}_{axis}", 0)) for axis in range(tensor.rank)]
    view = argument(draft, tensor.name, tuple(sizes), tensor.dtype, writable=False)
    draft.inputs.append(view)
    return view


def _together(known: Known, learned: Known) -> dict[Symbol, Size]:
    """All that is known, each size with what is known of those in it."""
    return {**{each: substitute(size, learned) for each, size in known.items()}, **learned}


def _finished(draft: Draft, name: str) -> Program:
    """The func with its grid, checked, as text and as what is read back."""
    from ...passes.dead import sweep

    if draft.grid is None:
        hint = "state it with `place = tiles.grid(tiles.ceil_div(x.shape[0], 64))`"
        fail(ArgumentError, name, "the kernel states no grid", hint=hint)
    if not draft.results:
        hint = "state it with `out = tiles.result(x.shape, x.dtype)`"
        fail(ArgumentError, name, "the kernel states no result", hint=hint)
    func = draft.func
    sizes = [size for view in draft.inputs for size in view.shape]
    func.symbols = tuple(dict.fromkeys(each for size in sizes for each in symbols(size)))
    filled = {"fill": draft.fills} if draft.fills else {}
    func.attributes = Frozen({"grid": draft.grid, **filled})
    sweep(func.body)
    try:
        verify(Module([func]))
    except IRError as problem:
        fail(ArgumentError, name, problem.message)
    settings = Frozen({"name": name, "program": print_func(func, locations=True)})
    return Program(program_of(settings), settings)
