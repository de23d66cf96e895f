"""Calls of a kind that came before go the direct way, which is taken for no other call."""

import linecache
import re
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any
from unittest import mock

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import tree as trees
from brimstone.frontend.direct import OTHER
from brimstone.frontend.jit import Jitted
from brimstone.frontend.quick import Quick
from brimstone.targets.reference import Interpreted
from kit.failures import Failures


@pytest.fixture(params=["reference", "cpu"])
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """A target that takes all pieces as one, and one that takes them one by one."""
    with bs.device(request.param):
        yield request.param


def ones(*shape: int, dtype: Any = None) -> bs.Tensor:
    return bs.ones(shape, dtype=dtype).sync()


def elsewhere(*shape: int) -> bs.Tensor:
    """Ones on a device that is not the current one."""
    here = str(bs.ones(1).device)
    return bs.ones(shape, device="cpu" if here == "reference" else "reference").sync()


def numbers(first: float = 0.0) -> dict[str, bs.Tensor]:
    return {f"number {at}": bs.full((2,), first + at).sync() for at in range(12)}


def sums(*args: Any, **kwargs: Any) -> Any:
    """Something of all leaves, in which each counts otherwise; text counts by its length."""
    total = bs.zeros(())
    leaves, _ = bs.tree_flatten((args, kwargs))
    for weight, leaf in enumerate(leaves, 1):
        if isinstance(leaf, str):
            total = total + weight * len(leaf)
        elif leaf is not None:
            total = total + weight * bs.sum(bs.asarray(leaf))
    return {"total": total, "twice": [total * 2, None]}


CALLS: dict[str, Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "tensors": lambda: ((ones(2), ones(3)), {}),
    "by name": lambda: ((ones(2),), {"x": ones(3), "y": 2.0}),
    "pair": lambda: (((ones(2), ones(3)), [ones(1)]), {}),
    "dict": lambda: (({"x": ones(2), "y": (ones(3), None)},), {}),
    "many": lambda: ((numbers(), ones(2)), {}),
    "mixed": lambda: (((ones(2), 3, "text"), {"x": 1.5, "y": None}), {}),
    "arrays": lambda: ((ones(2), np.full(3, 2, np.int16), np.ones((2, 2), ">f4")), {}),
    "flags": lambda: ((ones(2), True, 2j), {"how": "text"}),
}  # pyright: ignore[reportAssignmentType]


@pytest.fixture
def quick_calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Filled with the arguments of all calls that go no direct way."""
    calls: list[Any] = []
    plain = Quick.kind

    def noted(self: Quick, *args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(Quick, "kind", noted)
    return calls


def same(found: Any, expected: Any) -> None:
    """Trees of equal structure, types and numbers."""
    leaves, structure = bs.tree_flatten(found)
    others, its_structure = bs.tree_flatten(expected)
    assert structure is its_structure
    for one, other in zip(leaves, others, strict=True):
        assert (one.dtype, one.shape, one.device) == (other.dtype, other.shape, other.device)
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("make", CALLS.values(), ids=CALLS)
def test_a_call_like_one_before_goes_the_direct_way(
    make: Callable[[], tuple[tuple[Any, ...], dict[str, Any]]], quick_calls: list[Any]
) -> None:
    step = bs.jit(sums)
    for _ in range(3):
        args, kwargs = make()
        step(*args, **kwargs)
    quick_calls.clear()
    args, kwargs = make()
    found = step(*args, **kwargs)
    assert not quick_calls
    same(found, sums(*args, **kwargs))


def test_what_is_returned_goes_the_direct_way_as_it_is(quick_calls: list[Any]) -> None:
    double = bs.jit(lambda tree: bs.tree_map(lambda leaf: leaf * 2, tree))
    made = double(double(double(numbers())))
    quick_calls.clear()
    made = double(double(made))
    assert not quick_calls
    same(made, {name: value * 32 for name, value in numbers().items()})


class Keys(dict[str, Any]):
    """A dict of another class."""


OTHERS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "another dtype": lambda: ((ones(2, dtype="float16"), ones(3)), "text"),
    "another shape": lambda: ((ones(2, 1), ones(3)), "text"),
    "not computed": lambda: ((ones(2), bs.ones(3) + 1), "text"),
    "on another device": lambda: ((elsewhere(2), elsewhere(3)), "text"),
    "a number": lambda: ((1.0, ones(3)), "text"),
    "an array": lambda: ((np.ones(2, np.float32), ones(3)), "text"),
    "another text": lambda: ((ones(2), ones(3)), "a text"),
    "no text": lambda: ((ones(2), ones(3)), None),
    "a list": lambda: ([ones(2), ones(3)], "text"),
    "a dict": lambda: ({"x": ones(2), "y": ones(3)}, "text"),
    "three": lambda: ((ones(2), ones(3), ones(1)), "text"),
    "nested": lambda: ((ones(2), (ones(3),)), "text"),
    "one argument more": lambda: ((ones(2), ones(3)), "text", ones(1)),
    "one argument less": lambda: ((ones(2), ones(3)),),
}  # fmt: skip


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_another_call_goes_another_way(make: Callable[[], tuple[Any, ...]]) -> None:
    step = bs.jit(sums)
    for _ in range(3):
        step((ones(2), ones(3)), "text")
    (way,) = step._direct
    assert way(make(), {}) is OTHER
    args = make()
    same(step(*args), sums(*args))
    assert way(((ones(2), ones(3)), "text"), {"x": ones(1)}) is OTHER


def test_keys_and_classes_of_dicts_are_told_apart() -> None:
    step = bs.jit(sums)
    given = {"x": ones(2), "y": ones(3) * 2}
    for _ in range(3):
        step(given)
    (way,) = step._direct
    turned = dict(reversed(given.items()))
    for other in (turned, Keys(given), OrderedDict(given), {**given, "z": ones(1)}, {}):
        assert way((other,), {}) is OTHER
        same(step(other), sums(other))
    assert way((), {"x": ones(2), "y": ones(3)}) is OTHER


@pytest.mark.parametrize("pair", [(0.0, -0.0), (1, True), (1, 1.0), ("", None)], ids=str)
def test_what_python_reads_is_told_apart(pair: tuple[Any, Any]) -> None:
    step = bs.jit(lambda x, how: x * len(repr(how)), static="how")
    for _ in range(4):
        for how in pair:
            assert step(ones(2), how)[0].item() == len(repr(how))


class How:
    """Something that Python reads, and that changes."""

    factor = 2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, How) and self.factor == other.factor

    def __hash__(self) -> int:
        return hash(self.factor)


class HowInWords(How, str):
    """The same, derived from a text."""


@pytest.mark.parametrize("how", [How(), HowInWords("how")], ids=["object", "text"])
def test_what_may_change_is_looked_at_each_time(how: How) -> None:
    step = bs.jit(lambda x, how: x * how.factor, static="how")
    for factor in (2, 2, 2, 2, 3):
        how.factor = factor
        assert step(ones(1), how).item() == factor


def test_what_keeps_a_history_goes_another_way() -> None:
    double = bs.jit(lambda x: x * 2)
    for _ in range(3):
        double(ones(2))
    weight = ones(2).requires_grad_()
    assert double(weight).sum().backward()[weight].tolist() == [2, 2]


def test_a_class_that_is_registered_anew_goes_another_way() -> None:
    step = bs.jit(lambda pair: pair[0] - pair[1])
    for _ in range(3):
        assert step([ones(1) * 3, ones(1)]).item() == 2
    (way,) = step._direct
    given = [(ones(1) * 3).sync(), ones(1)]
    anew = trees.Container(lambda pair: (pair, None), lambda _, pair: [*pair])
    with mock.patch.dict(trees._REGISTERED):
        trees.register_container(list, anew)
        assert way((given,), {}) is OTHER
    trees._MET.clear()
    assert way((given,), {}).item() == 2


def test_numbers_are_drawn_anew_and_what_is_captured_is_kept() -> None:
    outside = ones(4) * 100
    step = bs.jit(lambda x: bs.random.uniform(shape=(4,)) + x + outside)
    drawn = [tuple(step(ones(4)).tolist()) for _ in range(6)]
    assert len({*drawn}) == 6
    assert all(101 <= each <= 102 for row in drawn for each in row)


def test_open_sizes_each_go_their_way(quick_calls: list[Any]) -> None:
    step = bs.jit(lambda rows: (rows.sum() / rows.shape[0], rows), dynamic={"rows": {0: "batch"}})
    for count in (3, 5, 3, 5, 3, 5):
        step(ones(count))
    quick_calls.clear()
    for count in (5, 3):
        mean, rows = step(ones(count))
        assert (mean.item(), rows.shape) == (1, (count,))
    assert not quick_calls


def test_more_kinds_than_ways() -> None:
    step = bs.jit(lambda x: x + 1)
    for _ in range(4):
        for count in range(1, 9):
            assert step(bs.zeros(count).sync()).tolist() == [1] * count
    assert len(step._direct) == 4


def test_a_way_is_made_only_for_what_comes_often() -> None:
    step = bs.jit(lambda x: x + 1)
    with mock.patch("brimstone.frontend.jit.OFTEN", 4):
        for made in (0, 0, 0, 0, 1, 1):  # the first call is the one that compiles
            step(ones(2))
            assert len(step._direct) == made


def test_what_has_no_direct_way_is_asked_once() -> None:
    step = bs.jit(lambda x, how: x + how.stop, static="how")
    with mock.patch("brimstone.frontend.jit.direct", return_value=None) as asked:
        for _ in range(5):
            assert step(ones(1), range(2)).item() == 3
    assert asked.call_count == 1


@pytest.mark.usefixtures("target")
def test_what_was_given_away_cannot_be_read() -> None:
    step = bs.jit(lambda tree, by: bs.tree_map(lambda leaf: leaf + by, tree), donate="tree")
    state = numbers()
    for _ in range(6):
        before, state = state, step(state, 1.0)
    assert state["number 3"].tolist() == [9, 9]
    with pytest.raises(bs.DeadTensorError, match=r"donated at .*test_direct\.py:\d+"):
        before["number 3"].tolist()
    with pytest.raises(bs.DeadTensorError, match="donated"):
        step(before, 1.0)


FAILURES = Failures()


@pytest.fixture
def donating(target: str) -> Jitted:
    """A function that goes the direct way, and that nobody else has compiled."""
    step = bs.jit(lambda x: x * 0.75 + 1.25, donate="x")
    with FAILURES.watching():
        for _ in range(4):
            step(ones(2))
    return step


def failing(step: Jitted, problem: Any) -> Any:
    """A context in which what a function is compiled to cannot be run."""
    if isinstance(step.plans[0].executable, Interpreted):
        return mock.patch.object(Interpreted, "__call__", side_effect=problem)
    return mock.patch.object(FAILURES, "before", problem)


def test_an_interrupt_gives_away_what_was_donated(donating: Jitted) -> None:
    given = ones(2)
    with failing(donating, KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        donating(given)
    with pytest.raises(bs.DeadTensorError):
        given.tolist()
    assert donating(ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize("problem", [MemoryError, ValueError])
def test_after_an_error_what_was_donated_is_still_there(
    donating: Jitted, problem: type[Exception]
) -> None:
    given = ones(2)
    with failing(donating, problem("none")), pytest.raises(problem):
        donating(given)
    assert given.tolist() == [1, 1]


def test_an_error_on_the_host_is_told_with_its_line() -> None:
    def refuse(x: np.ndarray) -> np.ndarray:
        if x[0] > 3:
            raise ValueError("too much")
        return x

    step = bs.jit(lambda x: bs.host_call(refuse, x, x) + 1)
    for value in (1, 2, 3):
        assert step(bs.full(2, float(value)).sync()).tolist() == [value + 1] * 2
    with pytest.raises(bs.OperationFailed, match=r"too much[\s\S]*test_direct\.py"):
        step(bs.full(2, 4.0).sync()).tolist()


def test_threads_that_go_one_way() -> None:
    step = bs.jit(lambda tree: bs.tree_map(lambda leaf: leaf + 1, tree), donate="tree")
    found: list[Any] = []

    def go(first: float) -> None:
        state = numbers(first)
        for _ in range(30):
            state = step(state)
        found.append((first, state))

    threads = [Thread(target=go, args=(100.0 * at,)) for at in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for first, state in found:
        same(state, numbers(first + 30))
    assert len(found) == 4


def test_what_is_written(target: str) -> None:
    step = bs.jit(lambda x, by: (x * by, x))
    for _ in range(3):
        step(ones(2), by=2.0)
    (way,) = step._direct
    written = "".join(linecache.getlines(way.__code__.co_filename))
    assert written.split("def written")[1] == TEXT.format(**NAMES[target])


NAMES = {
    "reference": {
        "run": "run_11(((of_given_1,), (of_given_2,)), sizes_9, counts_10)",
        "failed": "failed_12",
        "line": "line_13",
    },
    "cpu": {"run": "dealer_9(of_given_1, of_given_2)", "failed": "failed_10", "line": "line_11"},
}
TEXT = """(args, kwargs):
        if len(args) != 1 or (*kwargs,) != names_0:
            return OTHER_1
        (given_1,) = args
        if type(given_1) is not cls_4:
            return OTHER_1
        node = given_1.node
        of_given_1 = node.buffer
        if of_given_1 is None or node.type is not type_2:
            return OTHER_1
        if node.device is not device_3 or node.tracked:
            return OTHER_1
        (given_2,) = kwargs.values()
        if type(given_2) is not cls_5:
            return OTHER_1
        of_given_2 = uploaded_6(2, given_2, device_3).buffer
        try:
            made = {run}
        except BaseException as problem:
            {failed}(problem, args, kwargs)
            raise
        line = {line}
        return (held_8(leaf_7(made[0], type_2, device_3, False, line)), \
held_8(leaf_7(made[1], type_2, device_3, False, line)))
    return written
"""


def test_a_traceback_shows_what_is_written(donating: Jitted) -> None:
    broken = mock.patch("brimstone.frontend.arguments.donate", side_effect=KeyError("here"))
    with broken, pytest.raises(KeyError) as caught:
        donating(ones(2))
    told = "".join(traceback.format_exception(caught.value))
    assert re.search(r"give_away_\d+\(args, kwargs\)", told)
