"""Parameters by path, freezing, weights in and out, what a model looks like."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn


@pytest.fixture
def model() -> Any:
    inner = nn.Sequential(nn.Linear(4, 2, bias=False))
    return nn.Sequential(nn.Linear(3, 4), bs.relu, inner)


def test_parameters_have_paths(model: Any) -> None:
    assert list(model.params()) == ["0.weight", "0.bias", "2.0.weight"]
    assert list(model.params("bias$")) == ["0.bias"]
    assert list(model.modules()) == ["", "0", "2", "2.0"]
    assert model.params()["2.0.weight"] is model[2][0].weight
    assert list(model.state_dict()) == list(model.params())


def test_what_is_frozen_has_no_gradient(model: Any) -> None:
    frozen = model.freeze("^0")
    assert list(frozen.params()) == ["2.0.weight"]
    assert list(frozen.state_dict()) == list(model.state_dict())
    gradient = bs.grad(lambda each: each(bs.ones((1, 3))).sum())(frozen)
    assert gradient[0].weight is None
    assert gradient[2][0].weight.shape == (2, 4)
    assert list(frozen.unfreeze("bias").params()) == ["0.bias", "2.0.weight"]
    assert bs.tree_flatten(frozen.unfreeze())[1] is bs.tree_flatten(model)[1]
    with pytest.raises(TypeError, match="nothing to differentiate"):
        bs.grad(lambda each: each(bs.ones((1, 3))).sum())(model.freeze())


class Parts(nn.Module):
    """A list of modules and tensors."""

    parts: list[Any]


def test_tensors_of_one_attribute_are_frozen_together() -> None:
    model = Parts([nn.Linear(2, 1), bs.ones(2), bs.ones(1)])
    every = list(model.params())
    assert list(model.freeze("parts.0").params()) == every[2:]
    frozen = model.freeze()
    assert frozen.params() == {}
    assert list(frozen.freeze("parts.1").unfreeze().params()) == every
    for wrong in (lambda: model.freeze("parts.1"), lambda: frozen.unfreeze("weight")):
        with pytest.raises(ValueError, match=r"matches, and not all of parts, whose"):
            wrong()


def test_a_pattern_that_matches_nothing_is_told(model: Any) -> None:
    with pytest.raises(ValueError, match=r"no parameter matches '0\.wieght'(?s:.*)0\.weight"):
        model.freeze("0.wieght")
    for wrong in ("(", 3):
        with pytest.raises(bs.ArgumentError, match="a pattern is a text of `re`"):
            model.freeze(wrong)


def test_weights_are_loaded_at_once_or_not_at_all(model: Any) -> None:
    tensors = {path: tensor.numpy() * 0 + 1 for path, tensor in model.state_dict().items()}
    made = model.load_state_dict(tensors)
    assert [np.unique(each.numpy()).tolist() for each in made.params().values()] == [[1.0]] * 3
    wrong = {"0.weight": np.zeros(3), "0.bias": np.zeros(4), "extra": np.zeros(1)}
    with pytest.raises(
        ValueError, match=r"3 tensors(?s:.*)0\.weight(?s:.*)2\.0\.weight is missing(?s:.*)extra"
    ):
        model.load_state_dict(wrong)
    part = model.load_state_dict({"0.bias": np.zeros(4, np.float64), "extra": 1}, strict=False)
    assert part[0].bias.tolist() == [0.0] * 4
    assert part[0].bias.dtype == bs.float32
    assert part[0].weight is model[0].weight
    with pytest.raises(ValueError, match="shapes must be equal"):
        model.load_state_dict(wrong, strict=False)


def test_a_model_in_another_dtype(model: Any) -> None:
    made = model.to(bs.bfloat16)
    assert {tensor.dtype for tensor in made.state_dict().values()} == {bs.bfloat16}
    assert made(bs.ones((1, 3), dtype=bs.bfloat16)).dtype == bs.bfloat16
    assert {str(each.device) for each in model.to("reference").params().values()} == {"reference"}


def test_it_shows_shapes_and_counts(model: Any) -> None:
    assert repr(model.freeze("bias")).splitlines() == [
        "Sequential(1=relu  # 24 parameters",
        "  0: Linear(weight=float32[4, 3], bias=float32[4] (frozen))",
        "  2: Sequential(",
        "    0: Linear(weight=float32[2, 4], bias=None)",
        "  )",
        ")",
    ]
    assert repr(model[0]) == "Linear(weight=float32[4, 3], bias=float32[4])  # 16 parameters"
    assert "24 parameters" in model._repr_html_()


@dataclass(frozen=True)
class Sizes:
    """Settings, one of which is too long to be shown."""

    width: int
    curve: Callable[[Any], Any] = bs.relu
    names: tuple[str, ...] = field(default=("ape", "bee"), repr=False)


def test_it_shows_the_names_of_settings_in_dataclasses() -> None:
    class Sized(nn.Module):
        def __init__(self, sizes: Sizes) -> None:
            self.sizes, self.more = sizes, (sizes,)

    shown = "Sizes(width=3, curve=relu)"
    assert repr(Sized(Sizes(3))) == f"Sized(sizes={shown}, more=[{shown}])  # 0 parameters"


def test_a_summary_has_a_line_a_module(model: Any) -> None:
    lines = str(model.freeze("bias").summary(bs.ones((5, 3)))).splitlines()
    assert [line.split() for line in lines[2:6]] == [
        ["(model)", "Sequential", "float32[5,", "2]", "24"],
        ["0", "Linear", "float32[5,", "4]", "16"],
        ["2", "Sequential", "float32[5,", "2]", "8"],
        ["2.0", "Linear", "float32[5,", "2]", "8"],
    ]
    assert lines[-1] == "24 parameters, 20 of them trained, 0.00 MiB"
    assert "float32" not in str(model.summary())
    assert "<pre>" in model.summary()._repr_html_()


def test_a_sequence_is_one(model: Any) -> None:
    assert len(model) == 3
    assert model[1] is bs.relu
    assert model[:2][0] is model[0]
    assert model[-1][0].weight.shape == (2, 4)
    assert nn.Identity()(3) == 3


def test_what_is_no_tensor_is_not_loaded(model: Any) -> None:
    with pytest.raises(bs.ArgumentError, match="expected a dict from paths to tensors, got list"):
        model.load_state_dict([1])
    with pytest.raises(bs.ArgumentError, match=r"0\.bias: 'x' instead of float32\[4\]"):
        model.load_state_dict({"0.bias": "x", "0.weight": None}, strict=False)
    scale = Parts([bs.ones(())])
    assert scale.load_state_dict({"parts.0": 3}).parts[0].item() == 3.0


@pytest.mark.parametrize("keys", [(1, "1"), ("a.b", "a")], ids=str)
def test_no_tensor_is_lost_to_another_of_its_path(keys: tuple[Any, Any]) -> None:
    parts: Any = {keys[0]: bs.ones(1), keys[1]: {"b": bs.ones(1)} if "a" in keys else bs.ones(1)}
    with pytest.raises(bs.ArgumentError, match=r"two tensors have the path parts\.(1|a\.b)"):
        Parts(parts).state_dict()
