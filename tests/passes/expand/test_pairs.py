"""Pairs of ops that become one function: how good it is, and what is left as it is."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import bf16, f32, f64
from brimstone.ir.func import Func
from brimstone.ir.loop import Binary, BinaryKind, For, run_loops
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


def computed(func: Func, machine: Machine, x: Any) -> Any:
    """What a kernel makes of numbers, once it is expanded."""
    expand(func, machine)
    verify(func)
    found = np.zeros_like(x)
    run_loops(func, [x, found, len(x)])
    return found


def exact(x: Any) -> Any:
    """1 + tanh(x), with more bits."""
    wide = x.astype(np.longdouble if x.dtype == np.float64 else np.float64)
    with np.errstate(all="ignore"):
        return 2 / (1 + np.exp(-2 * wide))


EACH = [
    pytest.mark.parametrize("machine", [PLAIN, FUSED], ids=["plain", "fused"]),
    pytest.mark.parametrize("dtype", [f32, f64], ids=repr),
]
SUMS = ["%ones, %tanh", "%tanh, %ones"]
SUM = "%sum = loop.binary %ones, %tanh {kind = add} : V\n    "


def on_each(test: Any) -> Any:
    """The test, for both machines and both dtypes."""
    for mark in EACH:
        test = mark(test)
    return test


@pytest.mark.parametrize("operands", SUMS)
@on_each
def test_one_plus_tanh(dtype: Any, machine: Machine, operands: str) -> None:
    func = kernel(dtype, f"%r = loop.binary {operands} {{kind = add}} : V")
    x = numbers(dtype, LANES * (64 if machine is PLAIN else 4))
    found = computed(func, machine, x)
    assert units(found, exact(x)).max() <= BOUND
    assert found[0] == found[1] == 1


@pytest.mark.parametrize("operands", ["%sum, %x", "%x, %sum"])
@on_each
def test_a_product_with_it_is_a_quotient(dtype: Any, machine: Machine, operands: str) -> None:
    func = kernel(dtype, f"{SUM}%r = loop.binary {operands} {{kind = multiply}} : V")
    x = numbers(dtype, LANES * 4)
    found = computed(func, machine, x)
    assert kinds(func).count(BinaryKind.DIVIDE) == 1
    with np.errstate(all="ignore"):
        wanted = x * exact(x)
    normal = np.abs(wanted) > np.finfo(x.dtype).tiny
    assert units(found[normal], wanted[normal]).max() <= BOUND
    assert np.array_equal(np.isnan(found), np.isnan(x) | (x == -np.inf))
    assert found[x == -1e30] == 0
    assert found[x == np.inf] == np.inf


OTHER_USES = {
    "its square": "%r = loop.binary %sum, %sum {kind = multiply} : V",
    "a difference": "%r = loop.binary %x, %sum {kind = subtract} : V",
    "two products": "%p = loop.binary %x, %sum {kind = multiply} : V\n"
    "    %r = loop.binary %p, %sum {kind = multiply} : V",
}


@pytest.mark.parametrize("use", OTHER_USES)
def test_other_uses_are_of_the_sum_itself(use: str) -> None:
    func = kernel(f32, SUM + OTHER_USES[use])
    x = numbers(f32, LANES)
    found, total = computed(func, FUSED, x), exact(x)
    with np.errstate(all="ignore"):
        wanted = {"its square": total**2, "a difference": x - total, "two products": x * total**2}
        np.testing.assert_allclose(found, wanted[use], rtol=1e-6, atol=1e-37)


def test_a_product_in_a_further_loop_stays_one() -> None:
    """Where a product is made more often than the sum, a quotient would be more work."""
    ops = f"""{SUM}%r = loop.for %zero, %step, %step, %x (%j: scalar<i64>, %sofar: V) {{
      %more = loop.binary %sofar, %sum {{kind = multiply}} : V
      yield %more
    }} : V"""
    func = kernel(f32, ops)
    expand(func, FUSED)
    inner = next(op for op in func.walk() if isinstance(op, For) and op.carries)
    assert [op.kind for op in inner.body if isinstance(op, Binary)] == [BinaryKind.MULTIPLY]


def kinds(func: Func) -> list[BinaryKind]:
    """The arithmetic of a func."""
    return [op.kind for op in func.walk() if isinstance(op, Binary)]


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
