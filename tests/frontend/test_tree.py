"""Trees: every container, one structure for equal ones, classes of users, mistakes."""

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check


class Pair(NamedTuple):
    one: Any
    other: Any


@dataclass(frozen=True)
class Layer:
    weight: Any
    name: str = field(default="", metadata={"static": True})


class Box:
    def __init__(self, inside: Any, label: str) -> None:
        self.inside, self.label = inside, label


bs.register_tree(
    Box, lambda box: ((box.inside,), box.label), lambda label, children: Box(children[0], label)
)
TREES: list[Any] = [
    5, [], (), {}, [1, (2, 3)], {"b": 1, "a": [2]}, Pair(1, {"x": 2}), None, [None, 1],
    Layer([1, 2], "n"), OrderedDict(a=1),
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_it_is_put_together_again(tree: Any) -> None:
    leaves, structure = bs.tree_flatten(tree)
    assert structure.build(leaves) == tree
    assert bs.tree_flatten(tree)[1] is structure
    assert bs.tree_map(lambda leaf: leaf, tree) == tree
    assert bs.tree_leaves(tree) == leaves
    assert structure.count == len(leaves)


def test_classes_of_users() -> None:
    box = bs.tree_map(lambda leaf: leaf + 1, Box({"a": 1}, "label"))
    assert (box.inside, box.label) == ({"a": 2}, "label")
    assert bs.tree_map(lambda a, b: a + b, Layer(1, "n"), Layer(2, "n")) == Layer(3, "n")
    assert bs.tree_leaves(defaultdict(list, a=[1])) == [1]


@pytest.mark.parametrize("settings", [(1, 1.0, True), (0.0, -0.0)])
@pytest.mark.parametrize("make", [Layer, Box])
def test_settings_come_back_as_they_were(make: Any, settings: tuple[Any, ...]) -> None:
    made = [bs.tree_map(lambda leaf: leaf, make(5, each)) for each in settings]
    found = [each.name if make is Layer else each.label for each in made]
    assert repr(found) == repr(list(settings))


def test_what_another_tree_lacks_is_kept() -> None:
    model = {"layer": [1, 2], "rest": (3, {"deep": 4}), "end": 5}
    slopes = {"end": None, "layer": [None, 10], "rest": None}
    made = bs.tree_map(lambda *all: sum(all), model, slopes, model, missing="keep")
    assert made == {"layer": [1, 14], "rest": (3, {"deep": 4}), "end": 5}
    frozen = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1)).freeze("1.bias")
    slopes = bs.grad(lambda model: model(bs.ones((3, 2))).sum())(frozen)
    made = bs.tree_map(lambda w, slope: w - slope, frozen, slopes, missing="keep")
    assert made[0].running_mean is frozen[0].running_mean
    assert made[1].bias is frozen[1].bias
    assert made[1].weight.tolist() == (frozen[1].weight - slopes[1].weight).tolist()


MISTAKES = [
    Mistake(lambda: bs.tree_map(lambda a, b: a, [1], [1, 2]), bs.ArgumentError, "[*] and [*, *]"),
    Mistake(lambda: bs.tree_map(lambda a, b: a, {"a": 1}, {"b": 1}), ValueError, "structure"),
    Mistake(lambda: bs.tree_map(lambda a, b: a, [1], [None]), ValueError, 'missing="keep"'),
    Mistake(lambda: bs.tree_map(abs, [1], missing="drop"), ValueError, "'drop'"),
    Mistake(
        lambda: bs.tree_map(max, {"a": [1, 2]}, {"a": [1]}, missing="keep"), ValueError, "at a"
    ),
    Mistake(
        lambda: bs.tree_map(lambda a, b: a, Layer(1, "x"), Layer(1, "y")), ValueError, "structure"
    ),
    Mistake(lambda: bs.tree_flatten([1, 2])[1].build([1]), bs.ArgumentError, "1 leaves"),
    Mistake(lambda: bs.register_tree(5, len, len), bs.ArgumentError, "expected a class, got int"),
    Mistake(lambda: bs.register_tree(Box, 5, len), bs.ArgumentError, "expected a function"),
    Mistake(lambda: bs.tree_flatten(Box(1, [])), bs.ArgumentError, "not hashable"),  # pyright: ignore[reportArgumentType]
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
