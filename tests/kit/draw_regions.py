"""Random programs of loops and choices that call modules, run by Brimstone or by Python.

Comes in: a source of random numbers, and modules. Goes out: a function of a `Flow` and a tensor.
"""

from collections.abc import Callable
from random import Random
from typing import Any

import brimstone as bs
from brimstone import nn

Program = Callable[["Flow", Any], Any]


class Mean(nn.Module):
    """Leaves a mean, and how often it has been called since somebody took it."""

    def __init__(self, start: float = 0.0) -> None:
        self.weight = bs.asarray(2.0)
        self.mean = nn.Buffer(bs.asarray(start))
        self.count = nn.Buffer(bs.asarray(0))

    def forward(self, x: Any) -> Any:
        if nn.is_training():
            self.update(mean=0.5 * self.mean + x.mean(), count=self.count + 1)
        return x * self.weight + self.mean


def collected(run: Callable[[], Any], *models: Any) -> Any:
    """What a program returns, and the models with what they leave, as numbers."""
    with nn.training(0) as context:
        made = run()
        return [leaf.tolist() for leaf in bs.tree_leaves((made, *map(context.updated, models)))]


class Flow:
    """Loops and choices that are recorded whole."""

    def repeat(self, count: int, body: Callable[[Any], Any], x: Any) -> Any:
        """The body, as often as is known."""
        return bs.scan(lambda carry, _: (body(carry), None), x, length=count)[0]

    def while_below(self, count: int, body: Callable[[Any], Any], x: Any) -> Any:
        """The body, as often as a tensor says."""
        start = bs.asarray(0), x
        return bs.while_loop(lambda c: c[0] < count, lambda c: (c[0] + 1, body(c[1])), start)[1]

    def choose(self, one: Callable[[Any], Any], other: Callable[[Any], Any], x: Any) -> Any:
        """One of two, as the tensor says."""
        return bs.cond(is_large(x), one, other, x)

    def recompute(self, body: Callable[[Any], Any], x: Any) -> Any:
        """The body, once."""
        return bs.checkpoint(body)(x)


class ByPython(Flow):
    """The same, as Python says it."""

    def repeat(self, count: int, body: Callable[[Any], Any], x: Any) -> Any:
        for _ in range(count):
            x = body(x)
        return x

    while_below = repeat

    def choose(self, one: Callable[[Any], Any], other: Callable[[Any], Any], x: Any) -> Any:
        return one(x) if is_large(x) else other(x)

    def recompute(self, body: Callable[[Any], Any], x: Any) -> Any:
        return body(x)


def is_large(x: Any) -> Any:
    """What choices look at."""
    return x[0] > 0.5


def draw_program(random: Random, models: list[Any], depth: int) -> Program:
    """A program of some depth that calls the models, or some of them."""
    kind = random.choice(("call", "then", "repeat", "while", "choose", "recompute"))
    if depth == 0 or kind == "call":
        model = random.choice(models)
        return lambda flow, x: bs.sin(model(x))
    one, other = (draw_program(random, models, depth - 1) for _ in range(2))
    count = random.randrange(4)
    programs: dict[str, Program] = {
        "then": lambda flow, x: other(flow, one(flow, x)),
        "repeat": lambda flow, x: flow.repeat(count, lambda y: one(flow, y), x),
        "while": lambda flow, x: flow.while_below(count, lambda y: one(flow, y), x),
        "choose": lambda flow, x: flow.choose(
            lambda y: one(flow, y), lambda y: other(flow, y), x
        ),
        "recompute": lambda flow, x: flow.recompute(lambda y: one(flow, y), x),
    }  # fmt: skip
    return programs[kind]
