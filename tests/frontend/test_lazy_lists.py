"""Lists of results that nobody has looked into are like any others, and made when they are."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.lazy import LazyDict, LazyList, bundle_of

LISTS: dict[str, Callable[[Any, Any], Any]] = {
    "length": lambda it, plain: len(it),
    "truth": lambda it, plain: bool(it),
    "item": lambda it, plain: it[1],
    "slice": lambda it, plain: it[1:3],
    "iteration": lambda it, plain: [each for each in it],
    "reversed": lambda it, plain: [*reversed(it)],
    "spread": lambda it, plain: [*it],
    "as arguments": lambda it, plain: _backwards(*it),
    "unpacked": lambda it, plain: _unpacked(it),
    "list": lambda it, plain: list(it),
    "tuple": lambda it, plain: [*tuple(it)],
    "its type": lambda it, plain: type(it)(each for each in it),
    "its class": lambda it, plain: it.__class__(it),
    "and another": lambda it, plain: it + plain,
    "after another": lambda it, plain: plain + it,
    "repeated": lambda it, plain: it * 2,
    "repeated from the left": lambda it, plain: 2 * it,
    "added": lambda it, plain: _changed(it, lambda: it.__iadd__(plain)),
    "added to another": lambda it, plain: _changed(plain, lambda: plain.__iadd__(it)),
    "extends another": lambda it, plain: _changed(plain, lambda: plain.extend(it)),
    "in place of a part": lambda it, plain: _changed(
        plain, lambda: plain.__setitem__(slice(1), it)
    ),
    "extended": lambda it, plain: _changed(it, lambda: it.extend(plain)),
    "appended": lambda it, plain: _changed(it, lambda: it.append(plain[0])),
    "inserted": lambda it, plain: _changed(it, lambda: it.insert(1, plain[0])),
    "item set": lambda it, plain: _changed(it, lambda: it.__setitem__(0, plain[0])),
    "item deleted": lambda it, plain: _changed(it, lambda: it.__delitem__(0)),
    "popped": lambda it, plain: [it.pop(), *it],
    "cleared": lambda it, plain: _changed(it, it.clear),
    "reversed in place": lambda it, plain: _changed(it, it.reverse),
    "sorted in place": lambda it, plain: _changed(it, lambda: it.sort(key=float, reverse=True)),
    "sorted": lambda it, plain: sorted(it, key=float, reverse=True),
    "copied": lambda it, plain: it.copy(),
    "copied by copy": lambda it, plain: copy.copy(it),
    "copied deeply": lambda it, plain: copy.deepcopy(it),
    "pickled": lambda it, plain: pickle.loads(pickle.dumps(it)),
    "zipped": lambda it, plain: [one for one, _ in zip(it, plain, strict=False)],
    "mapped": lambda it, plain: bs.tree_map(lambda leaf: leaf * 2, it),
    "stacked": lambda it, plain: bs.stack(it),
    "of numpy": lambda it, plain: np.array([float(each) for each in it]),
    "matched": lambda it, plain: _matched(it),
    "text": lambda it, plain: repr(it),
}


def _backwards(*items: Any) -> list[Any]:
    return [*items][::-1]


def _unpacked(items: Any) -> list[Any]:
    first, second, third, fourth = items
    return [fourth, third, second, first]


def _changed(changed: Any, change: Callable[[], Any]) -> Any:
    change()
    return changed


def _matched(tree: Any) -> Any:
    match tree:
        case [first, *_, last]:
            return [first, last]
        case _:
            return "something else"


def listed(tree: Any) -> Any:
    """What can be compared: numbers in place of tensors."""
    if isinstance(tree, bs.Tensor | np.ndarray):
        return tree.tolist()
    return [listed(each) for each in tree] if isinstance(tree, list) else tree


@pytest.mark.parametrize("look", LISTS.values(), ids=LISTS)
def test_a_list_that_nobody_has_looked_into_is_like_any_other(
    look: Callable[[Any, Any], Any],
) -> None:
    made = bs.jit(lambda x: [x, x + 1, x + 2, x + 3])(bs.asarray(4.0))
    assert bundle_of(made) is not None
    assert isinstance(made, list)
    plain = [bs.asarray(float(value)) for value in range(4, 8)]
    others = [bs.asarray(1.0), bs.asarray(2.0)]
    assert listed(look(made, [*others])) == listed(look(plain, others))


@pytest.mark.parametrize(("lazy", "plain"), [(LazyDict, dict), (LazyList, list)])
def test_nothing_of_a_lazy_container_shows_that_it_is_empty(lazy: type, plain: type) -> None:
    """Whatever its class inherits looks into it first, but for what has no use for the content."""
    own = vars(lazy).keys()
    harmless = {
        "__class_getitem__", "__delattr__", "__dir__", "__format__", "__getattribute__",
        "__getstate__", "__hash__", "__init__", "__init_subclass__", "__reduce__", "__setattr__",
        "__sizeof__", "__str__", "__subclasshook__",
    }  # fmt: skip
    assert dir(plain) - own - harmless == set()


@pytest.mark.parametrize("plain", [dict, list])
def test_the_type_of_a_lazy_container_makes_plain_ones(plain: type) -> None:
    tree = {name: bs.ones(2) for name in "abcd"} if plain is dict else [bs.ones(2)] * 4
    made = bs.jit(lambda tree: bs.tree_map(lambda leaf: leaf + 1, tree))(tree)
    assert made.__class__ is plain
    assert bundle_of(made) is not None
    assert type(type(made)(tree)) is plain


def test_a_list_that_is_given_to_functions_stays_lazy() -> None:
    step = bs.jit(lambda layers: [(weight * 2, bias + 1) for weight, bias in layers])
    layers = step([(bs.ones((2, 2)), bs.zeros(2)) for _ in range(3)])
    for _ in range(3):
        before, layers = layers, step(layers)
        assert bundle_of(before) is not None, "it was looked into"
    assert [(weight.tolist(), bias.tolist()) for weight, bias in layers] == [
        ([[16, 16], [16, 16]], [4, 4])
    ] * 3


def test_of_a_list_that_was_given_away_no_item_can_be_read() -> None:
    step = bs.jit(lambda layers: [each * 2 for each in layers], donate="layers")
    before = step([bs.ones(2) for _ in range(4)])
    step(before)
    with pytest.raises(bs.DeadTensorError, match="donated"):
        before[1].tolist()
