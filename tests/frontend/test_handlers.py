"""Handlers of signals, which run in the midst of whatever the main thread does."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from types import CodeType
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import recording
from brimstone.frontend.bundle import Bundle
from brimstone.passes.dead import sweep
from brimstone.passes.handled import is_of_handler
from brimstone.passes.once import Nested
from brimstone.targets.llvm.compile import CompileError
from brimstone.targets.llvm.lower import compile_kernel
from brimstone.targets.llvm.machines import host
from brimstone.targets.llvm.worker import outcome

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="POSIX signals")


@contextmanager
def arrives_in(code: CodeType, handler: Callable[[], object]) -> Iterator[None]:
    """A signal comes as soon as the function of that code begins, once."""
    before = signal.signal(signal.SIGUSR1, lambda *_: handler())

    def tracer(frame: Any, event: str, argument: object) -> None:
        if frame.f_code is code:
            sys.settrace(None)
            signal.raise_signal(signal.SIGUSR1)

    sys.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(None)
        signal.signal(signal.SIGUSR1, before)


@bs.jit
def more(tree: Any) -> Any:
    return bs.tree_map(lambda x: x + 1, tree)


def numbers(count: int) -> list[bs.Tensor]:
    return [bs.tensor(np.array([each], np.float32)) for each in range(count)]


def test_a_handler_looks_into_a_list_that_is_just_looked_into() -> None:
    made, seen = more(numbers(6)), list[Any]()
    with arrives_in(Bundle.children.__code__, lambda: seen.extend(made)):
        assert len(made) == 6
    assert len(seen) == 6
    assert all(one is other for one, other in zip(seen, made, strict=True))


def test_a_handler_looks_into_a_dict_that_is_just_looked_into() -> None:
    made, seen = more(dict(zip("abcdef", numbers(6), strict=True))), list[Any]()
    with arrives_in(Bundle.children.__code__, lambda: seen.append(made["a"])):
        found = made["a"]
    assert found is seen[0] is made["a"]


class Sides(bs.nn.Module):
    """Tensors."""

    left: bs.Tensor
    right: bs.Tensor
    others: list[bs.Tensor]


def test_a_handler_looks_into_an_object_that_is_just_looked_into() -> None:
    made, seen = more(Sides(*numbers(2), numbers(6))), list[Any]()
    with arrives_in(Bundle.children.__code__, lambda: seen.append(made.left)):
        found = made.left
    assert found is seen[0] is made.left


def test_a_handler_that_computes_in_the_midst_of_a_recording_is_told() -> None:
    x = bs.tensor(np.arange(8, dtype=np.float32))
    inner = (x + 1) * 3
    outer, told = bs.exp(inner * 0), list[Exception]()

    def read() -> None:
        try:
            inner.numpy()
        except Nested as problem:
            told.append(problem)

    with arrives_in(recording.gather.__code__, read):
        np.testing.assert_array_equal(outer.numpy(), np.ones(8))
    assert len(told) == 1
    np.testing.assert_array_equal(inner.numpy(), (np.arange(8) + 1) * 3)


def test_a_handler_draws_where_a_key_is_drawn() -> None:
    generator, drawn = bs.Generator(3), list[Any]()
    with arrives_in(bs.Generator.next_words.__code__, lambda: drawn.append(generator.next_words())):
        own = generator.next_words()
    expected = bs.Generator(3)
    assert [drawn[0].tolist(), own.tolist()] == [expected.next_words().tolist() for _ in range(2)]


class Color(Enum):
    """Of which there is one."""

    RED = 1


def test_errors_of_others_are_not_a_handlers() -> None:
    with pytest.raises(ValueError, match="nope") as raised:
        Color("nope")
    assert not is_of_handler(raised.value)


class Late(Exception):
    """What an alarm raises."""


def too_late() -> None:
    raise Late


def test_what_a_handler_raises_while_a_function_is_traced_is_not_lost() -> None:
    traced: list[int] = []

    @bs.jit
    def step(x: bs.Tensor) -> bs.Tensor:
        traced.append(1)
        return helped(x)

    def helped(x: bs.Tensor) -> bs.Tensor:
        return x * 2

    with arrives_in(helped.__code__, too_late), pytest.raises(Late):
        step(bs.ones((5, 3)))
    assert len(traced) == 1
    assert step(bs.ones((5, 3))).tolist() == [[2] * 3] * 5


def test_what_a_handler_raises_while_a_kernel_is_compiled_is_not_taken_for_llvms() -> None:
    x = bs.tensor(np.array([3.5, 4.5], np.float32))
    text = "func @f(%x: tensor<[], f32>) -> tensor<[], f32> {\n  return %x\n}\n"
    with arrives_in(compile_kernel.__code__, too_late), pytest.raises(Late):
        outcome(text, host())
    assert isinstance(outcome("no text", host()), CompileError)
    with arrives_in(sweep.__code__, too_late), pytest.raises(Late):
        bs.sync(bs.exp(x * 1.2345) - bs.tanh(x))
    np.testing.assert_allclose((x * 2).numpy(), [7, 9])


class Holder:
    """Calls a function in two ways."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function

    def handle(self, *given: object) -> None:
        self.function(*given)

    __call__ = handle


@pytest.mark.parametrize(
    "make",
    [lambda raising: raising, partial, lambda raising: Holder(raising).handle, Holder],
    ids=["function", "partial", "method", "object"],
)
def test_whose_exception_it_is(make: Callable[[Any], Any]) -> None:
    def raising(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGUSR1, make(raising))
    try:
        with pytest.raises(Late) as raised:
            signal.raise_signal(signal.SIGUSR1)
        assert is_of_handler(raised.value)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not is_of_handler(raised.value)
