"""What `bs.kernel` says to those who write kernels that cannot be, or call them wrongly."""

import re
from collections.abc import Callable
from inspect import getsourcelines
from typing import Any

import pytest

import brimstone as bs
from brimstone import tiles

ONES = bs.ones(6)
COMPLEX = bs.ones(6, dtype="complex64")


@bs.kernel
def halved(x, y, *, tile=4):
    tiles.equal(x.shape[0], y.shape[0])
    out = tiles.result(x.shape, x.dtype)
    at = tiles.grid(tiles.ceil_div(x.shape[0], tile)) * tile
    out.store(at, (x.load(at, tile) + y.load(at, tile)) / 2)


@bs.kernel
def fixed(x):
    width = tiles.equal(x.shape[0], 4)
    out = tiles.result(width, x.dtype)
    out.store(tiles.grid(1), x.load(0, width))


CALLS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "two sizes": (lambda: halved(ONES, ONES[1:]), bs.ShapeError, r"y has the shape \[5\], expect"),
    "a fixed size": (lambda: fixed(ONES), bs.ShapeError, r"x has the shape \[6\], expected \[4\]"),
    "two dtypes": (
        lambda: halved(ONES, ONES.astype("float64")),
        bs.DTypeError,
        r"add: the dtypes differ[^$]*test_kernel_errors.py:\d+[^$]*astype",
    ),
    "integers": (
        lambda: halved(ONES.astype("int32"), ONES.astype("int32")),
        bs.DTypeError,
        "only floats are divided",
    ),
    "complex": (lambda: halved(COMPLEX, COMPLEX), bs.DTypeError, "does not take complex64"),
    "a missing argument": (lambda: halved(ONES), bs.ArgumentError, "missing a required argument"),
    "a setting by place": (lambda: halved(ONES, ONES, 4), bs.ArgumentError, "too many positional"),
    "a list for a setting": (
        lambda: halved(ONES, ONES, tile=[4]),
        bs.ArgumentError,
        "a setting is unhashable",
    ),
    "a tile of no element": (lambda: halved(ONES, ONES, tile=0), bs.ArgumentError, "divide x_0"),
    "no tensor": (lambda: halved(ONES, "y"), bs.DTypeError, "expected a tensor"),
    "outside a kernel": (lambda: tiles.arange(3), bs.ArgumentError, "only a kernel does this"),
}


@pytest.mark.parametrize(("call", "kind", "message"), CALLS.values(), ids=CALLS)
def test_wrong_calls(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


# Each kernel is wrong in its last line; `x` has one axis, `out` is a result like it.


def chooses(x: Any, out: Any) -> None:
    if tiles.max(x.load(0, 4)) > 0:
        ...


def combines(x: Any, out: Any) -> None:
    out.store(0, tiles.where(x.load(0, 4) > 0 and x.load(0, 4) < 1, 1.0, 2.0))


def iterates(x: Any, out: Any) -> None:
    list(x.load(0, 4))


def converts(x: Any, out: Any) -> None:
    float(tiles.sum(x.load(0, 4)))


def counts(x: Any, out: Any) -> None:
    list(range(tiles.sum(x.load(0, 4))))


def captures(x: Any, out: Any) -> None:
    out.store(0, x.load(0, 4) * ONES)


def calls_tensors(x: Any, out: Any) -> None:
    out.store(0, bs.exp(x.load(0, 4)))


def calls_kernels(x: Any, out: Any) -> None:
    halved(x, x)


def runs_off(x: Any, out: Any) -> None:
    out.store(0, x.load(0, x.shape[0]))


def reads_axes(x: Any, out: Any) -> None:
    out.store(0, x.load((0, 0), (2, 2)))


def loads_matrix(x: Any, out: Any) -> None:
    out.store(0, x.load(0, (2, 2)))


def writes_argument(x: Any, out: Any) -> None:
    x.store(0, x.load(0, 4))


def writes_other_dtype(x: Any, out: Any) -> None:
    out.store(0, x.load(0, 4).astype("int32"))


def places_by_float(x: Any, out: Any) -> None:
    out.store(tiles.sum(x.load(0, 4)), x.load(0, 4))


def pads_with_text(x: Any, out: Any) -> None:
    out.store(0, x.load(0, 4, padding=1j))


def stretches(x: Any, out: Any) -> None:
    out.store(0, x.load(0, 4) + x.load(0, 3))


def indexes(x: Any, out: Any) -> None:
    out.store(0, x.load(0, 4)[1:])


def leaks(x: Any, out: Any) -> None:
    kept: list[Any] = []
    tiles.fori_loop(0, 4, lambda at: kept.append(x.load(at, 1)))
    out.store(0, kept[0])


def carries_other(x: Any, out: Any) -> None:
    tiles.fori_loop(0, 4, lambda at, total: total.astype("float64"), tiles.zeros(4, "float32"))


def carries_more(x: Any, out: Any) -> None:
    tiles.fori_loop(0, 4, lambda at, total: (total, total), tiles.zeros(4, "float32"))


def branches_apart(x: Any, out: Any) -> None:
    tiles.cond(tiles.sum(x.load(0, 4)) > 0, lambda: 1.0, lambda: x.load(0, 4))


def branches_on_tile(x: Any, out: Any) -> None:
    tiles.cond(x.load(0, 4) > 0, lambda: 1.0, lambda: 2.0)


def multiplies(x: Any, out: Any) -> None:
    tiles.dot(x.load(0, 4), x.load(0, 4))


def combines_by(x: Any, out: Any) -> None:
    out.combine(0, x.load(0, 4), "mean")


def equals(x: Any, out: Any) -> None:
    tiles.equal(x.shape[0], x.shape[0] + 1)


def remainders(x: Any, out: Any) -> None:
    out.store(0, x.load(0, 4) % 2)


WRONG: dict[Callable[[Any, Any], None], tuple[type[Exception], str]] = {
    chooses: (bs.TracedValueError, "no value is known.*tiles.where"),
    combines: (bs.TracedValueError, "no value is known.*`&`"),
    iterates: (bs.TracedValueError, "fori_loop"),
    converts: (bs.TracedValueError, "no value is known"),
    counts: (bs.TracedValueError, "fori_loop"),
    captures: (bs.DTypeError, "got Tensor.*gets tensors as its arguments"),
    calls_tensors: (bs.DTypeError, "got Tile.*bs.tiles"),
    calls_kernels: (bs.DTypeError, "got View.*bs.tiles"),
    runs_off: (bs.ShapeError, "a size that Python knows, not x_0"),
    reads_axes: (bs.ShapeError, "a place of rank 2 for x, which has 1"),
    loads_matrix: (bs.ShapeError, "a tile of rank 2 for x, which has 1"),
    writes_argument: (bs.ArgumentError, "x is an argument.*tiles.result"),
    writes_other_dtype: (bs.DTypeError, "a tile of int32 goes to result of float32"),
    places_by_float: (bs.DTypeError, "a place is one integer"),
    pads_with_text: (bs.DTypeError, "1j is not a value of float32"),
    stretches: (bs.ShapeError, r"\[4\] and \[3\] do not broadcast"),
    indexes: (bs.ArgumentError, "indexed by `:` and `None` only"),
    leaks: (bs.DeadTensorError, "used outside the loop"),
    carries_other: (bs.ShapeError, "gives tile<.4., f32>, another one tile<.4., f64>"),
    carries_more: (bs.ArgumentError, "same kinds of containers"),
    branches_apart: (bs.ShapeError, "gives scalar<f32>, another one tile<.4., f32>"),
    branches_on_tile: (bs.DTypeError, "one boolean.*tiles.any"),
    multiplies: (bs.ArgumentError, "a dot needs matrices"),
    combines_by: (bs.ArgumentError, "no combiner 'mean'.*add"),
    equals: (bs.ShapeError, "never equal"),
    remainders: (bs.TracedValueError, "tiles.remainder"),
}


@pytest.mark.parametrize("body", WRONG)
def test_wrong_kernels_name_their_line(body: Callable[[Any, Any], None]) -> None:
    @bs.kernel
    def wrong(x):
        out = tiles.result(x.shape, x.dtype)
        tiles.grid(1)
        body(x, out)

    kind, message = WRONG[body]
    with pytest.raises(kind, match=f"(?s){message}") as caught:
        wrong(ONES)
    lines, first = getsourcelines(body)
    found = re.search(r"at: .*test_kernel_errors.py:(\d+)", str(caught.value))
    assert found is not None
    assert first < int(found[1]) < first + len(lines)


def test_equal_sizes_may_be_stated_one_after_the_other() -> None:
    @bs.kernel
    def added(x, y, z):
        tiles.equal(x.shape[0], y.shape[0])
        tiles.equal(y.shape[0], z.shape[0])
        tiles.equal(z.shape[0], x.shape[0])
        out = tiles.result(x.shape, x.dtype)
        at = tiles.grid(x.shape[0])
        out.store(at, x.load(at, 1) + y.load(at, 1) + z.load(at, 1))

    shorter = bs.ones(5)
    for given in ((ONES, ONES, shorter), (ONES, shorter, ONES), (shorter, ONES, ONES)):
        with pytest.raises(bs.ShapeError, match="has the shape"):
            added(*given)
    assert added(ONES, ONES, ONES).shape == (6,)


def test_nothing_leaves_its_kernel() -> None:
    kept: list[Any] = []

    @bs.kernel
    def keeps(x):
        kept.extend([x, x.load(0, 4)])
        tiles.result(x.shape, x.dtype).store(tiles.grid(1), x.load(0, 4))

    keeps(ONES)
    for use in (lambda: kept[0].load(0, 4), lambda: kept[1] + 1):

        @bs.kernel
        def uses(x, *, use=use):
            tiles.result(x.shape, x.dtype).store(tiles.grid(1), use())

        with pytest.raises(bs.DeadTensorError, match="of another kernel"):
            uses(ONES)
    with pytest.raises(bs.ArgumentError, match="only a kernel"):
        _ = kept[1] + 1


def test_what_a_kernel_must_state() -> None:
    @bs.kernel
    def without_grid(x):
        tiles.result(x.shape, x.dtype).store(0, x.load(0, 4))

    @bs.kernel
    def without_result(x):
        tiles.grid(1)

    @bs.kernel
    def returns(x):
        return tiles.result(x.shape, x.dtype)

    for kernel, message in (
        (without_grid, "states no grid.*tiles.grid"),
        (without_result, "states no result.*tiles.result"),
        (returns, "returned View.*stores"),
    ):
        with pytest.raises(bs.ArgumentError, match=f"(?s){message}"):
            kernel(ONES)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((), "1 to 3 axes, not 0"),
        ((1, 1, 1, 1), "1 to 3 axes, not 4"),
        ((-1,), "not negative"),
        ((0.5,), "a size is an integer"),
    ],
)
def test_wrong_grids(counts: tuple[Any, ...], message: str) -> None:
    @bs.kernel
    def wrong(x):
        tiles.result(x.shape, x.dtype)
        tiles.grid(*counts)

    with pytest.raises(bs.BrimstoneError, match=message):
        wrong(ONES)


def test_a_grid_is_stated_once_and_by_sizes() -> None:
    @bs.kernel
    def twice(x):
        tiles.grid(1)
        tiles.grid(1)

    @bs.kernel
    def by_value(x):
        tiles.grid(tiles.sum(x.load(0, 4)))

    with pytest.raises(bs.ArgumentError, match="has stated its grid already"):
        twice(ONES)
    with pytest.raises(bs.ArgumentError, match="not from a value"):
        by_value(ONES)


@pytest.mark.parametrize(
    "function", [lambda *x: None, lambda x, **settings: None, lambda x=1: None]
)
def test_wrong_signatures(function: Callable[..., None]) -> None:
    with pytest.raises(bs.ArgumentError, match=r"names each of its arguments|has a default"):
        bs.kernel(function)


def test_only_functions_are_kernels() -> None:
    with pytest.raises(bs.ArgumentError, match="expected a function"):
        bs.kernel(3)
