"""Linear equations, triangles and Cholesky's factors on the tile floor."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir import step
from brimstone.ir.errors import ExecutionError
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.tensor.factor import FACTORED_AS_ONE, LARGE
from brimstone.ir.tensor.rules import Term
from brimstone.ir.tensor.solve import SOLVED_AS_ONE
from brimstone.passes.oracle import difference
from brimstone.passes.tiling import tile
from kit.tiling import SCHEDULE, kernel, launched, tiled

SHAPES = (
    ("4 4", "4 3"), ("1 1", "1 1"), ("3 3", "3 1"), ("9 9", "9 17"), ("0 0", "0 2"),
    ("2 2", "2 0"), ("0 3 3", "0 3 2"), ("n 2 2", "n 2 2"), ("2 n 5 5", "2 n 5 9"),
)  # fmt: skip
STORAGE = {"f32": np.float32, "f64": np.float64}


def triangle(lower: bool, unit: bool) -> Callable[..., Term]:
    return lambda a, b: a.apply("triangular_solve", b, lower=lower, unit=unit)


EQUATIONS: dict[str, Callable[..., Term]] = {
    "solve": lambda a, b: a.apply("solve", b),
    **{
        f"lower={lower} unit={unit}": triangle(lower, unit)
        for lower in (False, True)
        for unit in (False, True)
    },
}


def cholesky(a: Term) -> Term:
    return a.apply("cholesky")


def numbers(shape: str, dtype: str, seed: int) -> Any:
    """Small numbers, and where the seed is odd NaN and infinity here and there."""
    rng = np.random.default_rng([seed, len(shape)])
    sizes = [2 if size == "n" else int(size) for size in shape.split()]
    made = rng.choice([-2.0, -0.7, 0.3, 0.5, 1.0, 3.0], sizes)
    if seed % 2:
        odd = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], sizes)
        made = np.where(rng.random(sizes) < 0.1, odd, made)
    return made.astype(STORAGE[dtype])


def outcome(run: Callable[[], Any]) -> Any:
    """What it gives, or what it says where it fails."""
    try:
        return run()
    except ExecutionError as problem:
        return problem.message


def check_same(func: Func, arguments: list[Any], sizes: dict[str, int]) -> bool:
    """That the kernel of tiles gives the same bits, or the same error; whether it failed."""
    made = tiled(func)
    assert not made.refused
    before = outcome(lambda: interpret(launched(func), *arguments, sizes=sizes))
    after = outcome(lambda: interpret(made.module, *arguments, sizes=sizes))
    if isinstance(before, str) or isinstance(after, str):
        assert before == after
        return True
    assert difference(before, after) is None
    return False


@pytest.mark.parametrize("dtype", STORAGE)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", EQUATIONS)
def test_solutions_have_the_bits_of_the_interpreter(
    name: str, shapes: tuple[str, str], dtype: str
) -> None:
    func = kernel(EQUATIONS[name], *[f"{shape} {dtype}" for shape in shapes])
    known = {"n": 2} if "n" in shapes[0] else {}
    for seed in range(4):
        check_same(func, [numbers(shape, dtype, seed) for shape in shapes], known)


@pytest.mark.parametrize("dtype", STORAGE)
@pytest.mark.parametrize("shape", [shape for shape, _ in SHAPES])
def test_factors_have_the_bits_of_the_interpreter(shape: str, dtype: str) -> None:
    func = kernel(cholesky, f"{shape} {dtype}")
    known = {"n": 2} if "n" in shape else {}
    for seed in range(4):
        x = numbers(shape, dtype, seed)
        with np.errstate(all="ignore"):
            positive = (x @ np.swapaxes(x, -1, -2) + np.eye(x.shape[-1])).astype(x.dtype)
        failed = check_same(func, [positive], known)
        assert not failed or seed % 2


def zero_at(*places: int) -> Any:
    """A stack of two matrices, of which the second has a 0 on its diagonal at some places."""
    made = np.tile(np.tri(4) + np.tri(4).T, (2, 1, 1))
    for place in places:
        made[1, place, :] = made[1, :, place] = 0
    return made


@pytest.mark.parametrize("place", [None, 0, 2, 3])
@pytest.mark.parametrize("name", [*EQUATIONS, "cholesky"])
def test_what_fails_is_told_of_in_the_words_of_the_interpreter(
    name: str, place: int | None
) -> None:
    matrices = zero_at(*[] if place is None else [place])
    if name == "cholesky":
        failed = check_same(kernel(cholesky, "2 4 4 f64"), [matrices], {})
    else:
        func = kernel(EQUATIONS[name], "2 4 4 f64", "2 4 1 f64")
        failed = check_same(func, [matrices, np.ones((2, 4, 1))], {})
    assert failed is (place is not None and "unit=True" not in name)


@pytest.mark.parametrize(
    ("build", "large"),
    [
        (EQUATIONS["solve"], SOLVED_AS_ONE),
        (EQUATIONS["lower=True unit=False"], LARGE),
        (lambda a, b: cholesky(a), FACTORED_AS_ONE),
    ],
)
def test_large_matrices_stay_tensors(build: Callable[..., Term], large: int) -> None:
    side = int((large - 1) ** 0.5)
    for size in (side, side + 1):
        module = launched(kernel(build, f"3 {size} {size} f32", f"3 {size} 2 f32"))
        made = tile(module, lambda shape: SCHEDULE).module
        launches = [op for op in made.main.walk() if isinstance(op, step.Launch)]
        assert all(bool(op.grid) is (size == side) for op in launches)
