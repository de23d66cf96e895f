"""The formulas of optimisers, written out in numpy: what one step makes of one parameter.

Comes in: a parameter, its gradient, the number of the step from 1, what earlier steps left in a
dict, and settings as attributes. Goes out: the next parameter.
Never: code of the library.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Memory = dict[str, Any]


def decayed(p: Array, g: Array, lr: float, decay: float, decoupled: bool) -> tuple[Array, Array]:
    """A parameter and a gradient after one of the two kinds of weight decay."""
    return (p * (1 - lr * decay), g) if decoupled else (p, g + decay * p)


def average(memory: Memory, name: str, beta: float, value: Array, step: int) -> Array:
    """A running average from 0, corrected for that."""
    memory[name] = beta * memory.get(name, 0) + (1 - beta) * value
    return memory[name] / (1 - beta**step)


def sgd(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = (-g if s.maximize else g) + s.weight_decay * p
    if s.momentum:
        first = step == 1
        before = 0 if first else s.momentum * memory["buffer"]
        memory["buffer"] = before + (g if first else (1 - s.dampening) * g)
        g = g + s.momentum * memory["buffer"] if s.nesterov else memory["buffer"]
    return p - s.lr * g


def adam(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = -g if s.maximize else g
    p, g = decayed(p, g, s.lr, s.weight_decay, s.decoupled_weight_decay)
    mean = average(memory, "mean", s.betas[0], g, step)
    square = average(memory, "square", s.betas[1], g * g, step)
    if s.amsgrad:
        memory["most"] = np.maximum(memory.get("most", 0), memory["square"])
        square = memory["most"] / (1 - s.betas[1] ** step)
    return p - s.lr * mean / (np.sqrt(square) + s.eps)


def adagrad(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = (-g if s.maximize else g) + s.weight_decay * p
    memory["sum"] = memory.get("sum", s.initial_accumulator_value) + g * g
    return p - s.lr / (1 + (step - 1) * s.lr_decay) * g / (np.sqrt(memory["sum"]) + s.eps)


def rmsprop(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = (-g if s.maximize else g) + s.weight_decay * p
    memory["square"] = spread = s.alpha * memory.get("square", 0) + (1 - s.alpha) * g * g
    if s.centered:
        memory["mean"] = s.alpha * memory.get("mean", 0) + (1 - s.alpha) * g
        spread = spread - memory["mean"] ** 2
    memory["sum"] = s.momentum * memory.get("sum", 0) + g / (np.sqrt(spread) + s.eps)
    return p - s.lr * memory["sum"]


def radam(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = -g if s.maximize else g
    p, g = decayed(p, g, s.lr, s.weight_decay, s.decoupled_weight_decay)
    mean = average(memory, "mean", s.betas[0], g, step)
    average(memory, "square", s.betas[1], g * g, step)
    power = s.betas[1] ** step
    most = 2 / (1 - s.betas[1]) - 1
    length = most - 2 * step * power / (1 - power)
    if length <= 5:
        return p - s.lr * mean
    share = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
    root = np.sqrt(memory["square"]) + s.eps
    return p - s.lr * mean * np.sqrt(share) * np.sqrt(1 - power) / root


def nadam(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = -g if s.maximize else g
    p, g = decayed(p, g, s.lr, s.weight_decay, s.decoupled_weight_decay)
    here, ahead = (s.betas[0] * (1 - 0.96 ** (t * s.momentum_decay) / 2) for t in (step, step + 1))
    product = memory["product"] = memory.get("product", 1) * here
    average(memory, "mean", s.betas[0], g, step)
    root = np.sqrt(average(memory, "square", s.betas[1], g * g, step)) + s.eps
    move = (1 - here) / (1 - product) * g + ahead / (1 - product * ahead) * memory["mean"]
    return p - s.lr * move / root


def adafactor(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = -g if s.maximize else g
    least = np.finfo(p.dtype).eps if s.eps[0] is None else s.eps[0]
    share = step**s.beta2_decay
    size = np.sqrt(np.mean(p * p))
    rate = max(s.eps[1], size) * min(s.lr, step**-0.5)
    p = p * (1 - s.lr * s.weight_decay)
    memory["square"] = (1 - share) * memory.get("square", 0) + share * g * g
    square = memory["square"]
    if g.ndim > 1:
        rows, columns = square.mean(-1, keepdims=True), square.mean(-2, keepdims=True)
        square = rows * columns / np.maximum(rows.mean(), least)
    move = g / np.sqrt(np.maximum(square, least**2))
    return p - rate / max(1, np.sqrt(np.mean(move * move)) / s.d) * move


def adan(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = -g if s.maximize else g
    change = g - memory.get("before", g)
    memory["before"] = g
    mean = average(memory, "mean", s.betas[0], g, step)
    difference = average(memory, "difference", s.betas[1], change, step)
    ahead = g + s.betas[1] * change
    root = np.sqrt(average(memory, "square", s.betas[2], ahead * ahead, step)) + s.eps
    move = s.lr * (mean + s.betas[1] * difference) / root
    if s.no_prox:
        return p * (1 - s.lr * s.weight_decay) - move
    return (p - move) / (1 + s.lr * s.weight_decay)


def lion(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = -g if s.maximize else g
    mean = memory.get("mean", 0)
    memory["mean"] = s.betas[1] * mean + (1 - s.betas[1]) * g
    return p - s.lr * (np.sign(s.betas[0] * mean + (1 - s.betas[0]) * g) + s.weight_decay * p)


def lamb(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    g = -g if s.maximize else g
    mean = average(memory, "mean", s.betas[0], g, step)
    root = np.sqrt(average(memory, "square", s.betas[1], g * g, step)) + s.eps
    move = mean / root + s.weight_decay * p
    return p - s.lr * np.linalg.norm(p) / np.linalg.norm(move) * move


def muon(p: Array, g: Array, step: int, memory: Memory, s: Any) -> Array:
    memory["mean"] = s.momentum * memory.get("mean", 0) + (1 - s.momentum) * g
    u = s.momentum * memory["mean"] + (1 - s.momentum) * g if s.nesterov else memory["mean"]
    # An odd polynomial of a matrix acts on its singular values.
    left, values, right = np.linalg.svd(u / np.linalg.norm(u), full_matrices=False)
    a, b, c = s.ns_coefficients
    for _ in range(s.ns_steps):
        values = a * values + b * values**3 + c * values**5
    rows, columns = p.shape
    scale = max(1, rows / columns) ** 0.5
    if s.adjust_lr_fn == "match_rms_adamw":
        scale = 0.2 * max(rows, columns) ** 0.5
    return p * (1 - s.lr * s.weight_decay) - s.lr * scale * (left * values) @ right


COMMON = {
    "lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "momentum": 0,
    "decoupled_weight_decay": False, "amsgrad": False, "nesterov": False, "maximize": False,
}  # fmt: skip
"""The settings that most optimisers have by default."""

FORMULAS: dict[str, tuple[Any, dict[str, Any]]] = {
    "SGD": (sgd, {"dampening": 0}),
    "Adam": (adam, {}),
    "AdamW": (adam, {"weight_decay": 0.01, "decoupled_weight_decay": True}),
    "AdaGrad": (
        adagrad, {"lr": 1e-2, "lr_decay": 0, "initial_accumulator_value": 0, "eps": 1e-10}),
    "RMSProp": (rmsprop, {"lr": 1e-2, "alpha": 0.99, "centered": False}),
    "RAdam": (radam, {}),
    "NAdam": (nadam, {"lr": 2e-3, "momentum_decay": 4e-3}),
    "Adafactor": (adafactor, {"lr": 1e-2, "beta2_decay": -0.8, "eps": (None, 1e-3), "d": 1.0}),
    "Adan": (adan, {"betas": (0.98, 0.92, 0.99), "no_prox": False}),
    "Lion": (lion, {"lr": 1e-4, "betas": (0.9, 0.99)}),
    "Lamb": (lamb, {"eps": 1e-6}),
    "Muon": (muon, {
        "weight_decay": 0.1, "momentum": 0.95, "nesterov": True, "ns_steps": 5,
        "ns_coefficients": (3.4445, -4.7750, 2.0315), "adjust_lr_fn": None}),
}  # fmt: skip
"""For each optimiser its formula, and the settings in which it differs."""
