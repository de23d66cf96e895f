"""Modules that are made in odd ways: what cannot work is told, and nothing is lost silently."""

import copy
import pickle
from functools import partial
from typing import Any, Generic, TypeVar

import pytest

import brimstone as bs
from brimstone import nn

T = TypeVar("T")
LINEAR = nn.Linear(2, 2, key=bs.random.key(0))
X = bs.ones((3, 2))


class Holds(nn.Module):
    """A module with one attribute, whatever that is."""

    def __init__(self, part: Any) -> None:
        self.part = part

    def forward(self, x: Any) -> Any:
        return self.part(x)


class Generically(Holds, Generic[T]):
    """A module for which Python sets one more attribute when it is made of `Generically[int]`."""


class Delegating(Holds):
    """A module that has the attributes of its part, too."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.part, name)


class Bound(nn.Module):
    """A module that keeps a method of its own."""

    def __init__(self) -> None:
        self.part = LINEAR
        self.run = self.inner

    def inner(self, x: Any) -> Any:
        return self.part(x)


HIDING: dict[str, Any] = {
    "set": lambda: frozenset([LINEAR]),
    "tensor": lambda: (frozenset([X]),),
    "method": lambda: LINEAR.forward,
    "partial": lambda: partial(bs.add, X),
    "partial of a method": lambda: partial(LINEAR.forward),
    "jit": lambda: bs.jit(LINEAR),
    "checkpoint": lambda: bs.checkpoint(LINEAR),
    "vmap": lambda: bs.vmap(LINEAR.forward),
    "tuple": lambda: (1, (bs.grad(LINEAR),)),
}


@pytest.mark.parametrize("kind", HIDING)
def test_what_no_change_of_the_model_would_reach_is_refused(kind: str) -> None:
    with pytest.raises(bs.ArgumentError, match="the attribute part is no module, and has"):
        Holds(HIDING[kind]())
    with pytest.raises(bs.ArgumentError, match="the attribute run is no module"):
        Bound()


def test_functions_without_tensors_are_settings() -> None:
    for function in (bs.tanh, partial(bs.leaky_relu, negative_slope=0.5), bs.jit(bs.tanh), len):
        assert Holds(function).part is function
    assert Holds(bs.checkpoint(bs.tanh))(X).shape == (3, 2)


def test_a_model_is_no_part_of_itself() -> None:
    class Parent(nn.Module):
        def __init__(self, wrap: Any) -> None:
            self.child = wrap(self)

    for wrap in (Holds, lambda parent: parent, lambda parent: [parent]):
        with pytest.raises(bs.ArgumentError, match="a part of itself"):
            Parent(wrap)


def test_slots_are_refused() -> None:
    with pytest.raises(bs.ArgumentError, match="`__slots__`"):
        type("Slotted", (nn.Module,), {"__slots__": ("weight",)})


@pytest.mark.parametrize("make", [Holds, Generically[int], Delegating, nn.Sequential])
def test_copies_compute_the_same(make: Any) -> None:
    model = make(LINEAR)
    expected = model(X).tolist()
    for each in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert type(each) is type(model)
        assert each(X).tolist() == expected
        assert list(each.params()) == list(model.params())
        assert bool(bs.allclose(bs.jit(lambda model: model(X))(each), model(X)))


def test_no_parameter_takes_the_place_of_another_one_of_its_path() -> None:
    model = Holds({1: bs.ones(1), "1": bs.ones(2)})
    for ask in (model.params, model.state_dict):
        with pytest.raises(bs.ArgumentError, match=r"two tensors have the path part\.1"):
            ask()
    assert model.buffers() == {}


def test_a_module_may_call_itself() -> None:
    class Recursive(nn.Module):
        def __init__(self) -> None:
            self.drop = nn.Dropout(0.5)

        def forward(self, x: Any, times: int = 2) -> Any:
            return self(self.drop(x), times - 1) if times else x

    model = Recursive()
    with nn.training(0):
        once = model(bs.ones(64)).tolist()
        again = bs.jit(model)(bs.ones(64)).tolist()
    with nn.training(0):
        assert bs.jit(model)(bs.ones(64)).tolist() == once
    assert once != again


def test_what_goes_wrong_leaves_nothing_behind() -> None:
    def fails(_: Any) -> Any:
        raise RuntimeError

    model = nn.Sequential(LINEAR, fails)
    with nn.training(0) as context, pytest.raises(RuntimeError):
        bs.scan(lambda carry, _: (model(carry), None), X, length=2)
    with nn.training(0) as context, pytest.raises(RuntimeError):
        bs.jit(model)(X)
    assert not nn.is_training()
    with nn.training(0) as context:
        norm = nn.BatchNorm1d(2)
        norm(X)
        assert context.updated(norm).num_batches_tracked.item() == 1
    assert LINEAR(X).shape == (3, 2)
