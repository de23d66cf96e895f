"""Arguments that no error can show, that never end, or are of no kind that is taken."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import brimstone as bs
from kit.mistakes import Mistake, check


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


X, V = bs.ones((2, 2)), bs.ones(3)
MANY = np.arange(3.0)
MISTAKES = [
    Mistake(lambda: bs.cross(bs.ones(()), V), bs.ShapeError, "cross: axis -1 has not size 3"),
    Mistake(lambda: bs.dim(cast(Any, 3)), bs.ArgumentError, "dim: a size has a name, not 3"),
    Mistake(lambda: bs.dim("n", maximum=cast(Any, np.inf)), bs.ArgumentError, "dim: cannot"),
    Mistake(lambda: bs.diag(V, cast(Any, [1])), bs.DTypeError, "diag: the number of a diagonal is"),
    Mistake(lambda: bs.tensordot(X, X, axes=...), bs.ArgumentError, "tensordot: axes is a number"),
    Mistake(lambda: bs.tensordot(X, X, axes=[1]), bs.ArgumentError, "tensordot: axes is a number"),
    Mistake(lambda: bs.concat(cast(Any, np.array(3.0))), bs.DTypeError, "concat: takes a list"),
    Mistake(lambda: bs.linalg.multi_dot(cast(Any, 3)), bs.DTypeError, "multi_dot: takes a list"),
    Mistake(lambda: bs.affine_grid(X, 2), bs.ShapeError, "affine_grid: needs maps"),
    Mistake(lambda: bs.hann_window(cast(Any, "a")), bs.DTypeError, "hann_window: a length is an"),
    Mistake(lambda: bs.stft(V, cast(Any, "a")), bs.DTypeError, "stft: `n_fft` is an integer"),
    Mistake(lambda: bs.fft.fftfreq(cast(Any, "a")), bs.DTypeError, "fftfreq: a length is an int"),
    Mistake(lambda: bs.fft.hfft(V, n=cast(Any, 2.5)), bs.DTypeError, "hfft: a length is an int"),
    Mistake(lambda: bs.fft.fft2(X, s=cast(Any, 3)), bs.ArgumentError, "fftn: `s` is a length for"),
    Mistake(lambda: bs.multinomial(V, cast(Any, "a")), bs.DTypeError, "multinomial: a size is an"),
    Mistake(lambda: bs.repeat(V, [[1, 2], [3]]), bs.ShapeError, "repeat: cannot make a tensor"),
    Mistake(lambda: bs.quantile(V, [[1], [2, 3]]), bs.ShapeError, "quantile: cannot make a tensor"),
    Mistake(lambda: X[[[1, 0], [0]]], bs.ShapeError, "index: cannot make a tensor"),
    Mistake(lambda: bs.sum(V, keepdims=MANY), bs.ArgumentError, "sum: keepdims is True or False"),
    Mistake(lambda: bs.median(V, keepdims=MANY), bs.ArgumentError, "median: keepdims is True or"),
    Mistake(lambda: bs.meshgrid(V, V, indexing=cast(Any, MANY)), bs.ArgumentError, "meshgrid: in"),
    Mistake(lambda: bs.transpose(X, MANY), bs.AxisError, "an axis is an integer, not ndarray"),
    Mistake(lambda: bs.arange(0, MANY), bs.ShapeError, "not one element"),
    Mistake(lambda: bs.tree_map(cast(Any, 3), [V]), bs.ArgumentError, "expected a function, got i"),
    Mistake(lambda: bs.nonfinite_origin(cast(Any, 3)), bs.ArgumentError, "expected a function"),
    Mistake(lambda: bs.nn.AlphaDropout(cast(Any, "a")), bs.DTypeError, "is a number, not str"),
    Mistake(lambda: bs.train.Groups(cast(Any, "cpu")), bs.ArgumentError, "groups are a mapping"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_of_no_kind_that_is_taken_is_told_of(mistake: Mistake) -> None:
    check(mistake)
