"""Control: loops and branches that carry values."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.errors import ExecutionError
from brimstone.ir.interpreter import interpret
from kit.loops import kernel, loops, refusal


def indices(
    lower: int, upper: int, step: int, attributes: str = "", dtype: str = "i64"
) -> list[int]:
    """The indices of a loop, in the order in which it comes to them."""
    func = loops(
        f"func @f(%b: buffer<{dtype}, global>, %n: buffer<i64, global>, %l: scalar<{dtype}>, "
        f"%u: scalar<{dtype}>, %s: scalar<{dtype}>, %zero: scalar<i64>, %one: scalar<i64>) {{\n"
        f"  loop.for %l, %u, %s{attributes} (%i: scalar<{dtype}>) {{\n"
        "    %at = loop.atomic %n, %zero, %one {kind = add} : scalar<i64>\n"
        "    loop.store %b, %at, %i\n    yield\n  }\n  return\n}"
    )
    seen, count = np.zeros(20, dtype.replace("i", "int")), np.zeros(1, np.int64)
    interpret(func, seen, count, lower, upper, step, 0, 1)
    return list(seen[: count[0]])


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize(
    "bounds", [(0, 0, 1), (0, 1, 1), (0, 13, 1), (-3, 4, 2), (5, 2, 1), (2, 9, 7), (2, 10, 7)]
)
def test_a_loop_counts(bounds: tuple[int, int, int], dtype: str) -> None:
    assert indices(*bounds, dtype=dtype) == list(range(*bounds))


def test_a_loop_may_end_at_the_greatest_number() -> None:
    top = 2**63 - 1
    assert indices(top - 3, top, 2) == [top - 3, top - 1]


def test_a_parallel_loop_runs_backwards_so_that_a_false_claim_shows() -> None:
    assert indices(0, 5, 2, " {parallel = true}") == [4, 2, 0]


def test_hints_change_nothing() -> None:
    assert indices(0, 7, 3, " {unroll = 4, vectorise = 8}") == [0, 3, 6]


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_is_positive(step: int) -> None:
    with pytest.raises(ExecutionError, match=rf"kernel.ir:2: loop.for: .*not positive: {step}"):
        indices(0, 3, step)


def test_carries_go_from_round_to_round() -> None:
    func = loops(
        "func @fibonacci(%n: scalar<i32>, %zero: scalar<i32>, %one: scalar<i32>) "
        "-> (scalar<i32>, scalar<i32>) {\n"
        "  %x, %y = loop.for %zero, %n, %one, %zero, %one {unroll = 2, parallel = false, "
        "vectorise = 1} (%i: scalar<i32>, %a: scalar<i32>, %b: scalar<i32>) {\n"
        "    %c = loop.binary %a, %b {kind = add} : scalar<i32>\n    yield %b, %c\n"
        "  } : scalar<i32>, scalar<i32>\n  return %x, %y\n}"
    )
    assert [int(x) for x in interpret(func, 10, 0, 1)] == [55, 89]
    assert [int(x) for x in interpret(func, 0, 0, 1)] == [0, 1]


BRANCH = (
    "func @f(%p: scalar<bool>, %x: scalar<f32>, %v: vec<2, f32>) "
    "-> (vec<2, f32>, scalar<f32>) {\n"
    "  %a, %b = loop.if %p, %x (%c: scalar<f32>) {\n"
    "    %w = loop.splat %c {lanes = 2} : vec<2, f32>\n    yield %w, %c\n"
    "  } (%d: scalar<f32>) {\n"
    "    %e = loop.unary %d {kind = negate} : scalar<f32>\n    yield %v, %e\n"
    "  } : vec<2, f32>, scalar<f32>\n  return %a, %b\n}"
)


def test_a_branch_yields_what_its_region_yields() -> None:
    func, row = loops(BRANCH), np.array([1, 2], np.float32)
    vector, number = interpret(func, True, 5.0, row)
    assert list(vector) == [5, 5] and number == 5
    vector, number = interpret(func, False, 5.0, row)
    assert list(vector) == [1, 2] and number == -5


def test_only_the_branch_that_is_taken_runs() -> None:
    func = kernel(
        "%p: scalar<bool>, %b: buffer<f32, global>, %i: scalar<i64>, %x: scalar<f32>",
        "  loop.if %p () {\n    loop.store %b, %i, %x\n    yield\n  } () {\n    yield\n  }",
    )
    buffer = np.zeros(1, np.float32)
    interpret(func, False, buffer, 999, 1.0)
    assert not buffer[0]
    with pytest.raises(ExecutionError, match=r"kernel.ir:3: loop.store: index 999 is outside"):
        interpret(func, True, buffer, 999, 1.0)


def test_a_while_may_not_run_at_all() -> None:
    func = loops(
        "func @log2(%x: scalar<i64>, %zero: scalar<i64>, %one: scalar<i64>) -> scalar<i64> {\n"
        "  %y, %n = loop.while %x, %zero (%a: scalar<i64>, %c: scalar<i64>) {\n"
        "    %p = loop.compare %one, %a {kind = less} : scalar<bool>\n    yield %p\n"
        "  } (%b: scalar<i64>, %d: scalar<i64>) {\n"
        "    %h = loop.binary %b, %one {kind = shift_right} : scalar<i64>\n"
        "    %e = loop.binary %d, %one {kind = add} : scalar<i64>\n    yield %h, %e\n"
        "  } : scalar<i64>, scalar<i64>\n  return %n\n}"
    )
    assert [int(interpret(func, x, 0, 1)[0]) for x in (0, 1, 2, 1000)] == [0, 0, 1, 9]


I64, BUFFER = "scalar<i64>", "buffer<f32, global>"
LOOP = "loop.for %i, %i, %i{attributes} (%a: scalar<i64>) {{\n    yield\n  }}"


@pytest.mark.parametrize(
    ("text", "result", "types", "message"),
    [
        (LOOP.format(attributes=" {unroll = 0}"), "", {"i": I64}, "unrolled at least once: 0"),
        (LOOP.format(attributes=" {vectorise = 0}"), "", {"i": I64}, "at least one lane: 0"),
        (
            "loop.for %i, %i, %i, %x {parallel = true} (%a: scalar<i64>, %c: scalar<f32>) {\n"
            "    yield %c\n  }",
            "scalar<f32>",
            {"i": I64, "x": "scalar<f32>"},
            "a parallel loop carries nothing: scalar<f32>",
        ),
        (
            "loop.for %i, %j, %i (%a: scalar<i64>) {\n    yield\n  }",
            "",
            {"i": I64, "j": "scalar<i32>"},
            "upper has type scalar<i32>, expected scalar<i64> (from lower)",
        ),
        (
            f"loop.for %i, %i, %i, %x (%a: scalar<i64>, %c: {BUFFER}) {{\n    yield %c\n  }}",
            BUFFER,
            {"i": I64, "x": BUFFER},
            "a buffer is not carried: buffer<f32, global>",
        ),
        (
            "loop.if %p () {\n    yield %x\n  } () {\n    yield %y\n  }",
            BUFFER,
            {"p": "scalar<bool>", "x": BUFFER, "y": BUFFER},
            "a buffer is not carried: buffer<f32, global>",
        ),
        (
            "loop.if %p () {\n    yield %p\n  } () {\n    yield\n  }",
            "scalar<bool>",
            {"p": "scalar<bool>"},
            "the region on_false yields (), expected (scalar<bool>)",
        ),
        (
            "loop.if %p () {\n    yield\n  }", "", {"p": "scalar<bool>"}, "loop.if has 2 regions",
        ),
    ],
)  # fmt: skip
def test_control_refuses(text: str, result: str, types: Any, message: str) -> None:
    assert message in refusal(text, result, **types)
