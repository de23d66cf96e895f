"""Optimisers make the steps of PyTorch's with the same settings, in float64."""

from typing import Any

import numpy as np
import pytest

from kit.optimisers import CASES, MODEL, STEPS, shapes_of, slope, trained

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")

NAMES = {"AdaGrad": "Adagrad", "RMSProp": "RMSprop"}
SHARED = [case for case, (name, _) in CASES.items() if hasattr(torch.optim, NAMES.get(name, name))]
# PyTorch computes the iteration of Muon in bfloat16, and keeps NAdam's product in float32.
TOLERANCES = {"Muon": 0.03, "NAdam": 1e-7}


@pytest.mark.parametrize("case", SHARED)
def test_steps_are_those_of_torch(case: str) -> None:
    name, settings = CASES[case]
    model = {each: torch.nn.Parameter(torch.tensor(MODEL[each])) for each in shapes_of(name)}
    optimiser = getattr(torch.optim, NAMES.get(name, name))(model.values(), **settings)
    for step in range(STEPS):
        for each, parameter in model.items():
            parameter.grad = torch.tensor(slope(step, each, parameter.numpy(force=True)))
        optimiser.step()
    tolerance = TOLERANCES.get(name, 1e-9)
    for part, found in trained(case).items():
        expected = model[part].numpy(force=True)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
