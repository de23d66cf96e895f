"""Leaves are joined, split and cut as reshapes and equal axes ask."""

from typing import Any

import pytest

from brimstone.ir.dims import Symbol
from brimstone.passes.fuse.axes import Axes, divided, regrouped

N, M = Symbol("n", 1), Symbol("m", 1)


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient"),
    [(6, 3, 2), (6, 4, None), (N * M, M, N), (3 * N * M, N, 3 * M), (N + M, N, None),
     (N * M + N, N, M + 1), (N, N, 1), (0, 0, 1), (0, 3, None), (N, 2, None), (2 * N, 2, N),
     (2, N, None), (N * M, N + M, None), (-2 * N, 2, -1 * N)],
)  # fmt: skip
def test_divided(dividend: Any, divisor: Any, quotient: Any) -> None:
    assert divided(dividend, divisor) == quotient


def test_a_reshape_splits_and_groups() -> None:
    axes = Axes()
    groups = axes.groups((N, 6 * M, 1))
    split = axes.cut(groups, (N, 2, 3, M))
    assert split is not None
    assert [axes.sizes(group) for group in split] == [(N,), (2,), (3,), (M,)]
    merged = axes.cut(split, (2 * N, 3 * M))
    assert merged is not None
    assert [axes.sizes(group) for group in merged] == [(N, 2), (3, M)]
    assert axes.sizes(groups[1]) == (2, 3, M)


@pytest.mark.parametrize(
    ("shape", "wanted"), [((6, 4), (4, 6)), ((N, 4), (4, N)), ((0, 5), (5, 0))]
)
def test_a_reshape_without_common_leaves_is_refused(shape: Any, wanted: Any) -> None:
    axes = Axes()
    assert axes.cut(axes.groups(shape), wanted) is None


def test_axes_of_one_owner_are_never_one() -> None:
    axes = Axes()
    square, other = axes.groups((N, N)), axes.groups((N, N))
    axes.own((square[0][0], square[1][0]), 0)
    assert axes.unify(square, other)
    assert not axes.unify(square, (other[1], other[0]))
    assert axes.leaves(square[0]) != axes.leaves(square[1])


def test_equal_axes_are_split_alike() -> None:
    axes = Axes()
    one, other = axes.groups((6 * N,)), axes.groups((6 * N,))
    assert axes.cut(one, (3, 2 * N)) is not None
    assert axes.cut(other, (6, N)) is not None
    assert axes.unify(one, other)
    assert axes.leaves(one[0]) == axes.leaves(other[0])
    assert axes.sizes(one[0]) == (3, 2, N)


def test_a_part_is_split_where_its_beginning_allows() -> None:
    axes = Axes()
    part = axes.leaf(12, (24, 36))
    assert axes.cut(((part,),), (3, 4)) is not None
    assert axes.cut(((axes.leaf(12, (23, 36)),),), (3, 4)) is None
    assert axes.cut(((axes.leaf(12, None),),), (3, 4)) is None


def test_regrouped() -> None:
    assert regrouped((2, 3, N, M), (6, N * M)) == ((2, 3), (N, M))
    assert regrouped((2, N), (1, 2, 1, N)) == ((), (2,), (), (N,))
