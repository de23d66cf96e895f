"""What every optimiser is tried with: settings by the name of its class, and gradients.

Comes in: nothing. Goes out: `CASES`; `trained`, which makes the steps, and `followed`, which
computes them by hand.
Never: another library.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

import brimstone as bs
from brimstone import train
from kit.optimiser_formulas import COMMON, FORMULAS

Array = np.ndarray[Any, np.dtype[Any]]
Model = dict[str, Any]

STEPS = 12
RANDOM = np.random.default_rng(5)
MODEL = {"matrix": RANDOM.normal(0, 1, (3, 4)), "vector": RANDOM.normal(0, 1, 5)}
SLOPES = [{name: RANDOM.normal(0, 1, each.shape) for name, each in MODEL.items()}
          for _ in range(STEPS)]  # fmt: skip

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    f"{name}({', '.join(f'{key}={value}' for key, value in settings.items())})": (name, settings)
    for name, settings in (
        ("SGD", {}),
        ("SGD", {"lr": 0.1, "weight_decay": 0.1}),
        ("SGD", {"lr": 0.1, "maximize": True}),
        ("SGD", {"lr": 0.1, "momentum": 0.9}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        ("SGD", {"lr": 0.1, "momentum": 0.8, "dampening": 0.3}),
        ("SGD", {"lr": 0.1, "momentum": 0.8, "dampening": 0.3, "maximize": True}),
        ("Adam", {}),
        ("Adam", {"lr": 0.1}),
        ("Adam", {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3}),
        ("Adam", {"lr": 0.1, "betas": (0.0, 0.9)}),
        ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
        ("Adam", {"lr": 0.1, "amsgrad": True, "betas": (0.9, 0.5)}),
        ("Adam", {"lr": 0.1, "maximize": True, "weight_decay": 0.1}),
        ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
        ("AdamW", {}),
        ("AdamW", {"lr": 0.1, "weight_decay": 0.1}),
        ("AdamW", {"lr": 0.1, "amsgrad": True, "betas": (0.5, 0.6)}),
        ("AdamW", {"lr": 0.1, "maximize": True}),
        ("AdaGrad", {}),
        ("AdaGrad", {"lr": 0.1, "lr_decay": 0.1}),
        ("AdaGrad", {"lr": 0.1, "weight_decay": 0.1, "eps": 0.01}),
        ("AdaGrad", {"lr": 0.1, "initial_accumulator_value": 0.5}),
        ("AdaGrad", {"lr": 0.1, "maximize": True}),
        ("RMSProp", {}),
        ("RMSProp", {"lr": 0.1, "alpha": 0.7, "eps": 0.01}),
        ("RMSProp", {"lr": 0.1, "weight_decay": 0.1}),
        ("RMSProp", {"momentum": 0.9}),
        ("RMSProp", {"centered": True, "alpha": 0.7}),
        ("RMSProp", {"centered": True, "momentum": 0.9, "weight_decay": 0.1, "maximize": True}),
        ("RAdam", {}),
        ("RAdam", {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3}),
        ("RAdam", {"lr": 0.1, "weight_decay": 0.1}),
        ("RAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
        ("RAdam", {"lr": 0.1, "betas": (0.9, 0.5)}),
        ("RAdam", {"lr": 0.1, "maximize": True}),
        ("NAdam", {}),
        ("NAdam", {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3}),
        ("NAdam", {"lr": 0.1, "weight_decay": 0.1}),
        ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
        ("NAdam", {"lr": 0.1, "momentum_decay": 0.1, "maximize": True}),
        ("Adafactor", {}),
        ("Adafactor", {"lr": 0.5, "beta2_decay": -0.5}),
        ("Adafactor", {"lr": 0.5, "eps": (1e-3, 2.0), "d": 3.0}),
        ("Adafactor", {"lr": 0.1, "weight_decay": 0.1}),
        ("Adafactor", {"lr": 0.1, "maximize": True}),
        ("Adan", {}),
        ("Adan", {"lr": 0.1, "betas": (0.9, 0.8, 0.7)}),
        ("Adan", {"lr": 0.1, "weight_decay": 0.1}),
        ("Adan", {"lr": 0.1, "weight_decay": 0.1, "no_prox": True, "maximize": True}),
        ("Lion", {}),
        ("Lion", {"lr": 0.1, "betas": (0.5, 0.8), "weight_decay": 0.1}),
        ("Lion", {"lr": 0.1, "maximize": True}),
        ("Lamb", {}),
        ("Lamb", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.1}),
        ("Lamb", {"lr": 0.1, "eps": 0.01, "maximize": True}),
        ("Muon", {}),
        ("Muon", {"lr": 0.1, "weight_decay": 0.0, "momentum": 0.8}),
        ("Muon", {"lr": 0.1, "nesterov": False}),
        ("Muon", {"lr": 0.1, "adjust_lr_fn": "match_rms_adamw"}),
        ("Muon", {"lr": 0.1, "ns_steps": 3, "ns_coefficients": (2.0, -1.5, 0.5)}),
    )
}  # fmt: skip


def slope(step: int, name: str, value: Any) -> Any:
    """A gradient, which depends on the parameter: an error in one step shows in the next."""
    return SLOPES[step][name] + 0.3 * value


def shapes_of(name: str) -> list[str]:
    """The parts of the model that an optimiser takes."""
    return ["matrix"] if name == "Muon" else list(MODEL)


@cache
def trained(case: str, dtype: Any = bs.float64) -> dict[str, Array]:
    """The model after all steps of an optimiser, one compiled step each."""
    name, settings = CASES[case]
    optimiser = getattr(train, name)(**settings)

    @bs.jit(donate=("model", "state"))
    def step(model: Model, state: Any, slopes: Model) -> Any:
        gradients = {key: slopes[key] + 0.3 * value for key, value in model.items()}
        return optimiser.update(model, gradients, state)

    names = shapes_of(name)
    model: Model = {each: bs.asarray(MODEL[each], dtype=dtype) for each in names}
    state = optimiser.initial(model)
    for slopes in SLOPES:
        given = {each: bs.asarray(slopes[each], dtype=dtype) for each in names}
        model, state = step(model, state, given)
    return {key: value.astype(bs.float64).numpy() for key, value in model.items()}


def followed(case: str) -> Model:
    """The model after all steps of an optimiser's formula."""
    name, settings = CASES[case]
    formula, defaults = FORMULAS[name]
    asked = SimpleNamespace(**{**COMMON, **defaults, **settings})
    model: Model = {}
    for each in shapes_of(name):
        value, memory = MODEL[each], {}
        for step in range(STEPS):
            value = formula(value, slope(step, each, value), step + 1, memory, asked)
        model[each] = value
    return model
