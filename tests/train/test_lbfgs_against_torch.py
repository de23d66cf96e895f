"""L-BFGS makes the steps of PyTorch's, with a line search and without, in float64."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import train

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")

START = np.array([-1.2, 1.0, 0.3])


def valley(x: Any) -> Any:
    """Rosenbrock's function of three numbers."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def bowl(x: Any) -> Any:
    return ((x - 1) ** 4).sum() + (x * x).sum()


@pytest.mark.parametrize("loss", [valley, bowl])
@pytest.mark.parametrize(
    "settings",
    [
        {"lr": 0.02, "max_iter": 6},
        {"lr": 0.02, "max_iter": 1, "history_size": 2},
        {"line_search_fn": "strong_wolfe", "max_iter": 6, "history_size": 3},
        {"line_search_fn": "strong_wolfe", "lr": 5.0, "max_iter": 4, "max_eval": 9},
    ],
    ids=lambda settings: ", ".join(map(str, settings.values())),
)
def test_minimising_takes_the_steps_of_torch(loss: Any, settings: dict[str, Any]) -> None:
    settings = {"history_size": 5, **settings}
    theirs = torch.nn.Parameter(torch.tensor(START))
    peer = torch.optim.LBFGS([theirs], **settings)

    def closure() -> Any:
        peer.zero_grad()
        value = loss(theirs)
        value.backward()
        return value

    optimiser = train.LBFGS(**settings)
    run = bs.jit(lambda model, state: optimiser.minimise(loss, model, state))
    model = bs.asarray(START)
    state = optimiser.initial(model)
    for _ in range(3):
        peer.step(closure)
        model, state, value = run(model, state)
        np.testing.assert_allclose(model.numpy(), theirs.numpy(force=True), rtol=1e-7)
        assert float(value) == pytest.approx(float(loss(theirs.detach())), rel=1e-6)
