"""Handlers of signals, which run in the midst of whatever the main thread does."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import recording
from brimstone.frontend.bundle import Bundle
from brimstone.passes.once import Nested

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
    return [bs.tensor(np.float32([each])) for each in range(count)]


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
