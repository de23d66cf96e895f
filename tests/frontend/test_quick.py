"""Calls of known kinds go the quick way, however their arguments are given, and mean the same."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.arguments import Arguments
from brimstone.frontend.jit import Jitted
from brimstone.frontend.lazy import bundle_of

Weights = dict[str, bs.Tensor]


class State(NamedTuple):
    """What optimisers keep."""

    weights: Weights
    moments: Weights
    count: Any


@dataclass
class Run:
    """The same, with a name."""

    weights: Weights
    moments: Weights
    name: str = field(default="run", metadata={"static": True})


def weights() -> Weights:
    return {f"weight {at}": bs.full((2,), float(at)) for at in range(6)}


def scaled(tree: Any, by: Any = 2) -> Any:
    return bs.tree_map(lambda leaf: leaf * by, tree)


@pytest.fixture
def slow_calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Filled with the arguments of all calls that go the slow way."""
    calls: list[Any] = []
    plain = Jitted._call

    def noted(self: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        calls.append((args, kwargs))
        return plain(self, args, kwargs)

    monkeypatch.setattr(Jitted, "_call", noted)
    return calls


CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "tensor": (weights, lambda step, tree: step(tree, bs.asarray(2.0).sync())),
    "float": (weights, lambda step, tree: step(tree, 2.0)),
    "int": (weights, lambda step, tree: step(tree, 2)),
    "numpy array": (weights, lambda step, tree: step(tree, np.full(2, 2, np.float32))),
    "numpy number": (weights, lambda step, tree: step(tree, np.float32(2))),
    "by name": (weights, lambda step, tree: step(tree, by=2.0)),
    "all by name": (weights, lambda step, tree: step(by=2.0, tree=tree)),
    "pair": (lambda: (weights(), weights()), lambda step, tree: step(tree, 2.0)),
    "deep": (lambda: [(weights(), [weights()])] * 2, lambda step, tree: step(tree, 2.0)),
    "with none": (lambda: (weights(), None), lambda step, tree: step(tree, 2.0)),
    "named tuple": (
        lambda: State(weights(), weights(), bs.asarray(1.0)),
        lambda step, tree: step(State(*tree), 2.0),
    ),
    "dataclass": (
        lambda: Run(weights(), weights(), "a"),
        lambda step, tree: step(Run(tree.weights, tree.moments, tree.name), 2.0),
    ),
}  # pyright: ignore[reportAssignmentType]


@pytest.mark.parametrize(("make", "call"), CALLS.values(), ids=CALLS)
def test_a_call_like_the_one_before_goes_the_quick_way(
    make: Callable[[], Any], call: Callable[[Any, Any], Any], slow_calls: list[Any]
) -> None:
    step = bs.jit(scaled)
    first = make()
    tree = call(step, call(step, first))  # of tensors by hand, then of what is returned
    before = len(slow_calls)
    parts = [each for each in _parts(tree) if bundle_of(each) is not None]
    assert parts
    tree = call(step, tree)
    assert len(slow_calls) == before
    assert all([bundle_of(each) is not None for each in parts]), "it was looked into"
    leaves, structure = bs.tree_flatten(tree)
    expected, its_structure = bs.tree_flatten(first)
    assert structure is its_structure
    assert [each.tolist() for each in leaves] == [(each * 8).tolist() for each in expected]


def _parts(tree: Any) -> Iterator[Any]:
    """What is in a tree, but for what is in a lazy one."""
    if isinstance(tree, Run):
        tree = [tree.weights, tree.moments]
    if bundle_of(tree) is None and isinstance(tree, list | tuple):
        for each in tree:
            yield from _parts(each)
    else:
        yield tree


def test_what_python_reads_goes_the_quick_way(slow_calls: list[Any]) -> None:
    step = bs.jit(lambda tree, how: scaled(tree, 2 if how == "twice" else 3))
    marked = bs.jit(scaled, static="by")
    tree = weights()
    for _ in range(3):
        found = step(tree, "twice"), step(tree, "thrice"), marked(tree, 4), marked(tree, by=5)
        assert [each["weight 1"].tolist() for each in found] == [[n, n] for n in (2, 3, 4, 5)]
    assert len(slow_calls) == 4


def test_open_sizes_go_the_quick_way(slow_calls: list[Any]) -> None:
    step = bs.jit(
        lambda tree, rows: scaled(tree, bs.sum(rows) / rows.shape[0]),
        dynamic={"rows": {0: "batch"}},
    )
    tree = weights()
    for _ in range(3):
        for count in (3, 5):
            found = step(tree, bs.full((count,), 2.0).sync())
            assert found["weight 3"].tolist() == [6, 6]
    assert len(slow_calls) == 2
    assert len(step.plans) == 1


def test_a_size_that_is_returned_is_that_of_the_call() -> None:
    step = bs.jit(lambda rows: (rows + 1, rows.shape[0] * 2), dynamic={"rows": {0: "batch"}})
    for count in (3, 5, 3, 5):
        made, size = step(bs.ones(count).sync())
        assert (made.shape, size) == ((count,), 2 * count)


def test_trees_that_were_given_away_stay_whole(slow_calls: list[Any]) -> None:
    step = bs.jit(lambda state: State(*scaled(state)), donate="state")
    state = step(step(State(weights(), weights(), bs.asarray(1.0))))
    before = state
    state = step(state)
    assert bundle_of(before.weights) is not None, "it was looked into"
    assert len(slow_calls) == 2
    assert state.moments["weight 2"].tolist() == [16, 16]
    for lost in (before.weights["weight 1"], before.count):
        with pytest.raises(bs.DeadTensorError, match="donated"):
            lost.tolist()


@pytest.mark.parametrize(
    "values",
    [
        (1, 1.0, True, 1j, np.int8(1), np.float64(1), np.ones(2, np.float32), np.ones((1, 2))),
        ([1.0, 2.0], (1.0, 2.0), [1.0, (2.0,)], [1.0, [2.0]], {"a": 1.0}, {"b": 1.0}, [], [[]]),
        (-0.0, 0.0, float("nan"), float("inf")),
        (np.ones(2), np.ones(3), np.ones((2, 1)), np.ones(2, np.int16), np.ones(2, ">f4")),
    ],
)  # fmt: skip
def test_what_differs_is_another_kind_or_another_value(values: tuple[Any, ...]) -> None:
    step = bs.jit(lambda tree: bs.tree_map(lambda leaf: leaf + 1, tree))
    for _ in range(2):
        for value in values:
            expected = bs.jit(lambda tree: bs.tree_map(lambda leaf: leaf + 1, tree))(value)
            found = step(value)
            assert bs.tree_flatten(found)[1] is bs.tree_flatten(expected)[1]
            for one, other in zip(bs.tree_leaves(found), bs.tree_leaves(expected), strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_zeros_that_python_reads_are_told_apart() -> None:
    step = bs.jit(lambda x, sign: x * np.copysign(1, sign).item(), static="sign")
    x = bs.ones(2).sync()
    for _ in range(2):
        assert [step(x, sign)[0].item() for sign in (0.0, -0.0)] == [1, -1]


def test_what_cannot_be_told_apart_is_refused_each_time() -> None:
    step = bs.jit(lambda x, how: x, static="how")
    x = bs.ones(2).sync()
    assert step(x, "this").tolist() == [1, 1]
    for _ in range(2):
        with pytest.raises(bs.ArgumentError, match=r"argument 1 .*unhashable"):
            step(x, ["a", "list"])


def test_a_number_that_is_too_large_is_refused_each_time() -> None:
    step = bs.jit(lambda x, by: x + by)
    x = bs.ones(2).sync()
    assert step(x, 1).tolist() == [2, 2]
    for _ in range(2):
        with pytest.raises(bs.ArgumentError, match="is no int64"):
            step(x, 1 << 70)


def test_what_an_array_holds_is_read_at_the_call() -> None:
    step = bs.jit(lambda tree, rows: scaled(tree, bs.sum(rows)))
    tree, rows = {"a": bs.ones(2).sync()}, np.ones(4, np.float32)
    made = []
    for _ in range(4):
        made.append(step(tree, rows))
        rows += 1
    assert [each["a"].tolist()[0] for each in made] == [4, 8, 12, 16]


def test_devices_are_told_apart() -> None:
    step = bs.jit(lambda x, by: x * by)
    for _ in range(3):
        for device in ("cpu", "reference"):
            made = step(bs.ones(2, device=device).sync(), 3.0)
            assert (str(made.device), made.tolist()) == (device, [3, 3])
            with bs.device(device):
                assert str(step(2.0, 3.0).device) == device


class Draw:
    """Random arguments: trees of tensors, numbers, arrays, texts and trees that are returned."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lazily = bs.jit(lambda tree: bs.tree_map(lambda leaf: leaf + 1, tree))

    def leaf(self) -> Any:
        value = self.random.randint(-3, 3)
        shape = self.random.choice([(), (2,), (3,)])
        return self.random.choice([
            lambda: bs.full(shape, float(value)).sync(),
            lambda: bs.full(shape, float(value)),
            lambda: value,
            lambda: value / 2,
            lambda: np.full(shape, value, np.float32),
            lambda: np.int16(value),
            lambda: self.random.choice(["this", "that", None, range(2)]),
        ])()  # fmt: skip

    def tree(self, depth: int) -> Any:
        if depth == 0:
            return self.leaf()
        width = self.random.choice([0, 1, 2, 3, 5, 40]) if depth == 1 else self.random.randint(0, 3)
        kind = self.random.choice(["list", "tuple", "dict", "state", "lazy", "leaf"])
        if kind == "lazy":
            return self.lazily([bs.full((2,), float(at)) for at in range(max(width, 4))])
        if kind == "state":
            return State(self.tree(depth - 1), self.tree(depth - 1), self.leaf())
        children = [self.tree(depth - 1) for _ in range(width)]
        if kind == "dict":
            return {f"key {at}": child for at, child in enumerate(children)}
        return self.leaf() if kind == "leaf" else (list if kind == "list" else tuple)(children)


def told(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """All that a function sees of its arguments: tensors twice as large, what Python reads as
    keys."""
    leaves, structure = bs.tree_flatten((args, kwargs))
    made: dict[str, Any] = {}
    for at, leaf in enumerate(leaves):
        is_tensor = isinstance(leaf, bs.Tensor | np.ndarray | np.generic | int | float)
        made[f"{at} {'' if is_tensor else leaf}"] = leaf * 2 if is_tensor else bs.zeros(())
    made[f"{structure}"] = bs.zeros(())
    return made


@pytest.mark.parametrize("seed", range(12))
def test_random_arguments_mean_the_same_again_and_again(seed: int) -> None:
    draw, compiled = Draw(seed), bs.jit(told)
    calls = []
    for _ in range(8):
        args = tuple(
            [draw.tree(draw.random.randint(0, 2)) for _ in range(draw.random.randint(0, 3))]
        )
        kwargs = {
            name: draw.tree(1) for name in draw.random.sample("abc", draw.random.randint(0, 2))
        }
        calls.append((args, kwargs))
    kinds: dict[Any, Any] = {}
    for _ in range(3):
        for args, kwargs in calls:
            key, _, _ = compiled._seen.kind(args, kwargs)
            expected, found = told(*args, **kwargs), compiled(*args, **kwargs)
            assert [*found] == [*expected]
            for name, value in expected.items():
                np.testing.assert_array_equal(found[name].numpy(), np.asarray(value))
            if key is not None:
                kind = Arguments(args, kwargs).kind
                assert kinds.setdefault(key, kind) == kind
    assert kinds


def test_a_function_without_tensors_has_a_step_for_each_device() -> None:
    twos = bs.jit(lambda: bs.ones(3) * 2)
    with bs.device("cpu"):
        on_cpu = twos()
    with bs.device("reference"):
        elsewhere = twos()
    assert (str(on_cpu.device), str(elsewhere.device)) == ("cpu", "reference")
    assert (on_cpu + 1).tolist() == (elsewhere + 1).tolist() == [3, 3, 3]


@dataclass(frozen=True)
class Scale:
    """What a function reads."""

    factor: float


def test_signs_of_zeros_in_dataclasses_are_told_apart() -> None:
    scaled = bs.jit(lambda x, scale: x * scale.factor, static="scale")
    x = bs.ones(2)
    signs = [np.signbit(scaled(x, Scale(each)).numpy()).tolist() for each in (0.0, -0.0)]
    assert signs == [[False, False], [True, True]]


@dataclass(frozen=True)
class Box:
    """Something in something; what is no number of it may have no hash."""

    inner: Any

    def __hash__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "box",
    [Box, lambda each: Box((each,)), lambda each: Box(Box(each)), lambda each: Box(({}, each))],
)
def test_kinds_of_numbers_in_dataclasses_are_told_apart(box: Callable[[Any], Box]) -> None:
    def number_in(value: Any) -> Any:
        while not isinstance(value, int | float):
            value = value.inner if isinstance(value, Box) else value[-1]
        return value

    scaled = bs.jit(lambda x, box: x * number_in(box), static="box")
    x = bs.asarray([1, 2])
    assert [scaled(x, box(each)).dtype for each in (2, 2.0, 2)] == ["int64", "float32", "int64"]


def test_a_field_that_is_not_set_is_not_looked_at() -> None:
    @dataclass(eq=False)
    class Late:
        factor: float
        later: float = field(init=False)

    scaled = bs.jit(lambda x, late: x * late.factor, static="late")
    assert scaled(bs.ones(2), Late(2.0)).tolist() == [2, 2]
