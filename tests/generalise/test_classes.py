"""Classes by themselves: what follows when parts are stated to be equal."""

import pytest

from brimstone.ir import Module, tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.payloads import Number
from brimstone.passes.generalise.classes import STARTS, Classes, DimClass, Part
from brimstone.passes.generalise.products import equal_products, multiplied, share
from brimstone.passes.generalise.solve import solve
from kit.general import check_bits, general
from kit.recorder import Recorder


class Sizes(Classes):
    """Classes with short ways to state things."""

    def __init__(self) -> None:
        super().__init__(())

    def classes(self, *values: int) -> list[DimClass]:
        return [self.new(value) for value in values]

    def sum(self, *parts: Part) -> Part:
        return self.part(sum(map(self.dim, parts)))

    def product(self, *parts: Part) -> Part:
        return multiplied(self, parts)

    def solved(self) -> "Sizes":
        solve(self)
        return self

    def text(self, part: Part) -> str:
        """The part, with its classes by number."""
        found = self.find(part)
        return f"_{found.number}" if isinstance(found, DimClass) else str(found)


def test_the_older_class_stays() -> None:
    sizes = Sizes()
    a, b, c = sizes.classes(4, 4, 4)
    sizes.unite(b, c)
    sizes.unite(c, a)
    assert {sizes.text(each) for each in (a, b, c)} == {"_1"}


def test_a_class_becomes_a_number() -> None:
    sizes = Sizes()
    a, b = sizes.classes(4, 4)
    sizes.unite(a, b)
    sizes.unite(a, 4)
    assert sizes.find(b) == 4


def test_classes_of_other_values_are_never_one() -> None:
    """Nobody states so of a program that verifies; the sizes are kept, whatever comes."""
    sizes = Sizes()
    a, b = sizes.classes(4, 5)
    sizes.unite(a, b)
    assert [sizes.solved().find(each) for each in (a, b)] == [4, 5]
    assert [each.size for each in sizes.kept] == [4, 5]


def test_bounds_that_meet_become_narrow() -> None:
    sizes = Sizes()
    start, size = sizes.new(4, STARTS), sizes.new(4)
    sizes.unite(size, start)
    assert sizes.find(size) is start
    assert start.bounds[0] == 2


def test_a_class_is_a_sum() -> None:
    sizes = Sizes()
    a, b, c = sizes.classes(4, 5, 9)
    sizes.unite(c, sizes.sum(a, b))
    sizes.unite(b, 5)
    assert sizes.text(c) == "_1 + 5"
    assert sizes.value(c) == 9


def test_a_class_is_never_made_of_itself() -> None:
    sizes = Sizes()
    a, b = sizes.classes(4, 4)
    sizes.unite(a, sizes.part(sizes.dim(a) * sizes.dim(b) - 12))
    assert [sizes.solved().find(each) for each in (a, b)] == [4, 4]


def test_equations_wait_until_more_is_known() -> None:
    """a + b = c + d holds as soon as a is c and b is d."""
    sizes = Sizes()
    a, b, c, d = sizes.classes(4, 5, 4, 5)
    sizes.unite(sizes.sum(a, b), sizes.sum(c, d))
    sizes.unite(a, c)
    sizes.unite(b, d)
    assert [sizes.solved().text(each) for each in (c, d)] == ["_1", "_2"]


def test_the_youngest_class_solves_a_sum() -> None:
    sizes = Sizes()
    a, b, c, d = sizes.classes(4, 5, 6, 3)
    sizes.unite(sizes.sum(d, c), sizes.sum(b, a))
    assert sizes.solved().text(d) == "_1 + _2 - _3"


def test_common_factors_fall_away() -> None:
    sizes = Sizes()
    a, b, c = sizes.classes(4, 5, 5)
    sizes.unite(sizes.product(a, b, 2), sizes.product(c, a, 2))
    assert sizes.solved().text(c) == "_2"


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ((4, 6), (4, 6), "_1 _2 _1 _2"),
        ((4, 6), (6, 4), "_1 _2 _2 _1"),
        ((4, 6), (8, 3), "_1 _4*_5 _1*_5 _4"),
        ((5, 4, 6), (8, 3, 5), "_1 _2 _5*_7 _2*_7 _5 _1"),
        ((4, 6), (3, 8), "4 6 3 8"),
    ],
)
def test_factors_are_paired_or_split(
    left: tuple[int, ...], right: tuple[int, ...], found: str
) -> None:
    sizes = Sizes()
    one, other = sizes.classes(*left), sizes.classes(*right)
    sizes.unite(sizes.product(*one), sizes.product(*other))
    assert " ".join(map(sizes.solved().text, (*one, *other))) == found


@pytest.mark.parametrize(
    ("value", "count", "found"), [(6, 2, "2*_2"), (6, 6, "6"), (7, 2, "_1"), (6, 1, "_1")]
)
def test_shares(value: int, count: int, found: str) -> None:
    sizes = Sizes()
    (whole,) = sizes.classes(value)
    share(sizes, whole, count)
    assert sizes.text(whole) == found


def test_what_symbols_stand_for_is_not_touched() -> None:
    n = Symbol("n", 1, 64)
    classes = Classes([n])
    (a, b) = classes.new(4), classes.new(12)
    equal_products(classes, (n, b), (n, 3, a))
    assert (classes.find(n), classes.dim(b)) == (n, 3 * classes.dim(a))


@pytest.mark.parametrize("steps", [3, 600])
def test_sizes_that_follow_from_each_other_in_a_long_row(steps: int) -> None:
    """Each step reads what the step before it cut off."""
    r = Recorder()
    x = total = r.argument(steps + 9)
    for _ in range(steps):
        (size,) = x.type.shape
        shorter = r.cut(x, 0, 1, size - 1)
        zero = Number(0.0, x.dtype)
        padded = r.emit(tensor.Pad, shorter, low=(1,), high=(0,), interior=(0,), value=zero)
        total, x = r.emit(tensor.Add, padded, x), shorter
    func = r.done(x, total)
    made = general(func)
    assert made.sizes == {"n0": 9}
    assert made.func.arguments[0].type.text == f"tensor<[n0 + {steps}], f32>"
    check_bits(Module([func]), made)
