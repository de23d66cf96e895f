"""Every f32 through a function, as machine code, held against the function in f64.

    python -m benchmarks.every_single exp log tanh [--unfused]

For each function: the largest error in units of the last place, where it is, and, on 16 Ki numbers
in cache, nanoseconds per element beside numpy's. What is not a number must be none on both sides,
and zeros must have the same sign. 2^32 numbers take a minute or two; numpy has no erf, so that
Python's stands for it, on positive numbers from 2^-13 to 4, beyond which nothing changes.
"""

import argparse
import math
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.machine_code import Array, MachineCode
from brimstone.targets.llvm.machines import CPU, host

CHUNK = 1 << 20
IN_CACHE = 1 << 14
RUNS = 300
LANES = 16
ERF_RANGE = 0x39000000, 0x40800000
TEXT = """func @kernel(%x: buffer<{0}, global>, %out: buffer<{0}, global>, %count: scalar<i64>) {{
  %zero = loop.constant {{value = 0}} : scalar<i64>
  %step = loop.constant {{value = {1}}} : scalar<i64>
  loop.for %zero, %count, %step (%i: scalar<i64>) {{
    %v = loop.load_vector %x, %i {{lanes = {1}}} : vec<{1}, {0}>
    %y = loop.unary %v {{kind = {2}}} : vec<{1}, {0}>
    loop.store_vector %out, %i, %y
    yield
  }}
  return
}}"""
NAMES = {"reciprocal_square_root": None, "cube_root": np.cbrt, "erf": None}


class Kernel:
    """Machine code of one function, on arrays of a multiple of 16 elements."""

    def __init__(self, kind: str, machine: CPU, dtype: str = "f32") -> None:
        self.code = MachineCode(TEXT.format(dtype, LANES, kind), machine)

    def __call__(self, x: Array, out: Array) -> None:
        """out = function(x)"""
        self.code(x, out, x.size)


def reference(kind: str) -> Any:
    """The function in f64."""
    if kind == "erf":
        return lambda x: np.asarray(np.frompyfunc(math.erf, 1, 1)(x), np.float64)
    return NAMES.get(kind) or getattr(np, kind)


def errors(found: Array, exact: Array) -> Array:
    """In units of the last place of the rounded exact result; 0 where that is what was found."""
    near = exact.astype(np.float32)
    same = (near.view(np.uint32) == found.view(np.uint32)) | (np.isnan(near) & np.isnan(found))
    largest = np.finfo(np.float32).max
    unit = np.spacing(np.minimum(np.abs(near), largest)).astype(np.float64)
    off = np.abs(found.astype(np.float64) - exact) / unit
    agree = same & ~(np.isfinite(near) & np.isfinite(off))
    off = np.where(agree, 0.0, off)
    wrong = (np.isnan(off) & ~agree) | ((near == 0) & (found == 0) & ~same)
    return np.where(wrong, np.inf, off)


def worst(kind: str, kernel: Kernel) -> tuple[float, np.float32]:
    """The largest error and where it is."""
    low, high = ERF_RANGE if kind == "erf" else (0, 1 << 32)
    function, out = reference(kind), np.empty(CHUNK, np.float32)
    largest, place = 0.0, np.float32(0)
    for start in range(low, high, CHUNK):
        x = np.arange(start, start + CHUNK, dtype=np.int64).astype(np.uint32).view(np.float32)
        kernel(x, out)
        with np.errstate(all="ignore"):
            off = errors(out, function(x.astype(np.float64)))
        at = int(np.argmax(off))
        if off[at] > largest:
            largest, place = float(off[at]), x[at]
    return largest, place


def nanoseconds(function: Any, x: Array) -> float:
    """The best time per element of some runs."""
    out = np.empty_like(x)
    times: list[float] = []
    for _ in range(RUNS):
        start = perf_counter()
        function(x, out)
        times.append(perf_counter() - start)
    return min(times) / x.size * 1e9


def main() -> None:
    """Print one line a function."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("functions", nargs="+")
    parser.add_argument("--unfused", action="store_true", help="without multiply-add in one")
    parser.add_argument("--time-only", action="store_true", help="only measure the speed")
    given = parser.parse_args()
    machine = replace(host(), fused=not given.unfused)
    for kind in given.functions:
        kernel = Kernel(kind, machine)
        x = np.random.default_rng(1).uniform(0.1, 0.9, IN_CACHE).astype(np.float32)
        peer = getattr(np, kind, None)
        other = f"{nanoseconds(peer, x):.2f}" if peer else "-"
        found = "" if given.time_only else "{:.3f} ULP at {!r}, ".format(*worst(kind, kernel))
        print(f"{kind}: {found}{nanoseconds(kernel, x):.2f} ns, numpy {other} ns", flush=True)


if __name__ == "__main__":
    main()
