"""How long functions of the host live: as long as somebody may call them, however much has been
compiled for them."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.runtime import kept
from brimstone.runtime.steps import STATISTICS
from kit.both_devices import on_both_devices

device = on_both_devices()
Array = np.ndarray[Any, Any]


def line() -> bs.Tensor:
    return bs.arange(5.0)


class Holder:
    """What functions hold; it has a compiled function that calls one of them."""

    def __init__(self) -> None:
        self.number = np.float32(2)
        self.compiled = bs.jit(lambda x: bs.host_call(self.doubled, x, x) + 1)

    def doubled(self, x: Array) -> Array:
        return x * self.number


def failing(holder: Holder) -> None:
    def wrong(x: Array) -> Array:
        raise ValueError(holder.number)

    with pytest.raises(bs.OperationFailed, match="wrong failed: ValueError"):
        bs.host_call(wrong, line(), line()).sync()


def differentiated(holder: Holder) -> None:
    function = bs.custom_vjp(lambda x: bs.host_call(holder.doubled, x, x))

    def backward(_: None, cotangent: bs.Tensor) -> tuple[bs.Tensor]:
        return (bs.host_call(holder.doubled, cotangent, cotangent),)

    function.define(lambda x: (function.function(x), None), backward)
    assert bs.grad(lambda x: function(x).sum())(line())[0].item() == 2
    x = bs.tensor([1.0, 2.0], requires_grad=True)
    assert function(x).sum().backward()[x].numpy().tolist() == [2, 2]


def beside_another(holder: Holder) -> None:
    both = bs.host_call(held, line(), line()) + bs.host_call(holder.doubled, line(), line())
    assert both.sum().item() == 40


def held(x: Array, by: list[int] = [2]) -> Array:  # noqa: B006 (it is nobody's but this one's)
    return x * np.float32(by[0])


WAYS: dict[str, Any] = {
    "a method": lambda holder: bs.host_call(holder.doubled, line(), line()).sync(),
    "a lambda": lambda holder: bs.host_call(lambda x: x * holder.number, line(), line()).sync(),
    "a tree": lambda holder: bs.host_call(
        lambda x: {"a": x * holder.number}, {"a": line()}, line()
    )["a"].sync(),
    "compiled by what it holds": lambda holder: holder.compiled(line()).sync(),
    "in a loop": lambda holder: bs.fori_loop(
        0, 3, lambda _, x: bs.host_call(holder.doubled, x, x), line()
    ).sync(),
    "in vmap": lambda holder: bs.vmap(lambda x: bs.host_call(holder.doubled, x, x))(
        bs.ones((3, 2))
    ).sync(),
    "with numbers": lambda holder: (bs.host_call(holder.doubled, line(), line()) * 0.3).sync(),
    "explained": lambda holder: str(bs.explain(holder.compiled.function)(line())),
    "beside another": beside_another,
    "failing": failing,
    "differentiated": differentiated,
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_compiled_for_a_function_does_not_keep_it(way: str) -> None:
    holders = [Holder() for _ in range(3)]
    alive = [weakref.ref(each) for each in holders]
    for each in holders:
        WAYS[way](each)
    del holders, each
    kept.functions._again.clear()  # some have come twice
    gc.collect()
    assert [each() for each in alive] == [None] * 3


def test_a_function_that_comes_again_is_compiled_once() -> None:
    holder = Holder()

    def call() -> float:
        return bs.host_call(holder.doubled, line(), line()).sum().item()

    assert [call(), call()] == [20, 20]
    before = STATISTICS.compiled
    for _ in range(3):
        gc.collect()
        assert call() == 20
    assert STATISTICS.compiled == before


def test_of_functions_that_come_again_the_latest_are_held() -> None:
    holders = [Holder() for _ in range(kept.AGAIN_AT_MOST + 2)]
    alive = [weakref.ref(each) for each in holders]
    for each in holders:
        for _ in range(2):
            bs.host_call(each.doubled, line(), line()).sync()
    del holders, each
    gc.collect()
    assert [each() is None for each in alive] == [True] * 2 + [False] * kept.AGAIN_AT_MOST
    kept.functions._again.clear()


def test_a_number_that_is_given_again_is_no_other_function() -> None:
    for number in range(50):
        holder = Holder()  # likely where the one before was
        holder.number = np.float32(number)
        assert bs.host_call(holder.doubled, line(), line()).sum().item() == 10 * number
        del holder
        gc.collect(0)
