"""Runs a kernel: every program of its grid, one after the other.

Comes in: a func of the tile floor, windows and numbers for its arguments, the grid. Goes out:
nothing but what the programs store.
Never: a dependence on the order of programs that the kernel does not have itself; `order` chooses
another one, so that a test can show it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..dims import Size, Symbol, evaluate
from ..errors import ExecutionError, Unmet
from ..func import Func, Module
from ..interpreter import Frame
from ..types import Scalar, Type, View
from .facts import Sizes, check_facts, check_window
from .ids import MAX_GRID_RANK, PROGRAM, Program
from .window import Window, view_of


def run_kernel(
    func: Func,
    arguments: Sequence[Any],
    grid: Sequence[int] | None = None,
    module: Module | None = None,
    sizes: Mapping[str, int] | None = None,
    order: Iterable[int] | None = None,
) -> None:
    """Run `func` on `arguments`: windows, arrays that `view_of` makes windows on, and numbers.

    The grid is the one that the kernel's attribute `grid` states, unless another is given. Sizes
    that no argument's facts give are taken from `sizes`, by name. `order` lists the programs, by
    their row-major numbers, in the order to run them.
    """
    given = windows_of(func, arguments)
    bound = bind_sizes(func, given, sizes or {})
    values = bind_arguments(func, given, bound)
    counts = grid_of(func, bound) if grid is None else tuple(grid)
    programs = list(np.ndindex(*counts))
    with np.errstate(all="ignore"):
        for number in range(len(programs)) if order is None else order:
            frame = Frame(module, bound)
            frame.extra[PROGRAM] = Program(programs[number], counts)
            frame.run(func.body, values)


def grid_of(func: Func, sizes: Sizes) -> tuple[int, ...]:
    """The number of programs along each axis, as the kernel's attribute `grid` states it."""
    stated = func.attributes.get("grid")
    if not isinstance(stated, tuple) or not 1 <= len(stated) <= MAX_GRID_RANK:  # pyright: ignore[reportUnknownArgumentType]
        expected = f"expected a list of 1 to {MAX_GRID_RANK} sizes"
        raise ExecutionError(f"the grid of @{func.name} is {stated}, {expected}", func.location)
    return tuple([evaluate(size, sizes) for size in stated])  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def windows_of(func: Func, arguments: Sequence[Any]) -> list[Any]:
    """The arguments, with a window in the place of each array that is given for a view."""
    if len(arguments) != len(func.arguments):
        raise _refuse(func, f"takes {len(func.arguments)} arguments, not {len(arguments)}")
    return [
        view_of(given) if isinstance(value.type, View) and isinstance(given, np.ndarray) else given  # pyright: ignore[reportUnknownArgumentType]
        for value, given in zip(func.arguments, arguments, strict=True)
    ]


def bind_sizes(func: Func, arguments: Sequence[Any], given: Mapping[str, int]) -> Sizes:
    """What the func's symbols are: from the `size` facts of its views first, then by name."""
    sizes: dict[Symbol, int] = {}
    for value, argument in zip(func.arguments, arguments, strict=True):
        is_view = isinstance(value.type, View)
        stated: tuple[Size, ...] = value.type.facts.get("size", ()) if is_view else ()
        found = argument.sizes if isinstance(argument, Window) else ()
        for size, number in zip(stated, found, strict=False):
            if isinstance(size, Symbol):
                sizes.setdefault(size, number)
    for symbol in func.symbols:
        if symbol not in sizes and symbol.name not in given:
            raise _refuse(func, f"nothing says how large {symbol.name} is; give it by name")
        size = sizes.setdefault(symbol, given.get(symbol.name, 0))
        if not symbol.admits(size):
            raise _refuse(func, f"{symbol.name} is {size}, outside its declared range")
    return sizes


def bind_arguments(func: Func, arguments: Sequence[Any], sizes: Sizes) -> list[Any]:
    """The arguments as the interpreter holds them, each checked against its type."""
    try:
        pairs = zip(func.arguments, arguments, strict=True)
        return [_bound(value.type, given, sizes) for value, given in pairs]
    except Unmet as problem:
        raise _refuse(func, str(problem)) from None


def _bound(type_: Type, given: Any, sizes: Sizes) -> Any:
    if isinstance(type_, Scalar):
        return np.asarray(given, type_.dtype.storage).reshape(())
    if not isinstance(type_, View):
        raise Unmet(f"a kernel takes views and scalars, not {type_}")
    if not isinstance(given, Window):
        raise Unmet(f"an argument of type {type_} is {given!r:.60}, not a window or an array")
    rank, storage = len(given.sizes), given.memory.dtype
    if rank != type_.rank or storage != type_.dtype.storage:
        raise Unmet(f"an argument of type {type_} is a window of rank {rank} on {storage}")
    check_facts(type_)
    check_window(type_, given, sizes)
    return given


def _refuse(func: Func, problem: str) -> ExecutionError:
    return ExecutionError(f"@{func.name}: {problem}", func.location)
