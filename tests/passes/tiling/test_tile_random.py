"""Random kernels of i32, where every result is exact: before and after, at all sizes."""

from collections.abc import Sequence

import numpy as np
import pytest

from brimstone.ir.tensor.rules import Term
from brimstone.passes.oracle import difference
from kit.tiling import along, arrays_for, kernel, runs, sizes_of, spread, tiled

AXES = "nmk"
ELEMENTWISE = ("add", "subtract", "multiply", "maximum", "minimum", "divide")
REDUCTIONS = ("sum", "maximum", "minimum")


class Draft:
    """A kernel being drawn: values of the whole space, and of its parallel axes alone."""

    def __init__(self, rng: np.random.Generator, reduced: Sequence[int]) -> None:
        self.rng = rng
        self.reduced = tuple(reduced)
        self.has_reduced = False
        self.parallel = tuple(axis for axis in range(3) if axis not in reduced)

    def build(self, *arguments: Term) -> tuple[Term, ...]:
        whole, turned, flipped, part, rows = arguments
        turned = turned.apply("permute", axes=(1, 2, 0))
        flipped = flipped.apply("flip", axes=(int(self.rng.integers(3)),))
        full = [whole, turned, flipped, spread(part, whole, 1, 2)]
        few = [rows]
        for _ in range(int(self.rng.integers(4, 14))):
            self.grow(full, few, whole)
        results = [self.pick(full[4:] or full)] if self.rng.random() < 0.6 else []
        results += [self.pick(few)] if self.has_reduced and self.rng.random() < 0.7 else []
        return tuple(results) or (full[-1],)

    def grow(self, full: list[Term], few: list[Term], whole: Term) -> None:
        chance = self.rng.random()
        if self.reduced and chance < 0.3:
            name = REDUCTIONS[int(self.rng.integers(len(REDUCTIONS)))]
            few.append(self.pick(full).apply(f"reduce_{name}", axes=self.reduced))
            self.has_reduced = True
        elif self.reduced and chance < 0.45:
            full.append(along(self.pick(few), whole, *self.reduced))
        elif chance < 0.6:
            few.append(self.combined(few))
        else:
            full.append(self.combined(full))

    def combined(self, values: list[Term]) -> Term:
        name = ELEMENTWISE[int(self.rng.integers(len(ELEMENTWISE)))]
        return self.pick(values).apply(name, self.pick(values))

    def pick(self, values: list[Term]) -> Term:
        return values[max(int(self.rng.integers(len(values))), int(self.rng.integers(len(values))))]


@pytest.mark.parametrize("reduced", [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("seed", range(6))
def test_random_kernels_are_the_same(reduced: tuple[int, ...], seed: int) -> None:
    draft = Draft(np.random.default_rng([seed, *reduced]), reduced)
    rows = " ".join(AXES[axis] for axis in draft.parallel)
    shapes = ("n m k i32", "k n m i32", "n m k i32", "m k i32", f"{rows} i32")
    func = kernel(draft.build, *shapes)
    made = tiled(func)
    assert not made.refused
    for sizes in sizes_of(func, count=7):
        before, after = runs(func, arrays_for(func, sizes, whole=True), made.module)
        assert difference(before, after) is None, sizes
