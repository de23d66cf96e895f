"""Losses and their gradients agree with those of PyTorch, in float64.

PyTorch is a peer, never a dependency: these tests run where it happens to be installed.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")
# PyTorch says of the mean of kl_div what the docstring of ours says.
pytestmark = pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss")

Array = np.ndarray[Any, np.dtype[Any]]
RANDOM = np.random.default_rng(5)
N, CLASSES = 4, 5
SCORES, OTHER, THIRD = RANDOM.normal(size=(3, N, CLASSES))
SHARES = np.exp(RANDOM.normal(size=(N, CLASSES)))
SHARES /= SHARES.sum(axis=1, keepdims=True)
UNIT, VARIANCE = RANDOM.uniform(0.05, 0.95, (2, N, CLASSES))
COUNTS = np.floor(RANDOM.uniform(0, 6, (N, CLASSES)))
BITS = (RANDOM.uniform(size=(N, CLASSES)) < 0.5) * 1.0
SIGNS, ROW_SIGNS = 2 * BITS - 1, np.array([1.0, -1, -1, 1])
PLACES, SOME_PLACES = np.array([3, 0, 4, 1]), np.array([3, -100, 4, -100])
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.0, 1.5])
IMAGES = RANDOM.normal(size=(N, CLASSES, 3))
IMAGE_PLACES = np.array([[0, 1, 4], [2, 2, 3], [4, 0, 1], [3, 1, 0]])
LISTS = np.array([[3, 0, -1, 1, 2], [4, -1, 0, 0, 0], [-1, 1, 2, 0, 0], [0, 1, 2, 3, 4]])


class Row(NamedTuple):
    """A module of both libraries, its settings, what it is given, and how many of these are
    differentiated; tensors among the settings are arrays here."""

    name: str
    settings: dict[str, Any]
    inputs: tuple[Array, ...]
    differentiated: int = 1


SMOOTH = {"label_smoothing": 0.2}
WEIGHED = {"weight": WEIGHTS}
ROWS = [
    Row("L1Loss", {}, (SCORES, OTHER), 2),
    Row("MSELoss", {}, (SCORES, OTHER), 2),
    Row("HuberLoss", {"delta": 0.7}, (SCORES, OTHER), 2),
    Row("SmoothL1Loss", {"beta": 0.7}, (SCORES, OTHER), 2),
    Row("SmoothL1Loss", {"beta": 0.0}, (SCORES, OTHER), 2),
    Row("PoissonNLLLoss", {}, (SCORES, COUNTS)),
    Row("PoissonNLLLoss", {"full": True}, (SCORES, COUNTS)),
    Row("PoissonNLLLoss", {"log_input": False}, (UNIT, COUNTS)),
    Row("GaussianNLLLoss", {}, (SCORES, OTHER, VARIANCE), 3),
    Row("GaussianNLLLoss", {"full": True, "eps": 0.5}, (SCORES, OTHER, VARIANCE), 3),
    Row("GaussianNLLLoss", {}, (SCORES, OTHER, VARIANCE[:, :1]), 3),
    Row("GaussianNLLLoss", {}, (SCORES, OTHER, VARIANCE[:, 0]), 3),
    Row("CrossEntropyLoss", {}, (SCORES, PLACES)),
    Row("CrossEntropyLoss", SMOOTH, (SCORES, PLACES)),
    Row("CrossEntropyLoss", WEIGHED, (SCORES, PLACES)),
    Row("CrossEntropyLoss", SMOOTH | WEIGHED, (SCORES, PLACES)),
    Row("CrossEntropyLoss", {"ignore_index": -100}, (SCORES, SOME_PLACES)),
    Row("CrossEntropyLoss", SMOOTH | WEIGHED | {"ignore_index": 0}, (SCORES, PLACES)),
    Row("CrossEntropyLoss", {}, (SCORES, SHARES), 2),
    Row("CrossEntropyLoss", SMOOTH | WEIGHED, (SCORES, SHARES), 2),
    Row("CrossEntropyLoss", SMOOTH | WEIGHED, (IMAGES, IMAGE_PLACES)),
    Row("CrossEntropyLoss", {}, (SCORES[0], np.array(2))),
    Row("NLLLoss", {}, (SCORES, PLACES)),
    Row("NLLLoss", WEIGHED | {"ignore_index": 4}, (IMAGES, IMAGE_PLACES)),
    Row("KLDivLoss", {}, (SCORES, SHARES), 2),
    Row("KLDivLoss", {"log_target": True}, (SCORES, OTHER), 2),
    Row("BCELoss", {}, (UNIT, BITS)),
    Row("BCELoss", {"weight": WEIGHTS}, (UNIT, SHARES)),
    Row("BCEWithLogitsLoss", {}, (SCORES, BITS), 2),
    Row("BCEWithLogitsLoss", {"weight": WEIGHTS, "pos_weight": 3 * WEIGHTS}, (SCORES, SHARES)),
    Row("MarginRankingLoss", {"margin": 0.3}, (SCORES, OTHER, SIGNS), 2),
    Row("HingeEmbeddingLoss", {"margin": 0.6}, (SCORES, SIGNS)),
    Row("CosineEmbeddingLoss", {"margin": -0.2}, (SCORES, OTHER, ROW_SIGNS), 2),
    Row("SoftMarginLoss", {}, (SCORES, SIGNS)),
    Row("TripletMarginLoss", {}, (SCORES, OTHER, THIRD), 3),
    Row("TripletMarginLoss", {"p": 1.0, "swap": True, "margin": 3.0}, (SCORES, OTHER, THIRD), 3),
    Row("MultiMarginLoss", {}, (SCORES, PLACES)),
    Row("MultiMarginLoss", {"p": 2, "margin": 0.5, **WEIGHED}, (SCORES, PLACES)),
    Row("MultiLabelMarginLoss", {}, (SCORES, LISTS)),
]
REDUCED = [(row, reduction) for row in ROWS for reduction in ("mean", "sum", "none")]
NAMES = [f"{at}: {row.name}, {kind}" for at, (row, kind) in enumerate(REDUCED)]


def with_tensors(settings: dict[str, Any], make: Any) -> dict[str, Any]:
    return {
        name: make(value) if isinstance(value, np.ndarray) else value
        for name, value in settings.items()
    }


@pytest.mark.parametrize(("row", "reduction"), REDUCED, ids=NAMES)
def test_values_and_gradients_agree(row: Row, reduction: str) -> None:
    settings = row.settings | {"reduction": reduction}
    theirs = getattr(torch.nn, row.name)(**with_tensors(settings, torch.tensor))
    ours = getattr(nn, row.name)(**with_tensors(settings, bs.asarray))
    given = [torch.tensor(each) for each in row.inputs]
    differentiated = [each.requires_grad_() for each in given[: row.differentiated]]
    expected = theirs(*given)
    weights = np.cos(np.arange(expected.numel())).reshape(tuple(expected.shape))
    slopes = torch.autograd.grad((expected * torch.asarray(weights)).sum(), differentiated)

    def total(*inputs: Any) -> Any:
        losses = ours(*inputs)
        return (losses * weights).sum(), losses

    places = tuple(range(row.differentiated))
    differentiate = bs.value_and_grad(total, argnums=places, has_aux=True)
    (_, losses), found = differentiate(*map(bs.asarray, row.inputs))
    assert losses.dtype == bs.float64
    np.testing.assert_allclose(losses.numpy(), expected.numpy(force=True), rtol=1e-9, atol=1e-12)
    for own, peer in zip(found, slopes, strict=True):
        np.testing.assert_allclose(own.numpy(), peer.numpy(), rtol=1e-7, atol=1e-10)


STEPS = RANDOM.normal(size=(6, N, CLASSES))
TARGETS = np.array([[1, 2, 3], [2, 2, 1], [4, 4, 4], [1, 1, 1]])
TIMES, LENGTHS = np.array([6, 4, 3, 5]), np.array([3, 2, 3, 0])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("blank", [0, 4])
def test_ctc_agrees(reduction: Any, blank: int) -> None:
    """PyTorch's gradient is right behind log_softmax only."""
    targets = TARGETS if blank == 0 else TARGETS - 1
    settings = {"blank": blank, "reduction": reduction, "zero_infinity": True}
    x = torch.tensor(STEPS, requires_grad=True)
    rest = [torch.tensor(each) for each in (targets, TIMES, LENGTHS)]
    expected = torch.nn.CTCLoss(**settings)(x.log_softmax(-1), *rest)
    expected.sum().backward()

    def loss(x: Any) -> Any:
        losses = nn.ctc_loss(bs.log_softmax(x), targets, TIMES, LENGTHS, **settings)
        return losses.sum(), losses

    (_, losses), found = bs.value_and_grad(loss, has_aux=True)(bs.asarray(STEPS))
    np.testing.assert_allclose(losses.numpy(), expected.numpy(force=True), rtol=1e-9)
    np.testing.assert_allclose(found.numpy(), x.grad.numpy(), rtol=1e-7, atol=1e-10)
