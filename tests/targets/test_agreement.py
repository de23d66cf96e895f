"""Random programs agree between the CPU, with and without fusion, and the interpreter."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import bf16, f32
from brimstone.ir.func import Module
from kit.agreeing import STEPS, program
from kit.agreement import disagreement, dtype_of, first_difference, on_cpu, report, trials

PROGRAMS = 20
DRAWN = 200
AT_ONCE = 5


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, PROGRAMS, AT_ONCE))
def test_random_programs_agree(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        assert disagreement(seed) is None, f"python -m kit.agreement 1 {seed}"


def test_programs_differ_in_all_that_they_may() -> None:
    ops = {op.name for seed in range(DRAWN) for op in program(seed, f32).walk()}
    assert len(ops) > 2 * len({*STEPS})
    assert {dtype_of(seed) for seed in range(3)} == {f32, bf16}


def test_inputs_are_now_and_then_special_or_empty() -> None:
    found = [trial.arguments[0] for seed in range(20) for trial in trials(seed, f32)]
    assert any(not each.size for each in found)
    assert any(np.isnan(each).any() and np.isinf(each).any() for each in found)
    assert any(each.size and np.isfinite(each).all() for each in found)


def test_without_fusion_each_op_is_a_kernel() -> None:
    module = Module([program(1, f32)])
    fused, apart = (on_cpu(module, each).code.module for each in (True, False))
    assert len(fused.funcs) < len(apart.funcs)


F32 = np.float32
X = np.array([1.0, 2.0, 3.0], F32)


@pytest.mark.parametrize(
    ("found", "plain", "problem"),
    [
        (X, X, None),
        (X + F32(3e-7), X, None),
        (X + F32(1e-4), X, "result 0 at [0] of [3] is 1.000"),
        (X * F32(np.nan), X, "is nan, not 1.0"),
        (X, X * F32(np.nan), "is 1.0, not nan"),
        (X * F32(np.inf), X * F32(-np.inf), "is inf, not -inf"),
        (X * F32(np.nan), X * F32(np.nan), None),
        (X[:2], X, "is float32(2,), not float32(3,)"),
        (np.array([1, 2]), np.array([1, 3]), "is 2, not 3"),
        (np.array([True]), np.array([False]), "is True, not False"),
    ],
)
def test_what_agrees(found: Any, plain: Any, problem: str | None) -> None:
    reason = first_difference([found], [plain], [plain.astype(np.float64)], 1.0)
    assert reason is None if problem is None else problem in str(reason)


def test_errors_of_the_plain_run_are_allowed_four_times() -> None:
    wide = X.astype(np.float64)
    plain = X + F32(0.001)
    assert first_difference([X - F32(0.0035)], [plain], [wide], 0.0) is None
    assert first_difference([X - F32(0.0045)], [plain], [wide], 0.0) is not None


def test_the_command_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert not report(2, first=3)
    assert capsys.readouterr().out.startswith("2 programs, 0 disagree, ")
