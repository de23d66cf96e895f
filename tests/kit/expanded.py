"""Mathematical functions as `expand` writes them, run in the interpreter on arrays of any length.

Comes in: the kind of an op, a machine, arrays. Goes out: what the ops compute that are left, and
errors in units of the last place.
Never: an op that no machine has.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import brimstone.ir.loop  # noqa: F401 (declares the ops that texts name)
from brimstone.ir.dtypes import DType
from brimstone.ir.loop import run_loops
from brimstone.ir.parser import parse
from brimstone.ir.verifier import verify
from brimstone.passes.expand import expand
from brimstone.passes.machine import Machine

Array = np.ndarray[Any, Any]

FUSED = Machine("fused", 64, 32, fused=True, masked=True, level1=1 << 15, level2=1 << 20)
PLAIN = Machine("plain", 16, 16, fused=False, masked=False, level1=1 << 15, level2=1 << 18)
LANES = 4096


def results(
    op: str, result: DType, inputs: Sequence[tuple[DType, Array]], machine: Machine | None
) -> Array:
    """What an op on `%x`, `%y` and `%z` makes of arrays; expanded for a machine, if given."""
    count = len(inputs[0][1])
    lanes = min(count, LANES)
    func = parse(_text(op, result, [dtype for dtype, _ in inputs], lanes)).main
    if machine is not None:
        expand(func, machine)
        verify(func)
    padded = -count % lanes
    arrays = [np.concatenate([array, array[:padded]]) for _, array in inputs]
    out = np.zeros(count + padded, result.storage)
    run_loops(func, [*arrays, out, count])
    return out[:count]


def _text(op: str, result: DType, dtypes: Sequence[DType], lanes: int) -> str:
    names = ["x", "y", "z"][: len(dtypes)]
    pairs = list(zip(names, dtypes, strict=True))
    arguments = ", ".join(f"%{name}s: buffer<{dtype}, global>" for name, dtype in pairs)
    loads = "\n".join(
        f"    %{name} = loop.load_vector %{name}s, %i {{lanes = {lanes}}} : vec<{lanes}, {dtype}>"
        for name, dtype in pairs
    )
    return f"""func @kernel({arguments}, %out: buffer<{result}, global>, %count: scalar<i64>) {{
  %zero = loop.constant {{value = 0}} : scalar<i64>
  %step = loop.constant {{value = {lanes}}} : scalar<i64>
  loop.for %zero, %count, %step (%i: scalar<i64>) {{
{loads}
    %r = {op} : vec<{lanes}, {result}>
    loop.store_vector %out, %i, %r
    yield
  }}
  return
}}"""


def units(found: Array, exact: Array, floor: float = 0.0) -> Array:
    """How far a result is from the exact one, in units of the last place of the latter, or of
    `floor` where that is larger. Infinite where one is NaN and the other is not, where a zero has
    the other sign, and where an infinity is not one."""
    dtype = found.dtype.type
    with np.errstate(all="ignore"):
        near = exact.astype(dtype)
        largest = np.finfo(dtype).max
        size = np.clip(np.abs(near), dtype(floor), largest)
        off = np.abs(found.astype(exact.dtype) - exact) / np.spacing(size).astype(exact.dtype)
    off = np.where(near == found, np.where(np.isfinite(off) & np.isfinite(near), off, 0), off)
    lost_sign = (near == 0) & (found == 0) & (np.signbit(exact) != np.signbit(found))
    both_nan = np.isnan(near) & np.isnan(found)
    return np.where(both_nan, 0, np.where(lost_sign | np.isnan(off), np.inf, off))
