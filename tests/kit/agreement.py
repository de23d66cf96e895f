"""When two runs of a program agree, and a command that asks this of many random programs.

Comes in: what a target has computed, what the interpreter has, and what it has in f64. Goes out: in
words, where the target is wrong; None if it is not. `python -m kit.agreement 5000` in the folder
`tests` runs so many programs on the CPU, fused and with a kernel for each op, and shrinks those
that disagree.
Never: a tolerance for integers and truths, or for where NaN and infinity stand.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from brimstone.ir import print_module
from brimstone.ir.attributes import Frozen
from brimstone.ir.dims import evaluate
from brimstone.ir.dtypes import DType, Kind, bf16, f32, f64, of_numpy
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.payloads import Array
from brimstone.passes.copying import copy_module
from brimstone.passes.oracle import observe
from brimstone.passes.reduce import reduce_module
from brimstone.runtime.host import shared_host
from brimstone.runtime.steps import prepare
from brimstone.targets.llvm.program import Program
from brimstone.targets.llvm.road import compile_step
from kit.agreeing import INPUT_QUARTERS, RESULTS, SIZES, program
from kit.played import played

PLAIN_ERRORS = 4
"""Floats may be so many times as far from the f64 results as the plain evaluation is at most."""
ROUNDINGS = 4
"""And so many roundings of the sum of all terms."""
SPECIAL = (np.nan, np.inf, -np.inf, -0.0)
SPECIAL_ONE_IN = 15
TRIALS = 3
EPSILON: dict[DType, float] = {bf16: 2.0**-7, f32: 2.0**-23, f64: 2.0**-52}


class Trial(NamedTuple):
    """Arguments of a program, what it makes of them plainly and in f64, and its sum of terms."""

    arguments: tuple[Array, ...]
    plain: Sequence[Array]
    wide: Sequence[Array]
    terms: float


def first_difference(
    found: Sequence[Array], plain: Sequence[Array], wide: Sequence[Array], terms: float
) -> str | None:
    """Where results do not agree, in words; None if they do."""
    for place, (one, other, exact) in enumerate(zip(found, plain, wide, strict=True)):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"result {place} is {one.dtype}{one.shape}, not {other.dtype}{other.shape}"
        dtype = of_numpy(one.dtype)
        wrong = _wrong(one, other, exact, terms) if dtype.kind is Kind.FLOAT else one != other
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0].tolist())
            expected = f"{other[at]}, and {exact[at]} in f64"
            return f"result {place} at {list(at)} of {list(one.shape)} is {one[at]}, not {expected}"
    return None


def _wrong(found: Array, plain: Array, wide: Array, terms: float) -> Array:
    """Which floats are too far away, or are not finite where those of the plain run are."""
    dtype = of_numpy(found.dtype)
    one, other, exact = (each.astype(np.float64) for each in (found, plain, wide))
    with np.errstate(invalid="ignore"):
        error = np.abs(other - exact)
        limit = PLAIN_ERRORS * np.max(error, initial=0.0, where=np.isfinite(error))
        far = ~(np.abs(one - exact) <= limit + ROUNDINGS * EPSILON[dtype] * terms)
    finite = np.isfinite(other)
    return np.where(finite, far & np.isfinite(exact), _kind(one) != _kind(other)) | (
        finite != np.isfinite(one)
    )


def _kind(x: Array) -> Array:
    """1 and -1 for infinities, 2 for NaN, 0 for what is finite."""
    return np.where(np.isnan(x), 2, np.where(np.isinf(x), np.sign(x), 0))


def trials(seed: int, dtype: DType) -> Iterator[Trial]:
    """The program of a seed at several sizes, every second time with NaN and infinities."""
    func = program(seed, dtype)
    wide = program(seed, f64, every_term=True)
    for number in range(TRIALS):
        rng = np.random.default_rng((seed, number))
        rows, columns = rng.permutation(SIZES)[:2].tolist()
        sizes: dict[str, int] = {"n": rows, "m": columns}
        shape = _shape(func, sizes)
        arguments = _arguments(rng, shape, dtype, special=number % 2 == 1)
        plain = interpret(Module([func]), *arguments)
        widened = [_as(each, f64) if of_numpy(each.dtype) is dtype else each for each in arguments]
        results = interpret(Module([wide]), *widened)
        yield Trial(arguments, plain, results[:RESULTS], _total(results[RESULTS:]))


def _total(terms: Sequence[Array]) -> float:
    """The sum of the largest finite element of each."""
    largest = (np.max(each, initial=0.0, where=np.isfinite(each)) for each in terms)
    return float(sum(largest))


def _shape(func: Func, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """What the shape of all arguments is."""
    known = {symbol: sizes[symbol.name] for symbol in func.symbols}
    return tuple(evaluate(size, known) for size in func.arguments[0].type.shape)


def _arguments(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: DType, special: bool
) -> tuple[Array, ...]:
    floats: list[Array] = []
    for _ in range(2):
        x = rng.integers(-INPUT_QUARTERS, INPUT_QUARTERS + 1, shape) / 4
        if special:
            x = np.where(rng.integers(0, SPECIAL_ONE_IN, shape) == 0, rng.choice(SPECIAL, shape), x)
        floats.append(_as(x, dtype))
    low, high = (-(2**31), 2**31 - 1) if special else (-9, 9)
    integers = [rng.integers(low, high, shape, np.int32) for _ in range(2)]
    return (*floats, *integers, rng.integers(0, 2, shape).astype(np.bool_))


def _as(array: Array, dtype: DType) -> Array:
    return np.asarray(array, dtype.storage)


def on_cpu(module: Module, fused: bool) -> Program:
    """A program of machine code, to which all arguments are donated; or not `fused`, with a kernel
    for each op."""
    made = prepare(copy_module(module))
    if fused:
        every = tuple(range(len(made.main.arguments)))
        made.main.attributes = Frozen({**made.main.attributes, "donated": every})
    with patch.dict(os.environ, {"BRIMSTONE_FUSE": str(int(fused))}):
        return compile_step(made, shared_host())


def dtype_of(seed: int) -> DType:
    """The dtype of the floats of a seed's program: f32, and every third time bf16."""
    return bf16 if seed % 3 == 2 else f32


def disagreement(seed: int) -> str | None:
    """How the CPU and the interpreter disagree about the program of a seed."""
    dtype = dtype_of(seed)
    module = Module([program(seed, dtype)])
    programs = {way: on_cpu(module, way == "fused") for way in ("fused", "unfused")}
    for trial in trials(seed, dtype):
        for way, executable in programs.items():
            try:
                found = played(executable, trial.arguments)
            except Exception as problem:
                return f"{way}, {trial.arguments[0].shape}: {problem}"
            reason = first_difference(found, trial.plain, trial.wide, trial.terms)
            if reason is not None:
                return f"{way}: {reason}"
    return None


def shrunk(module: Module) -> Module:
    """The smallest part of a module about which the CPU and the interpreter still disagree much."""
    return reduce_module(module, _differs)


def _differs(module: Module) -> bool:
    observed = list(observe(module))
    return any(_fails(module, fused, observed) for fused in (True, False))


def _fails(module: Module, fused: bool, observed: Sequence[Any]) -> bool:
    try:
        executable = on_cpu(module, fused)
        for trial in observed:
            found = played(executable, trial.arguments, trial.sizes)
            largest = _total([np.abs(_float(each)) for each in (*trial.results, *trial.arguments)])
            wide = [_float(each) for each in trial.results]
            if first_difference(found, trial.results, wide, 64 * (1 + largest)):
                return True
    except Exception:  # of any kind: that is what is looked for
        return True
    return False


def _float(array: Array) -> Array:
    return np.asarray(array).astype(np.float64)


def report(count: int, first: int = 0) -> Mapping[int, str]:
    """Run so many programs, print those that disagree, shrunk, and a line about all of them."""
    begun, found = monotonic(), dict[int, str]()
    for seed in range(first, first + count):
        reason = disagreement(seed)
        if reason is not None:
            found[seed] = reason
            print(f"program {seed} disagrees: {reason}")
            module = Module([program(seed, dtype_of(seed))])
            print(print_module(shrunk(module) if _differs(module) else module), flush=True)
    seconds = monotonic() - begun
    print(f"{count} programs, {len(found)} disagree, {seconds:.0f} s")
    return found


if __name__ == "__main__":
    sys.exit(bool(report(*[int(each) for each in sys.argv[1:3]])))
