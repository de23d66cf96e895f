"""Arguments that no error can show, or that never end: they are told of all the same."""

from collections.abc import Callable
from typing import Any

import pytest

import brimstone as bs


class Silent:
    """Does not let itself be shown."""

    def __repr__(self) -> str:
        raise ValueError("nothing to show")


def cyclic() -> list[Any]:
    """A list that holds itself."""
    made: list[Any] = []
    made.append(made)
    return made


def nested(levels: int) -> list[Any]:
    """Lists in lists."""
    made: list[Any] = []
    for _ in range(levels):
        made = [made]
    return made


SHOWN: dict[str, Callable[[Any], Any]] = {
    "sin": bs.sin,
    "argmin": lambda v: bs.argmin(bs.ones(3), axis=v),
    "dtype": lambda v: bs.ones(3, dtype=v),
    "asarray": bs.asarray,
    "sum": lambda v: bs.sum(bs.ones(3), axis=v),
    "index": lambda v: bs.ones(3)[v],
    "pad": lambda v: bs.pad(bs.ones(3), 1, mode=v),
    "vector_norm": lambda v: bs.linalg.vector_norm(bs.ones(3), ord=v),
    "grad": lambda v: bs.grad(bs.sum, argnums=v)(bs.ones(3)),
}
OPENED: dict[str, Callable[[Any], Any]] = {
    "tree_leaves": bs.tree_leaves,
    "tree_map": lambda v: bs.tree_map(bs.sin, v),
    "jit": bs.jit(lambda t: 1),
    "grad": bs.grad(lambda t: 1.0),
    "cond": lambda v: bs.cond(bs.asarray(True), lambda t: t, lambda t: t, v),
}


@pytest.mark.parametrize("value", [Silent(), cyclic(), nested(3000)], ids=["silent", "in", "deep"])
@pytest.mark.parametrize("name", SHOWN)
def test_an_error_shows_what_it_can_of_an_argument(name: str, value: Any) -> None:
    with pytest.raises(bs.BrimstoneError, match=rf"^{name}: (.|\n)*test_errors\.py"):
        SHOWN[name](value)


@pytest.mark.parametrize("tree", [cyclic(), nested(3000)], ids=["in itself", "deep"])
@pytest.mark.parametrize("name", OPENED)
def test_a_tree_without_end_is_refused_by_the_function_called(name: str, tree: Any) -> None:
    with pytest.raises(bs.ArgumentError, match=rf"^{name}: a tree holds (.|\n)*test_errors\.py"):
        OPENED[name](tree)


def test_a_function_that_calls_itself_without_end_is_no_tree() -> None:
    def again(leaf: Any) -> Any:
        return bs.tree_map(again, [leaf])

    with pytest.raises(RecursionError):
        again(1)
