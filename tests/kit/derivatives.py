"""Whether derivatives are right: held against differences, and against each other.

Comes in: a func, arguments, and which of them to differentiate by. Goes out: nothing, or an
assertion. Directions are random, so each check is of one number per output, or of one in all.
Never: a check near a place where the func has no derivative; the arguments stay away from these.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from brimstone.ir.dtypes import INEXACT
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.verifier import verify
from brimstone.passes.differentiate import jvp, linearise, transpose, vjp

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = Sequence[Array]
Run = Callable[..., tuple[Array, ...]]
STEP = 1e-3
BY_DIFFERENCES = 1e-6
BY_IDENTITY = 1e-12


def check_derivatives(
    func: Func, arguments: Arrays, wrt: Sequence[bool], orders: int = 2, **sizes: int
) -> None:
    """First derivatives, forward and backward, and second ones unless `orders` is 1."""
    rng = np.random.default_rng(len(func.name) + len(arguments))
    check_forward(func, arguments, wrt, rng, sizes)
    check_backward(func, arguments, wrt, rng, sizes)
    check_parts(func, arguments, wrt, rng, sizes)
    if orders < 2:
        return
    outputs = inexact_outputs(func)
    if outputs and any(wrt):
        pulled = vjp(func, wrt, outputs)
        cotangents = [like(rng, value) for value in results_of(func, arguments, sizes, outputs)]
        everything = [*arguments, *cotangents], [*wrt, *[True] * len(cotangents)]
        check_forward(pulled, *everything, rng, sizes)
        check_backward(pulled, *everything, rng, sizes)


def check_forward(
    func: Func, arguments: Arrays, wrt: Sequence[bool], rng: Any, sizes: Mapping[str, int]
) -> None:
    """`jvp` gives the outputs of the func, and what differences of them are."""
    pushed = checked(jvp(func, wrt))
    tangents = directions(arguments, wrt, rng)
    made = interpret(pushed, *arguments, *tangents, sizes=sizes)
    outputs = interpret(func, *arguments, sizes=sizes)
    for ours, theirs in zip(made, outputs, strict=False):
        assert_near(ours, theirs, BY_IDENTITY, "an output of jvp")
    slopes = differences(func, arguments, wrt, tangents, sizes)
    for found, expected in zip(made[len(outputs) :], slopes, strict=True):
        assert_near(found, expected, BY_DIFFERENCES, "a tangent")


def check_backward(
    func: Func, arguments: Arrays, wrt: Sequence[bool], rng: Any, sizes: Mapping[str, int]
) -> None:
    """`vjp` is the transpose of `jvp`: Re Σ c·Jt is Re Σ Jᵀc·t."""
    places = inexact_outputs(func)
    tangents = directions(arguments, wrt, rng)
    outputs = interpret(func, *arguments, sizes=sizes)
    cotangents = [like(rng, outputs[place]) for place in places]
    made = interpret(checked(vjp(func, wrt, places)), *arguments, *cotangents, sizes=sizes)
    for ours, theirs in zip(made, outputs, strict=False):
        assert_near(ours, theirs, BY_IDENTITY, "an output of vjp")
    pushed = interpret(jvp(func, wrt), *arguments, *tangents, sizes=sizes)[len(outputs) :]
    assert_dual(cotangents, pushed, made[len(outputs) :], tangents)


def check_gradients(
    func: Func, arguments: Arrays, wrt: Sequence[bool], sizes: Mapping[str, int] | None = None
) -> None:
    """`vjp` gives what differences of the outputs say, along one direction."""
    rng = np.random.default_rng(len(arguments))
    tangents = directions(arguments, wrt, rng)
    slopes = differences(func, arguments, wrt, tangents, sizes or {})
    cotangents = [like(rng, each) for each in slopes]
    pulled = checked(vjp(func, wrt, inexact_outputs(func)))
    made = interpret(pulled, *arguments, *cotangents, sizes=sizes)[len(func.results) :]
    one, other = dot(cotangents, slopes), dot(made, tangents)
    assert abs(one - other) <= BY_DIFFERENCES * max(1.0, abs(one)), (one, other)


def check_parts(
    func: Func, arguments: Arrays, wrt: Sequence[bool], rng: Any, sizes: Mapping[str, int]
) -> None:
    """`linearise` and `transpose` give what `jvp` and `vjp` give."""
    parts = linearise(func, wrt)
    made = interpret(checked(parts.forward), *arguments, sizes=sizes)
    outputs = interpret(func, *arguments, sizes=sizes)
    residuals, count = made[len(outputs) :], len(outputs)
    assert len(residuals) == len(parts.residual_sources)
    for residual, source in zip(residuals, parts.residual_sources, strict=True):
        found = {"argument": arguments, "output": made, "stored": made}[source.origin.value]
        assert found[source.index] is residual or np.array_equal(
            found[source.index], residual, equal_nan=residual.dtype.kind in "fc"
        )
    tangents = directions(arguments, wrt, rng)
    pushed = interpret(checked(parts.linear), *residuals, *tangents, sizes=sizes)
    expected = interpret(jvp(func, wrt), *arguments, *tangents, sizes=sizes)[count:]
    for ours, theirs in zip(pushed, expected, strict=True):
        assert_near(ours, theirs, BY_IDENTITY, "a tangent of the linear func")
    cotangents = [like(rng, each) for each in pushed]
    pulled = checked(transpose(parts.linear, len(residuals)))
    gradients = interpret(pulled, *residuals, *cotangents, sizes=sizes)
    assert_dual(cotangents, pushed, gradients, tangents)


def differences(
    func: Func, arguments: Arrays, wrt: Sequence[bool], tangents: Arrays, sizes: Mapping[str, int]
) -> list[Array]:
    """How the inexact outputs change along the tangents: central differences, extrapolated."""

    def slope(step: float) -> list[Array]:
        high = results_of(func, moved(arguments, wrt, tangents, step), sizes)
        low = results_of(func, moved(arguments, wrt, tangents, -step), sizes)
        return [(above - below) / (2 * step) for above, below in zip(high, low, strict=True)]

    steps = [slope(STEP / 2**power) for power in range(3)]
    for order in (4, 16):
        steps = [
            [(order * fine - coarse) / (order - 1) for coarse, fine in zip(*pair, strict=True)]
            for pair in pairwise(steps)
        ]
    return steps[0]


def moved(arguments: Arrays, wrt: Sequence[bool], tangents: Arrays, step: float) -> list[Array]:
    """The arguments, a step along the tangents."""
    rest = iter(tangents)
    return [
        np.asarray(each + step * next(rest), each.dtype) if flag else each
        for each, flag in zip(arguments, wrt, strict=True)
    ]


def results_of(
    func: Func, arguments: Arrays, sizes: Mapping[str, int], places: Sequence[int] | None = None
) -> list[Array]:
    """The inexact outputs of a func."""
    made = interpret(func, *arguments, sizes=sizes)
    return [made[place] for place in (inexact_outputs(func) if places is None else places)]


def inexact_outputs(func: Func) -> list[int]:
    """At which places a func returns floats or complex numbers."""
    return [place for place, each in enumerate(func.results) if each.dtype in INEXACT]


def directions(arguments: Arrays, wrt: Sequence[bool], rng: Any) -> list[Array]:
    """A random tangent for each argument that has a flag."""
    return [like(rng, each) for each, flag in zip(arguments, wrt, strict=True) if flag]


def like(rng: Any, array: Array) -> Array:
    """Random numbers of an array's shape and dtype."""
    numbers = rng.standard_normal(array.shape)
    if array.dtype.kind == "c":
        numbers = numbers + 1j * rng.standard_normal(array.shape)
    return np.asarray(numbers, array.dtype)


def dot(left: Arrays, right: Arrays) -> float:
    """Re Σ l·r; NaN where infinities cancel."""
    pairs = zip(left, right, strict=True)
    with np.errstate(invalid="ignore"):
        return sum([float(np.real(np.sum(a * b))) for a, b in pairs], 0.0)


def assert_dual(cotangents: Arrays, pushed: Arrays, pulled: Arrays, tangents: Arrays) -> None:
    """c · Jt = Jᵀc · t, up to rounding of the largest terms."""
    one, other = dot(cotangents, pushed), dot(pulled, tangents)
    pairs = [*zip(cotangents, pushed, strict=True), *zip(pulled, tangents, strict=True)]
    scale = sum(float(np.sum(np.abs(a * b))) for a, b in pairs)
    assert np.isfinite(one) and np.isfinite(other)
    assert abs(one - other) <= BY_IDENTITY * max(scale, 1e-300), (one, other)


def assert_near(found: Array, expected: Array, tolerance: float, what: str) -> None:
    """Equal up to a share of the largest number."""
    assert found.dtype == expected.dtype, what
    assert found.shape == expected.shape, what
    if found.dtype.kind not in "fc":
        assert np.array_equal(found, expected), what
        return
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    error = float(np.max(np.abs(found - expected), initial=0.0))
    assert error <= tolerance * scale, f"{what}: {found} is not {expected}"


def checked(func: Func) -> Func:
    """The func, which is verified."""
    verify(func)
    return func
