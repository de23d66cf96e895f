"""Kernels that were written by hand, on the tile floor already.

Comes in: a kernel func that consists of a `tensor.custom`. Goes out: the tile func that it carries,
after stages that fill those results which are to begin with a number.
Never: a change to what was written; the chooser is asked about filling only.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

from ...ir import tensor
from ...ir.attributes import Frozen
from ...ir.dims import substitute
from ...ir.func import Func
from ...ir.tile.written import KERNEL, bind, fills, program_of
from ...ir.values import AnyValue
from ..copying import copy_func
from .draft import Draft
from .kernel import Param
from .parts import Part, Stage, Stages
from .schedule import Chooser, KernelShape
from .space import Refused


def written_kernel(func: Func, op: Any, choose: Chooser) -> Stages:
    """The kernel as its author wrote it."""
    assert isinstance(op, tensor.Custom)
    if op.kernel != KERNEL:
        raise Refused(f'"{op.kernel}" is a function of the host')
    written, count = program_of(op.settings), len(op.arguments)
    program = copy_func(written)
    program.name = func.name
    program.attributes = Frozen({"grid": written.attributes["grid"]})
    sizes = bind(program, [value.type.shape for value in op.arguments])
    grid = tuple(substitute(size, sizes) for size in program.attributes["grid"])
    main = Stage(program, _parts(op.arguments, 0), _parts(op.outputs, count), grid)
    filling = [_filling(func, count, *each, choose) for each in fills(written).items()]
    return Stages(func, (*filling, main))


def _filling(func: Func, count: int, place: int, value: Any, choose: Chooser) -> Stage:
    """A stage that fills a result, all its elements in a row."""
    result = func.results[place]
    dtype, size = result.dtype, prod(result.type.shape)
    schedule = choose(KernelShape("map", dtype, dtype, False, False, 1, False))
    width = schedule.get("n", 1)
    params = [Param(0, (size,), dtype, result.name, written=True)]
    draft = Draft(func, params, [(size, width)], schedule)
    tile_of_it = draft.full(draft.number(value, dtype), width)
    draft.store(draft.views[0], tile_of_it, draft.starts)
    stage = draft.stage([count + place])
    stage.func.name = f"{func.name}_fill_{place}"
    return stage


def _parts(values: Sequence[AnyValue], first: int) -> tuple[Part, ...]:
    """All of each array; their numbers begin with `first`."""
    return tuple(Part(number, value.type.shape) for number, value in enumerate(values, first))
