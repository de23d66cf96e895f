"""What is found out about trees of a class goes with the class, and with what is static in them."""

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import ref

import pytest

import brimstone as bs
from brimstone import nn


class Held:
    """What a function in a model holds."""


def as_dataclass(held: Held) -> Any:
    @dataclass
    class Model:
        weights: list[Any]
        act: Callable[[Any], Any] = field(metadata={"static": True})

    return Model([bs.ones(3) for _ in range(5)], lambda x: (held, bs.sin(x))[1])


def as_module(held: Held) -> Any:
    class Model(nn.Module):
        def __init__(self) -> None:
            self.weights = [bs.ones(3) for _ in range(5)]
            self.act = lambda x: (held, bs.sin(x))[1]

    return Model()


def as_named_tuple(held: Held) -> Any:
    class Model(NamedTuple):
        weights: Any
        act: Any

    inner = as_dataclass(held)
    return Model(inner.weights, inner)


def loss(model: Any) -> Any:
    act: Any = model.act if callable(model.act) else model.act.act
    return act(model.weights[0]).sum()


def doubled(model: Any) -> Any:
    return bs.tree_map(lambda leaf: leaf * 2, model)


def stepped(model: Any) -> None:
    step = bs.jit(doubled)
    for _ in range(40):  # the quick way, and the direct one
        model = step(model)
    assert model.weights[0].shape == (3,)
    step(model)


def calling_itself(model: Any) -> None:
    """What is static leads to what is kept about the tree."""
    step = bs.jit(lambda pair: pair["x"] + 1)
    owner = as_dataclass(Held())
    owner.act = lambda x: (step, model, x)[2]
    step({"x": bs.ones(3), "owner": owner})


def differentiated(model: Any) -> None:
    bs.grad(loss)(model)


def compiled(model: Any) -> None:
    bs.jit(loss)(model)


def in_lanes(model: Any) -> None:
    bs.vmap(doubled)(model)


WAYS: dict[str, Callable[[Any], Any]] = {
    "taken apart": bs.tree_flatten,
    "named": bs.tree_paths,
    "differentiated": differentiated,
    "compiled": compiled,
    "returned": stepped,
    "in lanes": in_lanes,
    "calling itself": calling_itself,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [as_dataclass, as_module, as_named_tuple])
def test_nothing_is_kept_of_a_model_that_is_gone(make: Callable[[Held], Any], way: str) -> None:
    alive: list[ref[Any]] = []
    for _ in range(2):
        held = Held()
        model = make(held)
        alive += ref(held), ref(type(model))
        WAYS[way](model)
        del held, model
    gc.collect()
    assert [each() for each in alive] == [None] * 4


def test_nothing_is_kept_of_a_class_of_leaves() -> None:
    class Leaf:
        pass

    gone = ref(Leaf)
    assert len(bs.tree_leaves({"a": Leaf(), "b": [Leaf(), 1]})) == 3
    del Leaf
    gc.collect()
    assert gone() is None


def test_what_is_kept_of_a_structure_is_found_again() -> None:
    tree = {"a": [1, 2], "b": None}
    structure = bs.tree_flatten(tree)[1]
    assert bs.tree_flatten({"a": [3, 4], "b": None})[1] is structure
    assert bs.tree_paths(tree) is bs.tree_paths(tree) == ("a.0", "a.1")
