"""Activations and their gradients agree with those of PyTorch, in float64, at bends too.

PyTorch is a peer, never a dependency: these tests run where it happens to be installed.
"""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")

# Between bends, at bends, and far out.
POINTS = np.array(
    [[-40.0, -3.5, -1.7, -0.7, -0.2, 0.3, 0.8, 1.9, 3.2, 45.0],
     [-6.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 20.0]]
)  # fmt: skip
WEIGHTS = np.cos(np.arange(POINTS.size)).reshape(POINTS.shape)

# The name of a module in both libraries, and its settings.
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("CELU", {}), ("CELU", {"alpha": 2.0}), ("ELU", {}), ("ELU", {"alpha": 0.5}),
    ("GELU", {}), ("GELU", {"approximate": "tanh"}), ("GLU", {}), ("Hardshrink", {}),
    ("Hardshrink", {"lambd": 1.0}), ("Hardsigmoid", {}), ("Hardswish", {}), ("Hardtanh", {}),
    ("Hardtanh", {"min_val": -3.0, "max_val": 0.5}), ("LeakyReLU", {}),
    ("LeakyReLU", {"negative_slope": 0.3}), ("LogSigmoid", {}), ("LogSoftmax", {"dim": 1}),
    ("Mish", {}), ("ReLU", {}), ("ReLU6", {}), ("RReLU", {"lower": 0.1, "upper": 0.4}),
    ("SELU", {}), ("Sigmoid", {}), ("SiLU", {}), ("Softmax", {"dim": 0}), ("Softmin", {"dim": 1}),
    ("Softplus", {}), ("Softshrink", {}), ("Softshrink", {"lambd": 1.0}), ("Softsign", {}),
    ("Tanh", {}), ("Tanhshrink", {}), ("Threshold", {"threshold": 0.5, "value": 3.0}),
]  # fmt: skip
NAMES = [f"{name} {settings}" for name, settings in SETTINGS]


@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=NAMES)
def test_values_and_gradients_agree(name: str, settings: dict[str, Any]) -> None:
    ours, theirs = getattr(nn, name)(**settings), getattr(torch.nn, name)(**settings).eval()
    x = torch.tensor(POINTS, requires_grad=True)
    expected = theirs(x)
    weights = WEIGHTS[:, : expected.shape[1]]

    def total(x: Any) -> Any:
        return (ours(x) * weights).sum()

    np.testing.assert_allclose(
        ours(bs.asarray(POINTS)).numpy(), expected.numpy(force=True), rtol=1e-9, atol=1e-12
    )
    (expected * torch.asarray(weights)).sum().backward()
    found = bs.grad(total)(bs.asarray(POINTS)).numpy()
    np.testing.assert_allclose(found, x.grad.numpy(), rtol=1e-7, atol=1e-10)


def test_weights_of_prelu_have_the_same_gradients() -> None:
    x = np.linspace(-2, 2, 12).reshape(2, 3, 2)
    theirs = torch.nn.PReLU(3, dtype=torch.float64)
    theirs(torch.asarray(x)).square().sum().backward()
    ours = nn.PReLU(3, dtype=bs.float64)
    found = bs.grad(lambda model: bs.square(model(bs.asarray(x))).sum())(ours).weight
    np.testing.assert_allclose(found.numpy(), theirs.weight.grad.numpy(), rtol=1e-12)
