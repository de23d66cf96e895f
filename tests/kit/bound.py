"""Kernels of tiles beside the loop funcs that they are bound to: both run, on copies of one memory.

Comes in: tile funcs as text, arrays or windows, a machine. Goes out: the loop func, after both have
left the same bits in the same places.
Never: memory beyond what a view shows; a buffer ends with the view's last element.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from brimstone.ir import loop, tile
from brimstone.ir.dims import evaluate
from brimstone.ir.func import Func, Module
from brimstone.ir.loop.memory import poisoned
from brimstone.ir.parser import parse
from brimstone.ir.tile.kernel import bind_sizes, grid_of
from brimstone.ir.tile.window import span
from brimstone.ir.types import View
from brimstone.ir.verifier import verify
from brimstone.passes.bind_cpu import bind_cpu
from brimstone.passes.machine import Machine
from kit.loops import same_bits

AVX512 = Machine("avx512", 64, 32, True, True, 1 << 15, 1 << 20)
AVX2 = Machine("avx2", 32, 16, True, False, 1 << 15, 1 << 18)
SSE = Machine("sse42", 16, 16, False, False, 1 << 15, 1 << 18)
MACHINES = (AVX512, AVX2, SSE)


def kernel(text: str) -> Func:
    """The tile func of a text, verified."""
    module = parse(text)
    verify(module)
    return module.main


@cache
def bound(func: Func, machine: Machine = AVX512) -> Func:
    """The loop func, verified; a func is bound once."""
    made = bind_cpu(func, machine)
    verify(Module([made]))
    return made


def check(
    func: Func,
    arguments: Sequence[Any],
    machine: Machine = AVX512,
    sizes: Mapping[str, int] | None = None,
    grid: Sequence[int] | None = None,
    run: Callable[..., None] = loop.run_loops,
) -> list[Any]:
    """Run a kernel on both floors; what its windows show in the end. `run` runs the loop func."""
    made = bound(func, machine)
    given = [_copied(whole(each)) for each in arguments]
    expected = [_copied(each) for each in given]
    found = bind_sizes(func, given, sizes or {})
    counts = tuple(grid) if grid is not None else grid_of(func, found)
    tile.run_kernel(func, expected, counts, sizes=sizes)
    slots = [slot for each in given for slot in slots_of(each)]
    buffers = [value.dtype for value in made.arguments[len(slots) :]]
    lengths = [evaluate(each, found) for each in made.attributes["scratch"]]
    slots += [poisoned(count, dtype) for count, dtype in zip(lengths, buffers, strict=True)]
    by_name = {symbol.name: size for symbol, size in found.items()}
    run(made, slots, programs=counts, sizes=by_name)
    for value, one, other in zip(func.arguments, given, expected, strict=True):
        if isinstance(value.type, View):
            assert same_bits(one.memory, other.memory), (
                f"{value.name}: {one.array()} {other.array()}"
            )
    return [each.array() for each in given if isinstance(each, tile.Window)]


def whole(given: Any) -> Any:
    """A window on all of an array, row-major even if it is empty."""
    if not isinstance(given, np.ndarray):
        return given
    strides = [prod(given.shape[axis + 1 :]) for axis in range(given.ndim)]
    return tile.Window(given.reshape(-1), 0, given.shape, tuple(strides))


def slots_of(given: Any) -> list[Any]:
    """The arguments of the loop func for one of the tile func."""
    if not isinstance(given, tile.Window):
        return [given]
    buffer = given.memory[:0]
    if all(given.sizes):
        low, high = span(given.offset, given.sizes, given.strides)
        assert low == given.offset, "an argument runs backwards, which buffers cannot"
        buffer = given.memory[low : high + 1]
    return [buffer, *given.sizes, *given.strides]


def _copied(given: Any) -> Any:
    if not isinstance(given, tile.Window):
        return given
    return tile.Window(given.memory.copy(), given.offset, given.sizes, given.strides)
