"""The stages in which a compiled function runs where sizes depend on values."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir import parse, print_module, verify
from brimstone.runtime.steps import STATISTICS
from kit.mistakes import Mistake, check

VALUES = [
    np.array([1, 0, 3, 0, 5, -2], np.float32),
    np.zeros(6, np.float32),  # a count of 0
    np.array([4, 4, 1, 2, 2, 4], np.float32),  # the greatest count there can be
    np.array([0, 0, 0, 0, 0, 7], np.float32),
]


def positive(x: Any) -> Any:
    return x[x > 0]


def kept(x: bs.Tensor) -> bs.Tensor:
    return bs.clip(x, 0, 3).astype(bs.int64)


def number(x: bs.Tensor) -> bs.Tensor:
    return (x > 0).sum()


def same(found: Any, expected: Any) -> None:
    """Both are equal tensors, or tuples of such."""
    several = isinstance(expected, tuple)
    pairs = zip(found, expected, strict=True) if several else [(found, expected)]
    for one, other in pairs:
        assert one.shape == other.shape
        np.testing.assert_array_equal(one.numpy(), other)


def test_a_new_size_and_a_new_count_compile_nothing() -> None:
    compiled = bs.jit(lambda x: bs.tanh(positive(x)).sum())
    compiled(bs.asarray(VALUES[0]))
    before = STATISTICS.compiled
    for length in (5, 9, 40):
        for count in (0, 2, length):
            values = np.arange(length, dtype=np.float32) - (length - count) + 1
            found = compiled(bs.asarray(values))
            np.testing.assert_allclose(found.numpy(), np.tanh(positive(values)).sum(), rtol=1e-5)
    assert STATISTICS.compiled == before


def test_chained_counts_are_three_stages() -> None:
    compiled = bs.jit(lambda x: bs.unique_values(x[bs.nonzero(x)[0]]))
    for values in VALUES:
        same(compiled(bs.asarray(values)), np.unique(values[np.nonzero(values)]))
    assert len(compiled.plans) == 3


def test_counts_of_one_stage_are_read_together() -> None:
    def f(x: Any, np: Any) -> Any:
        low, high = x[x < 1], x[x > 2]
        return low[:, None] + high, low.sum(), x

    compiled = bs.jit(lambda x: f(x, bs))
    for values in VALUES:
        same(compiled(bs.asarray(values)), f(values, np))
    assert len(compiled.plans) == 2
    first, second = compiled.lower(bs.asarray(VALUES[0])).ir
    assert str(first.results[-1].type) == "tensor<[2], i64>"
    assert [symbol.name for symbol in second.symbols] == ["count0", "count1"]


def test_without_bound_sizes_there_is_one_step() -> None:
    compiled = bs.jit(lambda x: bs.nonzero(x, size=3)[0] + x[:3])
    compiled(bs.asarray(VALUES[0]))
    assert len(compiled.plans) == 1
    assert len(compiled.lower(bs.asarray(VALUES[0])).ir) == 1


def test_a_count_that_nothing_reads_splits_nothing() -> None:
    def f(x: bs.Tensor) -> bs.Tensor:
        positive(x)
        return x + 1

    compiled = bs.jit(f)
    compiled(bs.asarray(VALUES[0]))
    assert len(compiled.plans) == 1


def test_trees_plain_sizes_and_what_is_no_tensor_come_back() -> None:
    def f(x: bs.Tensor) -> Any:
        found = positive(x)
        size: Any = found.shape[0]
        return {"found": found, "size": size, "twice": (size * 2, "name"), "x": x, "sum": x.sum()}

    compiled = bs.jit(f)
    for values in VALUES:
        found = compiled(bs.asarray(values))
        count = int((values > 0).sum())
        assert found["size"] == count
        assert found["twice"] == (2 * count, "name")
        same((found["found"], found["x"], found["sum"]), (positive(values), values, values.sum()))
    only = bs.jit(lambda x: positive(x).shape)
    assert [only(bs.asarray(values)) for values in VALUES] == [(3,), (0,), (6,), (1,)]


def test_open_sizes_together_with_bound_ones() -> None:
    compiled = bs.jit(
        lambda x, y: bs.concat([positive(x), x * y]), dynamic={"x": {0: "n"}, "y": {0: "n"}}
    )
    for length in (6, 1, 0, 11):
        x = np.arange(length, dtype=np.float32) - 2
        same(compiled(bs.asarray(x), bs.asarray(x)), np.concatenate([positive(x), x * x]))
    assert len(compiled.plans) == 2


@pytest.mark.parametrize("name", ["count0", "n0"])
def test_names_of_open_sizes_are_theirs_alone(name: str) -> None:
    compiled = bs.jit(
        lambda x: (bs.unique_values(x), bs.zeros((3, 4)).sum(axis=0)), dynamic={"x": {0: name}}
    )
    for values in VALUES:
        same(compiled(bs.asarray(values)), (np.unique(values), np.zeros(4, np.float32)))


@pytest.mark.parametrize("size", [2, 4, 9])
def test_a_size_that_is_given_may_be_more_than_there_is(size: int) -> None:
    def f(x: bs.Tensor) -> Any:
        places = bs.nonzero(x, size=size, fill_value=-1)[0]
        return places, bs.unique_values(x, size=size, fill_value=7)

    compiled = bs.jit(f, dynamic={"x": {0: "n"}})
    for length in (6, 3, 1):
        x = bs.asarray(VALUES[0][:length])
        for found, expected in zip(compiled(x), f(x), strict=True):
            same(found, expected.numpy())
    assert len(compiled.plans) == 1


def test_equal_functions_are_compiled_once() -> None:
    def make() -> Any:
        return bs.jit(lambda x: bs.cos(positive(x)) + bs.sin(positive(x)))

    make()(bs.asarray(VALUES[0]))
    before = STATISTICS.compiled
    found = make()(bs.asarray(VALUES[2]))
    assert STATISTICS.compiled == before
    np.testing.assert_allclose(found.numpy(), np.cos(VALUES[2]) + np.sin(VALUES[2]), rtol=1e-6)


def test_updates_at_places_that_the_data_decide() -> None:
    def f(x: bs.Tensor) -> Any:
        last = x.at[: number(x)].set(0)
        return x.at[x > 0].add(1), last, x.at[bs.nonzero(x > 1)[0]].set(positive(x)[:1].sum())

    compiled = bs.jit(f)
    for values in VALUES:
        x = bs.asarray(values)
        for found, expected in zip(compiled(x), f(x), strict=True):
            same(found, expected.numpy())


def test_donated_and_static_arguments() -> None:
    compiled = bs.jit(lambda x, least: (x[x > least], x * 2), static="least", donate="x")
    for values in VALUES:
        for least in (0, 2):
            x = bs.asarray(values).sync()
            same(compiled(x, least), (values[values > least], values * 2))
            with pytest.raises(bs.DeadTensorError, match="donated"):
                x.numpy()


def test_tensors_from_outside() -> None:
    mask, other = bs.asarray(VALUES[0]) > 0, bs.asarray(VALUES[2])
    compiled = bs.jit(lambda x: (x[mask], other[x > 0]))
    for values in VALUES:
        expected = values[VALUES[0] > 0], VALUES[2][values > 0]
        same(compiled(bs.asarray(values)), expected)
    table = np.arange(3.0)
    nothing = bs.jit(lambda: bs.nonzero(bs.asarray(table))[0])
    assert nothing().tolist() == [1, 2]


def test_random_numbers_of_a_bound_size() -> None:
    def f(x: bs.Tensor) -> bs.Tensor:
        found = positive(x + bs.rand(1) * 0)
        return found + bs.rand(found.shape)

    compiled = bs.jit(f)
    for values in VALUES:
        bs.manual_seed(3)
        drawn = [compiled(bs.asarray(values)).numpy() for _ in range(2)]
        bs.manual_seed(3)
        np.testing.assert_array_equal(compiled(bs.asarray(values)).numpy(), drawn[0])
        assert [each.shape for each in drawn] == [positive(values).shape] * 2
        assert not drawn[0].size or (drawn[0] != drawn[1]).all()
        assert ((drawn[0] >= positive(values)) & (drawn[0] < positive(values) + 1)).all()


def test_threads() -> None:
    compiled = bs.jit(lambda x: bs.unique_values(positive(x)) * 2)

    def work(place: int) -> None:
        values = VALUES[place % len(VALUES)]
        same(compiled(bs.asarray(values)), np.unique(positive(values)) * 2)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(80)))


def test_inside_another_jit_the_outer_one_is_split() -> None:
    inner = bs.jit(positive)
    compiled = bs.jit(lambda x: inner(x) * 2 + inner(x) + positive(x))
    for values in VALUES:
        same(compiled(bs.asarray(values)), positive(values) * 4)
    assert len(compiled.plans) == 2
    assert not inner.plans


def test_with_a_history_the_count_is_read() -> None:
    compiled = bs.jit(lambda x: (positive(x) ** 2).sum())
    for values in VALUES:
        x = bs.tensor(values, requires_grad=True)
        gradients = compiled(x).backward()
        np.testing.assert_allclose(gradients[x].numpy(), 2 * np.maximum(values, 0))


def test_transformations_inside_of_what_has_a_bound_size() -> None:
    def f(x: bs.Tensor) -> Any:
        found = positive(x)
        gradient = bs.grad(lambda y: (bs.sin(y) * found.shape[0]).sum())(found)
        mapped = bs.vmap(lambda each: each * x.sum())(found)
        total, lines = bs.scan(lambda carry, each: (carry + each, carry), x[0] * 0, found)
        return gradient, mapped, total, lines

    compiled = bs.jit(f)
    for values in VALUES:
        for found, expected in zip(
            compiled(bs.asarray(values)), f(bs.asarray(values)), strict=True
        ):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)


def line() -> bs.Tensor:
    return bs.asarray(VALUES[0])


def inside(body: Callable[[Any], Any]) -> list[Callable[[], Any]]:
    """A function inside of each transformation that has no bound dims."""
    row = line()[None]
    return [
        lambda: bs.grad(body)(line()),
        lambda: bs.jit(bs.grad(body))(line()),
        lambda: bs.grad(bs.jit(body))(line()),
        lambda: bs.vmap(body)(row),
        lambda: bs.vmap(bs.jit(body))(row),
        lambda: bs.scan(lambda carry, x: (carry, body(x)), line()[0], row),
        lambda: bs.jit(lambda x: bs.cond(x.sum() > 0, body, body, x))(line()),
        lambda: bs.checkpoint(body)(line()),
    ]


BODIES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "mask": (lambda x: positive(x).sum(), "bs.where"),
    "nonzero": (lambda x: bs.nonzero(x)[0].sum(), "size="),
    "unique": (lambda x: bs.unique_values(x).sum(), "size="),
    "repeat": (lambda x: bs.repeat(x, kept(x)).sum(), "outside of the"),
    "slice": (lambda x: x[: number(x)].sum(), "bs.where"),
    "arange": (lambda x: bs.arange(number(x)).sum(), "outside of the"),
}
MISTAKES = [
    Mistake(call, bs.TracedValueError, fix)
    for body, fix in BODIES.values()
    for call in inside(body)
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_other_transformations_have_no_bound_sizes(mistake: Mistake) -> None:
    check(mistake)


@pytest.mark.parametrize(
    "mistake",
    [
        Mistake(
            lambda: bs.jit(lambda x: bs.repeat(x, x.astype(bs.int64)))(line()),
            bs.OperationFailed,
            "is -2",
        ),
        Mistake(
            lambda: bs.jit(lambda x: bs.zeros(number(-x) - 9))(line()), bs.OperationFailed, "-8"
        ),
        Mistake(lambda: bs.jit(lambda x: x[: x.sum()])(line()), bs.PlaceError, "integers"),
        Mistake(lambda: bs.jit(lambda x: x[number(x) :: -1])(line()), bs.PlaceError, "bs.flip"),
        Mistake(lambda: bs.jit(lambda x: bs.zeros(x.sum()))(line()), bs.DTypeError, "integer"),
        Mistake(lambda: bs.jit(lambda x: bs.repeat(x, x))(line()), bs.DTypeError, "integer"),
        Mistake(
            lambda: bs.jit(lambda x: bs.repeat(x, kept(x[:2])))(line()), bs.ShapeError, "6 places"
        ),
        Mistake(lambda: bs.jit(lambda x: len(positive(x)))(line()), bs.ShapeError, "x.shape[0]"),
        Mistake(lambda: bs.jit(lambda x: positive(x) + x)(line()), bs.ShapeError, "count0"),
    ],
)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)


def test_stages_can_be_read() -> None:
    compiled = bs.jit(lambda x: bs.unique_values(positive(x)))
    lowered = compiled.lower(bs.asarray(VALUES[0]))
    names = [func.name for func in lowered.ir]
    assert names == ["stage_0_counts_for_index", "stage_1_counts_for_unique_all", "stage_2_returns"]
    text = print_module(lowered.ir)
    again = parse(text)
    verify(again)
    assert print_module(again) == text
    explained = str(compiled.explain(bs.asarray(VALUES[0])))
    for wanted in ("3 stages", "`index` at", "`unique_all` at", "test_stages.py", "0..6"):
        assert wanted in explained
    assert "returns f32[count1]\n" in explained
