"""Pairs of ops that become one function: how good it is, and what is left as it is."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import bf16, f32, f64
from brimstone.ir.func import Func
from brimstone.ir.loop import run_loops
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from brimstone.ir.verifier import verify
from brimstone.passes.expand import expand
from brimstone.passes.expand.pairs import join_pairs
from brimstone.passes.machine import Machine
from kit.expanded import FUSED, PLAIN, units

LANES = 64
BOUND = 2.5
"""Units in the last place, also where 1 + tanh is small."""


def kernel(dtype: Any, ops: str) -> Func:
    """`%r` of `%x`, for each vector; `%ones` is all 1."""
    vector, ones = f"vec<{LANES}, {dtype}>", ", ".join(["1.0"] * LANES)
    return parse(f"""
func @kernel(%xs: buffer<{dtype}, global>, %out: buffer<{dtype}, global>, %count: scalar<i64>) {{
  %zero = loop.constant {{value = 0}} : scalar<i64>
  %step = loop.constant {{value = {LANES}}} : scalar<i64>
  %ones = loop.constant {{value = [{ones}]}} : {vector}
  loop.for %zero, %count, %step (%i: scalar<i64>) {{
    %x = loop.load_vector %xs, %i {{lanes = {LANES}}} : {vector}
    %tanh = loop.unary %x {{kind = tanh}} : {vector}
    {ops.replace("V", vector)}
    loop.store_vector %out, %i, %r
    yield
  }}
  return
}}""").main


def numbers(dtype: Any, count: int) -> Any:
    """Of all sizes that matter, and special ones; below, e^-2x is infinite, and the sum 0."""
    draws = np.random.default_rng(0).uniform(-44 if dtype is f32 else -350, 20, count - 8)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40]
    return np.array([*special, *draws]).astype(dtype.storage)


SUMS = ["%ones, %tanh", "%tanh, %ones"]


@pytest.mark.parametrize("operands", SUMS)
@pytest.mark.parametrize("machine", [PLAIN, FUSED], ids=["plain", "fused"])
@pytest.mark.parametrize("dtype", [f32, f64], ids=repr)
def test_one_plus_tanh(dtype: Any, machine: Machine, operands: str) -> None:
    func = kernel(dtype, f"%r = loop.binary {operands} {{kind = add}} : V")
    expand(func, machine)
    verify(func)
    x = numbers(dtype, LANES * (64 if machine is PLAIN else 4))
    found = np.zeros_like(x)
    run_loops(func, [x, found, len(x)])
    with np.errstate(all="ignore"):
        wide = x.astype(np.longdouble if dtype is f64 else np.float64)
        exact = 2 / (1 + np.exp(-2 * wide))
    assert units(found, exact).max() <= BOUND
    assert found[0] == found[1] == 1


KEPT = {
    "of which the tanh is wanted, too": (
        f32,
        "%sum = loop.binary %ones, %tanh {kind = add} : V\n"
        "    %r = loop.binary %sum, %tanh {kind = multiply} : V",
    ),
    "of another number": (f32, "%r = loop.binary %x, %tanh {kind = add} : V"),
    "that are no sum": (f32, "%r = loop.binary %ones, %tanh {kind = subtract} : V"),
    "of narrow floats": (bf16, "%r = loop.binary %ones, %tanh {kind = add} : V"),
}


@pytest.mark.parametrize("name", KEPT)
def test_pairs_that_stay(name: str) -> None:
    func = kernel(*KEPT[name])
    before = print_func(func)
    join_pairs(func, FUSED)
    assert print_func(func) == before
