"""Steps on several devices: what one device would have done, up to the order of sums."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn, train
from brimstone.frontend.errors import ArgumentError, DeviceError

BOTH = ("reference", "cpu")


class Model(nn.Module):
    def __init__(self) -> None:
        self.first, self.norm = nn.Linear(3, 4), nn.LayerNorm(4)
        self.last = nn.Linear(4, 1)
        self.scale = nn.Buffer(bs.ones((1,)))

    def forward(self, x: Any) -> Any:
        """[n, 3] -> [n, 1]"""
        return self.last(bs.tanh(self.norm(self.first(x)))) * self.scale


def loss(model: Any, batch: Any) -> Any:
    made = model(batch["x"])
    return ((made - batch["y"]) ** 2 * batch["weight"]).mean(), made


def batch_of(rows: int) -> dict[str, Any]:
    x = np.linspace(-1, 1, rows * 3, dtype=np.float32).reshape(rows, 3)
    y = np.sin(3 * x).sum(1, keepdims=True).astype(np.float32)
    return {"x": bs.asarray(x), "y": bs.asarray(y), "weight": bs.asarray(np.float32(0.5))}


def distance(outputs: Any, batch: Any) -> Any:
    return bs.abs(outputs - batch["y"]).mean()


def run(rows: list[int], **settings: Any) -> tuple[list[dict[str, float]], Any]:
    bs.manual_seed(3)
    learner = train.Learner(
        loss, train.optimisers.AdamW(0.01), metrics={"distance": distance}, **settings
    )
    with bs.device("reference"):
        state = learner.begin(Model())
        seen: list[dict[str, float]] = []
        for count, each in enumerate(rows):
            state, report = learner.step(state, batch_of(each), count)
            seen.append({"loss": report.loss.item(), "distance": report.values["distance"].item()})
    return seen, state


def check_same(rows: list[int], **settings: Any) -> None:
    one, before = run(rows, **settings)
    two, after = run(rows, devices=BOTH, **settings)
    for own, other in zip(one, two, strict=True):
        assert own == pytest.approx(other, rel=1e-5)
    for own, other in zip(bs.tree_leaves(before), bs.tree_leaves(after), strict=True):
        assert str(other.device) == BOTH[0]
        np.testing.assert_allclose(np.asarray(own), np.asarray(other), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rows", [[8, 8, 8], [7, 5], [2, 1, 3]])
def test_the_same_as_on_one_device(rows: list[int]) -> None:
    """Parts of different sizes weigh as much as they have items; a part may be missing."""
    check_same(rows)


def test_with_clipping_and_gradients_of_several_batches() -> None:
    check_same([6, 6, 6, 6], accumulate=2, clip=train.ClipGlobalNorm(0.1))


def test_a_scaled_loss() -> None:
    one, _ = run([8, 8], precision="float16")
    two, _ = run([8, 8], precision="float16", devices=BOTH)
    for own, other in zip(one, two, strict=True):
        assert own == pytest.approx(other, rel=1e-2)


def test_other_devices_drop_other_numbers() -> None:
    seen: list[Any] = []

    def dropped(model: Any, batch: Any) -> Any:
        made = model(batch)
        return made.mean(), made

    class Kept:
        def update(self, outputs: Any, targets: Any) -> None:
            seen.append(np.asarray(outputs))

        def value(self) -> float:
            return 0.0

        def reset(self) -> None:
            seen.clear()

    learner = train.Learner(
        dropped, train.optimisers.SGD(0.1), metrics={"kept": Kept()}, devices=BOTH,
        targets=lambda batch: batch,
    )  # fmt: skip
    with bs.device("reference"):
        model = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.5))
        state = learner.begin(model)
        _, report = learner.step(state, bs.ones((2, 16)))
    first, second = np.asarray(report.outputs)
    assert report.outputs.shape == (2, 16)
    assert ((first == 0) != (second == 0)).any()


def test_a_batch_that_is_not_finite_is_told() -> None:
    with bs.device("reference"):
        learner = train.Learner(
            lambda model, batch: bs.log(-bs.abs(model(batch))).mean(), train.SGD(), devices=BOTH
        )
        batches = [bs.full((4, 3), 1e30)]
        with pytest.raises(train.LossNotFinite, match="log"):
            learner.fit(nn.Linear(3, 1), batches)


def test_a_run_is_evaluated_on_the_first_device() -> None:
    with bs.device("cpu"):
        batches = [batch_of(6) for _ in range(3)]
    learner = train.Learner(loss, train.optimisers.SGD(0.05), devices=BOTH)
    with bs.device("cpu"):
        made = learner.fit(Model(), batches, epochs=2, valid=batches[:1])
    assert str(made.model.first.weight.device) == BOTH[0]
    first, last = [each.values["loss"] for each in made.history if each.split == "valid"]
    assert last < first


def test_one_device_that_is_named_has_everything() -> None:
    learner = train.Learner(loss, train.optimisers.SGD(0.05), devices=("cpu",))
    with bs.device("reference"):
        state, report = learner.step(learner.begin(Model()), batch_of(4))
        assert learner.planned_memory(state, batch_of(4)) is not None
        assert learner.explain(state, batch_of(4)).device == "cpu"
    assert str(report.loss.device) == str(state.step.device) == "cpu"


def test_what_the_first_device_does_is_explained() -> None:
    learner = train.Learner(loss, train.optimisers.SGD(0.05), devices=("cpu", "reference"))
    with bs.device("cpu"):
        state = learner.begin(Model())
        assert learner.explain(state, batch_of(4)).device == "cpu"
        assert learner.planned_memory(state, batch_of(4)) is not None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"devices": ("cpu", "cpu:0")}, "cpu is named twice among the devices"),
        ({"devices": ("cpu", "abacus")}, "Learner: there is no device 'abacus'"),
        ({"devices": ("cpu", 3)}, "there is no device '3'"),
        ({"devices": BOTH, "memory": 5}, "a budget of memory is for one device"),
    ],
)
def test_mistakes_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentError, DeviceError), match=message) as caught:
        train.Learner(loss, train.optimisers.SGD(0.1), **settings)
    assert "test_devices.py" in str(caught.value), "the line is the user's"


def test_outputs_without_items_cannot_be_put_together() -> None:
    class Last:
        def update(self, outputs: Any, targets: Any) -> None: ...

        def value(self) -> float:
            return 0.0

        def reset(self) -> None: ...

    learner = train.Learner(
        lambda model, batch: (model(batch).mean(), model(batch).mean()),
        train.optimisers.SGD(0.1), metrics={"last": Last()}, devices=BOTH,
    )  # fmt: skip
    with bs.device("reference"):
        state = learner.begin(nn.Linear(3, 1))
        with pytest.raises(ArgumentError, match="outputs of several devices"):
            learner.step(state, bs.ones((4, 3)))
