"""Loops that divide by what they do not change: the same quotients, by multiplication."""

from typing import Any

import numpy as np
import pytest

import brimstone.ir.loop  # noqa: F401 (declares the ops that texts name)
from brimstone.ir.dtypes import f32, f64
from brimstone.ir.func import Func
from brimstone.ir.loop import run_loops
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from brimstone.ir.verifier import verify
from brimstone.passes.expand import expand
from brimstone.passes.expand.quotients import ROUNDS, share_reciprocals
from kit.expanded import FUSED, PLAIN

LANES = 8
LONG = LANES * (ROUNDS + 1)
QUOTIENT = "%r = loop.binary %x, %all {kind = divide} : V"


def kernel(dtype: Any = f32, ops: str = QUOTIENT, store: str = "") -> Func:
    """`%r` of vectors `%x`, where `%all` is one number of every lane."""
    vector = f"vec<{LANES}, {dtype}>"
    store = store or "loop.store_vector %out, %i, %r"
    return parse(f"""
func @kernel(%xs: buffer<{dtype}, global>, %y: scalar<{dtype}>, %out: buffer<{dtype}, global>,
             %count: scalar<i64>) {{
  %zero = loop.constant {{value = 0}} : scalar<i64>
  %step = loop.constant {{value = {LANES}}} : scalar<i64>
  %all = loop.splat %y {{lanes = {LANES}}} : {vector}
  loop.for %zero, %count, %step (%i: scalar<i64>) {{
    %x = loop.load_vector %xs, %i {{lanes = {LANES}}} : {vector}
    {ops.replace("V", vector)}
    {store}
    yield
  }}
  return
}}""").main


def divided(x: Any, y: float) -> Any:
    """What the kernel makes once it is expanded."""
    func = kernel()
    expand(func, FUSED)
    verify(func)
    out = np.zeros_like(x)
    run_loops(func, [x, y, out, len(x)])
    return out


DENOMINATORS = [
    1.0, 3.0, -7.0, 0.1, 49.0, 1e6, 2.0**40, 1.1 * 2.0**40, 2.0**-40, 0.9 * 2.0**-40,
    1e30, 1e-30, 1e-45, 0.0, -0.0, np.inf, -np.inf, np.nan,
]  # fmt: skip


@pytest.mark.parametrize("count", [0, LANES, LONG - LANES, LONG])
@pytest.mark.parametrize("y", DENOMINATORS, ids=repr)
def test_quotients_are_those_of_division(y: float, count: int) -> None:
    rng = np.random.default_rng(count)
    sizes = 2.0 ** rng.uniform(-149, 127, LONG) * rng.choice([-1, 1], LONG)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3.4e38]
    x = np.array([*sizes[: LONG // 2], *special, *rng.standard_normal(LONG)], f32.storage)[:count]
    divisor = f32.storage.type(y)
    with np.errstate(all="ignore"):
        exact = x / divisor
    found = divided(x, divisor)
    assert np.array_equal(np.isnan(found), np.isnan(exact))
    real = ~np.isnan(exact)
    assert np.array_equal(found[real].view(np.uint32), exact[real].view(np.uint32))


def test_a_long_loop_has_a_twin_that_multiplies() -> None:
    func = kernel()
    share_reciprocals(func, FUSED)
    verify(func)
    text = print_func(func)
    assert text.count("loop.for") == 2
    assert text.count("kind = divide") == 3  # 1 / y, what is uncertain, and the loop as it was
    assert text.count("loop.fma") == 2


def test_rounds_that_are_known_need_no_second_loop() -> None:
    for count in (LONG, LONG - LANES):
        func = parse(
            print_func(kernel())
            .replace(", %count: scalar<i64>", "")
            .replace(
                "  %zero =",
                f"  %count = loop.constant {{value = {count}}} : scalar<i64>\n  %zero =",
            )
        ).main
        share_reciprocals(func, FUSED)
        text = print_func(func)
        assert text.count("loop.for") == 1
        assert ("loop.fma" in text) == (count == LONG)


SLOW = "".join(
    f"%s{each} = loop.binary %{f's{each - 1}' if each else 'q'}, %x {{kind = add}} : V\n    "
    for each in range(9)
)
KEPT = {
    "of f64": {"dtype": f64},
    "by what changes": {"ops": "%r = loop.binary %all, %x {kind = divide} : V"},
    "beside much else": {
        "ops": "%q = loop.binary %x, %all {kind = divide} : V\n    "
        + SLOW
        + "%r = loop.binary %s8, %x {kind = subtract} : V"
    },
    "beside a function": {
        "ops": "%e = loop.unary %x {kind = exp} : V\n"
        "    %r = loop.binary %e, %all {kind = divide} : V"
    },
    "in a tail": {
        "store": "%some = loop.compare %x, %all {kind = less} : "
        f"vec<{LANES}, bool>\n    loop.store_masked %out, %i, %r, %some"
    },
}


@pytest.mark.parametrize("name", KEPT)
def test_divisions_that_stay(name: str) -> None:
    func = kernel(**KEPT[name])
    before = print_func(func)
    share_reciprocals(func, FUSED)
    assert print_func(func) == before


def test_without_multiply_add_in_one_divisions_stay() -> None:
    func = kernel()
    before = print_func(func)
    share_reciprocals(func, PLAIN)
    assert print_func(func) == before
