"""Random programs of loops and choices leave what the same programs leave when Python runs them."""

from random import Random
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.draw_regions import ByPython, Flow, Mean, collected, draw_program


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("seed", range(24))
def test_random_programs_leave_what_python_leaves(seed: int, compiled: bool) -> None:
    models = [nn.Sequential(Mean(1.0)), Mean(0.25), Mean(-0.5)]
    program, start = draw_program(Random(seed), models, 4), bs.asarray([0.75, -0.25])

    def run(x: Any) -> Any:
        return program(Flow(), x)

    whole = bs.jit(run) if compiled else run
    made = collected(lambda: whole(start), *models)
    expected = collected(lambda: program(ByPython(), start), *models)
    for one, other in zip(made, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
