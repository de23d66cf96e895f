"""What every optimiser does with a tree: what it leaves alone, remembers and refuses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import train


@dataclass(frozen=True)
class Layer:
    """A layer as users write it."""

    weight: Any
    bias: Any
    name: str = field(default="layer", metadata={"static": True})


def model() -> dict[str, Any]:
    return {
        "layers": [Layer(bs.ones((2, 3)), None), Layer(bs.ones((3, 2)), bs.zeros(2))],
        "count": bs.asarray(3),
    }


def slopes(bias: Any = None) -> dict[str, Any]:
    layers = [Layer(None, None), Layer(bs.ones((3, 2)), bias)]
    return {"layers": layers, "count": None}


OPTIMISERS = [
    train.SGD(momentum=0.9), train.Adam(), train.AdamW(), train.AdaGrad(), train.RMSProp(),
    train.Adan(), train.Lion(), train.Lamb(), train.RAdam(), train.NAdam(), train.Adafactor(),
    train.Muon(),
]  # fmt: skip


def test_paths_name_leaves() -> None:
    paths = ["layers.0.weight", "layers.1.weight", "layers.1.bias", "count"]
    assert list(bs.tree_paths(model())) == paths
    assert bs.tree_paths(bs.ones(1)) == ("",)


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=lambda each: type(each).__name__)
def test_leaves_without_a_gradient_stay_the_same_objects(optimiser: train.Optimiser) -> None:
    before = model()
    if isinstance(optimiser, train.Muon):  # which takes no bias
        before["layers"][1] = Layer(before["layers"][1].weight, None)
    state = optimiser.initial(before)
    after, new = optimiser.update(before, slopes(), state)
    assert after["layers"][0].weight is before["layers"][0].weight
    assert after["count"] is before["count"]
    assert after["layers"][1].name == "layer"
    assert (after["layers"][1].weight != before["layers"][1].weight).all()
    assert int(new.step) == 1
    assert int(state.step) == 0


@pytest.mark.parametrize("dtype", [bs.bfloat16, bs.float16])
def test_narrow_parameters_are_rounded_once(dtype: Any) -> None:
    optimiser = train.Adam(lr=0.01)
    parameter = bs.asarray([1.0, -3.0, 0.3], dtype=dtype)
    state = optimiser.initial(parameter)
    assert state.slots["mean"].dtype == bs.float32
    wide, other = parameter.astype(bs.float32), state
    slope = bs.asarray([0.3, -2.0, 1.0], dtype=dtype)
    parameter, state = optimiser.update(parameter, slope, state)
    wide, other = optimiser.update(wide, slope.astype(bs.float32), other)
    assert parameter.dtype == dtype
    assert bs.array_equal(parameter, wide.astype(dtype))
    assert bs.array_equal(state.slots["square"], other.slots["square"])


def test_a_scale_multiplies_the_rate_and_compiles_nothing() -> None:
    traced = []
    optimiser = train.SGD(lr=0.5)

    @bs.jit
    def step(parameter: Any, state: Any, scale: Any) -> Any:
        traced.append(1)
        return optimiser.update(parameter, bs.ones_like(parameter), state, scale=scale)

    state = optimiser.initial(bs.ones(3))
    for scale in (1.0, 0.5, 0.25):
        after, _ = step(bs.ones(3), state, scale)
        assert after.tolist() == [1 - 0.5 * scale] * 3
    assert len(traced) == 1


def test_an_optimiser_may_be_an_argument_of_a_compiled_function() -> None:
    @bs.jit
    def step(optimiser: Any, parameter: Any, state: Any) -> Any:
        return optimiser.update(parameter, bs.ones_like(parameter), state)

    optimiser = train.SGD(lr=0.5, momentum=0.9, nesterov=True)
    after, _ = step(optimiser, bs.ones(2), optimiser.initial(bs.ones(2)))
    assert after.tolist() == pytest.approx([0.05, 0.05])


def test_updates_lie_on_the_device_of_the_model() -> None:
    parameter = bs.ones(2, device="reference")
    state = train.Adam().initial(parameter)
    assert state.step.device == state.slots["mean"].device == parameter.device


def test_a_model_without_tensors_stays_as_it_is() -> None:
    optimiser = train.Adam()
    assert optimiser.update({}, {}, optimiser.initial({}))[0] == {}


BAD_SETTINGS: dict[str, Callable[[], Any]] = {
    "lr": lambda: train.SGD(lr=-0.1),
    "lr ": lambda: train.Adam(lr=float("nan")),
    "lr is a number or a schedule": lambda: train.Adam(lr=bs.ones(())),  # pyright: ignore[reportArgumentType]
    "momentum": lambda: train.SGD(momentum=-1),
    "nesterov": lambda: train.SGD(nesterov=True),
    r"betas\[0\]": lambda: train.Adam(betas=(1.0, 0.9)),
    r"betas\[1\]": lambda: train.AdamW(betas=(0.9, -0.1)),
    "tuple of 3": lambda: train.Adan(betas=(0.9, 0.9)),  # pyright: ignore[reportArgumentType]
    "eps": lambda: train.Adam(eps=-1),
    "weight_decay": lambda: train.Lion(weight_decay=-1),
    "alpha": lambda: train.RMSProp(alpha=2),
    "beta2_decay": lambda: train.Adafactor(beta2_decay=1.0),
    "adjust_lr_fn": lambda: train.Muon(adjust_lr_fn="other"),
    "ns_steps": lambda: train.Muon(ns_steps=1.5),  # pyright: ignore[reportArgumentType]
    "lr_decay": lambda: train.AdaGrad(lr_decay=-1),
    "regular expression": lambda: train.Groups({"(": train.SGD()}),
    "a rule is": lambda: train.Groups({3: train.SGD()}),  # pyright: ignore[reportArgumentType]
    "expected an optimiser": lambda: train.Groups({"w": 3}),  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize("word", BAD_SETTINGS)
def test_settings_out_of_range_are_refused(word: str) -> None:
    with pytest.raises(bs.ArgumentError, match=word):
        BAD_SETTINGS[word]()


ONE = bs.ones(2).sync()  # where it is now; a pending one would follow the first device that asks
MISFITS: dict[str, tuple[Any, type[Exception], str]] = {
    "a missing key": ({"layers": slopes()["layers"]}, bs.ArgumentError, "at count: it is missing"),
    "a key too many": ({**slopes(), "other": None}, bs.ArgumentError, "at other: the model has no"),
    "a short list": ({"layers": [None], "count": None}, bs.ArgumentError, "at layers: there are 1"),
    "another container": ({"layers": (1, 2), "count": None}, bs.ArgumentError, "a tuple where"),
    "a leaf for a tree": ({"layers": ONE, "count": None}, bs.ArgumentError, "at layers"),
    "a tree for a leaf": (slopes({"a": ONE}), bs.ArgumentError, r"layers\.1\.bias: there is"),
    "a number": (slopes(0.5), bs.ArgumentError, r"layers\.1\.bias is no tensor"),
    "another shape": (slopes(bs.ones(3)), bs.ShapeError, r"layers\.1\.bias has another shape"),
    "an integer": ({**slopes(), "count": bs.asarray(1)}, bs.DTypeError, "count is not of real"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISFITS)
def test_gradients_that_do_not_fit_are_refused(name: str) -> None:
    gradients, kind, words = MISFITS[name]
    optimiser = train.Adam()
    with pytest.raises(kind, match=words):
        optimiser.update(model(), gradients, optimiser.initial(model()))


def test_a_gradient_without_a_state_is_refused() -> None:
    optimiser = train.Adam()
    state = optimiser.initial({"a": bs.ones(2), "b": None})
    with pytest.raises(bs.ArgumentError, match=r"b has a gradient and no state"):
        optimiser.update({"a": ONE, "b": ONE}, {"a": ONE, "b": ONE}, state)


def test_muon_refuses_vectors() -> None:
    with pytest.raises(bs.ShapeError, match=r"train\.Groups"):
        train.Muon().initial(ONE)


def test_muon_takes_kernels_of_convolutions_as_matrices() -> None:
    kernel = np.arange(24.0).reshape(2, 3, 4) % 7
    optimiser = train.Muon()
    found, _ = optimiser.update(
        bs.asarray(kernel), bs.asarray(kernel), optimiser.initial(bs.asarray(kernel))
    )
    flat = bs.asarray(kernel.reshape(2, 12))
    expected, _ = optimiser.update(flat, flat, optimiser.initial(flat))
    np.testing.assert_allclose(found.numpy().reshape(2, 12), expected.numpy(), rtol=1e-12)


def test_the_state_of_another_optimiser_is_told_of() -> None:
    model = bs.ones(3)
    state = train.SGD(0.1, momentum=0.9).initial(model)
    with pytest.raises(bs.ArgumentError, match=r"Adam.update: the state has no 'mean'"):
        train.Adam(0.1).update(model, model, state)
