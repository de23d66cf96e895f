"""Gradients of what all lanes share, where only some of them come to what reads it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs

LANES: dict[str, Callable[..., Any]] = {
    "cond": lambda w, x: bs.cond(x > 0, lambda y: bs.log(w * y), lambda y: w * 3 * y, x),
    "cond of a loop": lambda w, x: bs.cond(
        x > 0, lambda y: bs.fori_loop(0, 2, lambda _, c: c * bs.sqrt(w * y), w), lambda y: w * y, x
    ),
    "cond in a cond": lambda w, x: bs.cond(
        x > 0,
        lambda y: bs.cond(y > 2, lambda z: bs.sqrt(z - w * 2), lambda z: bs.log(w * z), y),
        lambda y: w * y,
        x,
    ),
    "while": lambda w, x: bs.while_loop(
        lambda c: c[0] > 0, lambda c: (c[0] - 1, c[1] + bs.sqrt(c[0] * w)), (x, w), max_steps=6
    )[1],
    "cond in a cond that no lane takes": lambda w, x: bs.cond(
        x > 0,
        lambda y: bs.cond(y < 0.5, lambda z: bs.sqrt(w - 1.5) * z, lambda z: z * w, y),
        lambda y: bs.cond(y > 0.5, lambda z: 1 / (w - 1.5) * z, lambda z: z * w, y),
        x,
    ),
    "cond in a loop": lambda w, x: bs.while_loop(
        lambda c: c[0] < x,
        lambda c: (c[0] + 1, bs.cond(c[0] >= x, lambda: bs.sqrt(w - 1.5), lambda: c[1] + w)),
        (x * 0, w),
        max_steps=6,
    )[1],
    "custom_vjp": lambda w, x: bs.cond(x > 0, lambda y: root(w * y), lambda y: w + y, x),
}


@bs.custom_vjp
def root(x: Any) -> Any:
    return bs.sqrt(x)


root.define(lambda x: (bs.sqrt(x), x), lambda x, y: (y / bs.sqrt(x) / 2,))


@pytest.mark.parametrize("name", LANES)
def test_what_all_lanes_share_has_the_gradients_of_those_that_come_to_it(name: str) -> None:
    f, w, x = LANES[name], bs.asarray(1.5), bs.asarray([0.0, 4.0, -1.0, 1.0, 3.0])
    expected = sum(bs.grad(f)(w, each).item() for each in x)
    for make in (lambda f: f, bs.jit):
        found = make(bs.grad(lambda w: bs.vmap(f, in_axes=(None, 0))(w, x).sum()))(w)
        np.testing.assert_allclose(found.item(), expected, rtol=1e-6)
