"""Runs a func of the `loop` floor as a kernel: many programs, each of many lanes.

Comes in: a func that returns nothing, its arguments, and how many lanes and programs there are.
Goes out: nothing; the arrays that are handed in as buffers change.
Never: an order to rely on between programs. They run one after the other, which shows nobody that
a kernel needs more order than that.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..dims import Symbol
from ..errors import ExecutionError
from ..func import Func
from ..interpreter import Frame
from ..payloads import Array
from ..types import Buffer, Scalar, Type, Vec
from .group import Group
from .lanes import Lane, Place


def run_loops(
    func: Func,
    arguments: Sequence[Any],
    *,
    lanes: int = 1,
    subgroup: int | None = None,
    programs: Sequence[int] = (1,),
    sizes: Mapping[str, int] | None = None,
) -> None:
    """Run each program of the grid `programs`: `lanes` lanes in lock step, of which `subgroup`
    (all, unless it is said) exchange registers. A buffer is a numpy array of rank 1."""
    subgroup = lanes if subgroup is None else subgroup
    if subgroup < 1 or lanes < 1 or lanes % subgroup:
        raise ExecutionError(f"{lanes} lanes do not divide into subgroups of {subgroup}")
    if func.results:
        raise ExecutionError(f"@{func.name} is no kernel: it returns values", func.location)
    frame = Frame(None, _sizes(func, sizes or {}))
    given = _arguments(func, arguments)
    with np.errstate(all="ignore"):
        for program in np.ndindex(*programs):
            place = (lanes, subgroup, program, tuple(programs))
            memory: dict[Any, Array] = {}
            members = [Lane(frame, Place(lane, *place), memory) for lane in range(lanes)]
            Group(members, subgroup).run(func.body, given)


def _sizes(func: Func, given: Mapping[str, int]) -> dict[Symbol, int]:
    """What each size that the func names is; no argument has a shape that could say it."""
    for symbol in func.symbols:
        size = given.get(symbol.name)
        if size is None or not symbol.admits(size):
            said = "is not given" if size is None else f"is {size}, outside its declared range"
            raise ExecutionError(f"@{func.name}: the size {symbol.name} {said}", func.location)
    return {symbol: given[symbol.name] for symbol in func.symbols}


def _arguments(func: Func, given: Sequence[Any]) -> list[Any]:
    types: list[Type] = [argument.type for argument in func.arguments]
    if len(given) != len(types):
        raise ExecutionError(
            f"@{func.name} takes {len(types)} arguments, not {len(given)}", func.location
        )
    return [_argument(func, type_, value) for type_, value in zip(types, given, strict=True)]


def _argument(func: Func, type_: Type, given: Any) -> Array:
    """An argument as lanes hold it; a buffer is the caller's own array."""
    if isinstance(type_, Scalar):
        return np.asarray(given, type_.dtype.storage).reshape(())
    if not isinstance(type_, Buffer | Vec):
        raise ExecutionError(f"a kernel takes no {type_}", func.location)
    array: Array = np.asarray(given)
    length = type_.lanes if isinstance(type_, Vec) else array.size
    found = (array is given, array.dtype, array.shape)
    if found != (True, type_.dtype.storage, (length,)):
        raise ExecutionError(
            f"an argument of type {type_} is an array of rank 1 of {type_.dtype.storage}, "
            f"not {given!r:.60}",
            func.location,
        )
    return array
