"""Gradients of random programs are the transposes of their tangents, and so are those of gradients.

Programs are made of f64 and c128, whatever they were drawn with, and without NaNs, infinities and
large numbers in them; one that makes some all the same is left out. At kinks both ways take the
same derivative, so they may be met.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dtypes import INEXACT
from brimstone.ir.errors import ExecutionError
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func, print_module
from brimstone.ir.verifier import verify
from brimstone.passes.differentiate import jvp, linearise, transpose, vjp
from brimstone.passes.inline import inlined
from brimstone.passes.oracle import choose_sizes, random_arguments
from kit.derivatives import Array, checked, directions, dot, inexact_outputs, like
from kit.invariants import check_invariants
from kit.programs import program, random_plan

PROGRAMS = 500
AT_LEAST = 150
SIZES = (4, 8, 12, 20, 40)
# Functions and a rule of the user's own, which random programs have wrong; what goes forward only;
# what needs bits that the other dtypes do not have; and factors that not all matrices have.
WITHOUT = (
    tensor.Custom, tensor.HostCall, tensor.CustomVjp, tensor.LinearCall, tensor.While,
    tensor.Bitcast, tensor.Cholesky, tensor.Qr, tensor.Lu, tensor.Eigh, tensor.Eig, tensor.Svd,
)  # fmt: skip
TAMED = (
    (r"\b(f8e4m3|f8e5m2|f16|bf16|f32)\b", "f64"),
    (r"\bc64\b", "c128"),
    (r"\bnan\b|\b0x[0-9a-f]+\b", "0.25"),
    (r"\binf\b", "1.5"),
    (r"\b\d{3,}\.\d+\b", "1.25"),
    (r"\b\d\.?\d*e[+-]?\d+\b", "0.75"),
)


def tame(seed: int) -> Func:
    """A program whose numbers are small and of the widest dtypes."""
    plan = random_plan(seed, SIZES[seed % len(SIZES)], False, WITHOUT)
    text = print_module(program(plan))
    for pattern, new in TAMED:
        text = re.sub(pattern, new, text)
    module = parse(text)
    verify(module)
    return inlined(module.main, module)


def outcome(func: Func, arguments: Sequence[Array], sizes: Mapping[str, int], seed: int) -> str:
    """Whether the passes agree, or why that cannot be said."""
    wrt = [value.dtype in INEXACT for value in func.arguments]
    try:
        places, outputs = inexact_outputs(func), interpret(func, *arguments, sizes=sizes)
    except ExecutionError:  # a matrix that has no inverse, now that it has other numbers
        return "fails by itself"
    if not any(wrt) or not all(np.isfinite(outputs[place]).all() for place in places):
        return "nothing to compare"
    rng = np.random.default_rng(seed)
    tangents = directions(arguments, wrt, rng)
    cotangents = [like(rng, outputs[place]) for place in places]
    before, count = print_func(func), len(outputs)
    forward, backward = checked(jvp(func, wrt)), checked(vjp(func, wrt, places))
    parts = linearise(func, wrt)
    turned = checked(transpose(checked(parts.linear), len(parts.residual_sources)))
    assert print_func(func) == before
    for made in (func, forward, backward, parts.forward, parts.linear, turned):
        check_invariants(made)
    residuals = interpret(checked(parts.forward), *arguments, sizes=sizes)[count:]
    pushed = (
        interpret(forward, *arguments, *tangents, sizes=sizes)[count:],
        interpret(parts.linear, *residuals, *tangents, sizes=sizes),
    )
    pulled = (
        interpret(backward, *arguments, *cotangents, sizes=sizes)[count:],
        interpret(turned, *residuals, *cotangents, sizes=sizes),
    )
    products = [dot(cotangents, each) for each in pushed] + [dot(each, tangents) for each in pulled]
    if not np.isfinite(products).all():
        return "not finite"
    pairs = [*zip(cotangents, pushed[0], strict=True), *zip(pulled[0], tangents, strict=True)]
    scale = sum(float(np.sum(np.abs(a * b))) for a, b in pairs)
    assert max(products) - min(products) <= 1e-10 * scale + 1e-12, (products, before)
    return "differentiated" if scale else "constant"


def second(func: Func, arguments: Sequence[Array], sizes: Mapping[str, int], seed: int) -> str:
    """The same of the gradients, as functions of the arguments and the cotangents."""
    places = inexact_outputs(func)
    wrt = [value.dtype in INEXACT for value in func.arguments]
    outputs = interpret(func, *arguments, sizes=sizes)
    rng = np.random.default_rng(seed)
    cotangents = [like(rng, outputs[place]) for place in places]
    return outcome(vjp(func, wrt, places), [*arguments, *cotangents], sizes, seed)


@pytest.mark.slow
def test_gradients_are_transposes_of_tangents(record_summary: list[str]) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(PROGRAMS):
        func = tame(seed)
        choices = choose_sizes(func)
        sizes = choices[seed % len(choices)]
        arguments = random_arguments(func, sizes, np.random.default_rng(seed), special=False)
        found = outcome(func, arguments, sizes, seed)
        outcomes[found] += 1
        if found == "differentiated" and seed % 4 == 0:
            outcomes[f"twice: {second(func, arguments, sizes, seed)}"] += 1
    record_summary.append(f"{PROGRAMS} random programs: {dict(outcomes)}")
    assert outcomes["differentiated"] >= AT_LEAST
    assert outcomes["twice: differentiated"] >= AT_LEAST // 8
