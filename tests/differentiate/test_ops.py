"""Every op's rules: tangents against differences, gradients against tangents, both once more."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import f64
from brimstone.ir.interpreter import interpret
from brimstone.ir.tensor.rules import no_tangent
from brimstone.passes.differentiate import jvp, vjp
from kit import slopes_of_matrices  # noqa: F401 (it adds its cases to the table)
from kit.derivatives import check_derivatives
from kit.recipes import drawable
from kit.slopes import WITHOUT, Case, cases, one_op, rule_of

STILL = [cls for cls in drawable() if rule_of(cls) is no_tangent]
SMOOTH = [cls for cls in drawable() if cls not in STILL and cls not in WITHOUT]
FLAT = [
    tensor.Sign, tensor.Floor, tensor.Ceil, tensor.Truncate, tensor.RoundEven, tensor.Bitcast,
    tensor.StopGradient,
]  # fmt: skip
CASES = [(cls.name, place, case) for cls in SMOOTH for place, case in enumerate(cases(cls))]


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{name}-{n}") for name, n, c in CASES])
def test_derivatives(case: Case) -> None:
    check_derivatives(case.func, case.arguments, case.wrt)


def test_every_op_says_what_its_derivative_is() -> None:
    """It has a rule of its own, or one in a pass, or a reason to have none."""
    for cls in drawable():
        if cls not in WITHOUT:
            assert rule_of(cls) is not tensor.TensorOp.jvp, f"{cls.name} has no rule, and no reason"


@pytest.mark.parametrize("cls", FLAT)
def test_what_stands_still_has_no_tangent(cls: type[Op]) -> None:
    x = np.array([0.5, -1.25, 3])
    case = one_op(cls, x, **({"dtype": f64} if cls is tensor.Bitcast else {}))
    _, tangent = interpret(jvp(case.func, [True]), x, x)
    _, gradient = interpret(vjp(case.func, [True], [0]), x, x)
    assert not tangent.any()
    assert not gradient.any()
