"""`bs.einsum` against numpy, on subscripts by hand and at random, and the orders it chooses."""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brimstone as bs
from brimstone import linalg
from brimstone.frontend.functions.contraction_order import EXACT_AT_MOST, best_order

Array = np.ndarray[Any, np.dtype[Any]]
SIZES = {"i": 2, "j": 3, "k": 4, "l": 1, "m": 0, "a": 2, "b": 5, "A": 2}

SUBSCRIPTS = [
    "i->i", "ij->ji", "ij->", "ij->j", "ii", "ii->i", "iij->ij", "iji->j", "iii->i", "ijij->ij",
    "ij,jk", "ij,jk->ik", "ij,kj->ik", "ij,ij->", "ij,ij->ij", "i,j->ij", "i,j", "ij,j->i",
    "bij,bjk->bik", "bij,jk->bik", "ij,jk,kb->ib", "ij,jk,ki->", "ij,ik,ib->jkb", "i,i,i->i",
    "ia,ib,ijk->abjk", "ijk,jk->i", "im,mj->ij", "im->i", "il,lj->ij", "ba", "Aa", "aA,bA",
    "...i,...i", "...i,...i->...", "...ij,...jk->...ik", "i...->i...", "i...j->j...i",
    "...,i->...i", "ij...,jk...->ik...", " ij , jk -> ik ", "ii,jj,ij->", "ij,kl->", ",ij->ij",
]  # fmt: skip


def operands(subscripts: str, dtype: str = "float64") -> list[Array]:
    """Random arrays that fit the subscripts; an ellipsis is two axes."""
    rng = np.random.default_rng(len(subscripts))
    made: list[Array] = []
    for part in subscripts.replace(" ", "").partition("->")[0].split(","):
        before, dots, after = part.partition("...")
        middle = [3, 2] if dots else []
        shape = [SIZES[x] for x in before] + middle + [SIZES[x] for x in after]
        made.append(rng.integers(-4, 5, shape).astype(dtype))
    return made


def check(subscripts: str, arrays: Iterable[Array]) -> None:
    arrays = list(arrays)
    found = bs.einsum(subscripts, *map(bs.asarray, arrays)).numpy()
    wanted = np.asarray(np.einsum(subscripts, *arrays))
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert np.allclose(found, wanted)


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64"])
@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
def test_subscripts(subscripts: str, dtype: str) -> None:
    check(subscripts, operands(subscripts, dtype))


@st.composite
def sums(draw: st.DrawFn) -> tuple[str, list[Array]]:
    """Any subscripts that numpy takes, and operands."""
    letters = draw(st.lists(st.sampled_from("ijklab"), min_size=1, max_size=4, unique=True))
    parts, arrays = [], []
    spread = draw(st.lists(st.integers(1, 3), max_size=2))
    for _ in range(draw(st.integers(1, 4))):
        own = draw(st.lists(st.sampled_from(letters), max_size=3))
        place = draw(st.integers(0, len(own)))
        dots = draw(st.booleans())
        shape = [SIZES[letter] for letter in own]
        if dots:
            rank = draw(st.integers(0, len(spread)))
            shown = [1 if draw(st.booleans()) else x for x in spread[len(spread) - rank :]]
            shape[place:place] = shown
            own[place:place] = ["..."]
        parts.append("".join(own))
        arrays.append(np.random.default_rng(len(parts)).integers(-3, 4, shape).astype(np.float64))
    text = ",".join(parts)
    if draw(st.booleans()):
        used = sorted({letter for letter in text if letter.isalpha()})
        shown = draw(st.permutations(used))[: draw(st.integers(0, len(used)))]
        dots = ["..."] if "..." in text else []
        text += "->" + "".join([*dots, *shown] if draw(st.booleans()) else [*shown, *dots])
    return text, arrays


@settings(max_examples=150, deadline=None)
@given(sums())
def test_random_subscripts(drawn: tuple[str, list[Array]]) -> None:
    check(*drawn)


def test_sizes_of_one_stretch() -> None:
    check("ij,jk->ik", [np.ones((2, 1)), np.ones((3, 4))])
    check("i...,i...", [np.ones((2, 1, 3)), np.ones((2, 4, 1))])
    assert bs.einsum("ij,ij->j", bs.ones((3, 1)), bs.ones((1, 2))).numpy().tolist() == [3, 3]


def test_narrow_floats_round_once() -> None:
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal((8, 8)).astype(np.float32) for _ in range(3)]
    narrow = [bs.asarray(array).astype(bs.bfloat16) for array in arrays]
    wide = [each.astype(bs.float32) for each in narrow]
    for subscripts in ("ij,jk,kl->il", "ij,kj,lk->i"):
        found = bs.einsum(subscripts, *narrow)
        assert found.dtype is bs.bfloat16
        assert bs.array_equal(found, bs.einsum(subscripts, *wide).astype(bs.bfloat16))


def test_dtypes_promote() -> None:
    found = bs.einsum("i,i", bs.asarray(np.arange(3)), bs.asarray(np.ones(3, np.float32)))
    assert found.dtype is bs.float32
    assert float(found) == 3


REFUSED: list[tuple[str, list[tuple[int, ...]], type[Exception], str]] = [
    ("ij,jk", [(2, 3)], bs.ArgumentError, "there are 2 subscripts for 1 operands"),
    ("ij,jk", [(2, 3), (4, 5)], bs.ShapeError, "'j' is 3 in one place and 4 in another"),
    ("ii", [(2, 3)], bs.ShapeError, "'i' is 2 in one place and 3 in another"),
    ("ij", [(2, 3, 4)], bs.ShapeError, "'ij' names 2 axes of an operand of rank 3"),
    ("ij...", [(2,)], bs.ShapeError, "'ij...' names at least 2 axes of an operand of rank 1"),
    ("ij->ik", [(2, 3)], bs.ArgumentError, "the result has 'k', and no operand has it"),
    ("ij->ii", [(2, 3)], bs.ArgumentError, "the result has 'i' twice"),
    ("i1", [(2, 3)], bs.ArgumentError, "'1' in 'i1' is neither a letter nor one '...'"),
    ("...i...", [(2, 3)], bs.ArgumentError, "neither a letter nor one"),
    ("i->j->k", [(2,)], bs.ArgumentError, "neither a letter nor one"),
    ("...i->i", [(2, 3)], bs.ArgumentError, "the result has no '...'"),
    ("...i,...i", [(2, 3), (4, 3)], bs.ShapeError, "axis -1 of '...' is 2 in one place and 4"),
]  # fmt: skip


@pytest.mark.parametrize(("subscripts", "shapes", "kind", "message"), REFUSED)
def test_refusals(
    subscripts: str, shapes: list[tuple[int, ...]], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        bs.einsum(subscripts, *[bs.ones(shape) for shape in shapes])
    assert message in str(caught.value)
    assert f'"{subscripts}"' in str(caught.value)


def test_what_is_no_sum_of_products() -> None:
    with pytest.raises(bs.DTypeError, match="bool"):
        bs.einsum("i,i", bs.ones(3, dtype=bs.bool), bs.ones(3, dtype=bs.bool))
    with pytest.raises(bs.DTypeError, match="the subscripts are a string"):
        bs.einsum(bs.ones(3), "i")  # pyright: ignore[reportArgumentType]


SMOOTH = ["ij,jk->ik", "ii->i", "ii,jj,ij->", "ij,jk,kl->li", "...i,...i->...", "iij,j->i", "ij->i"]


def differences(function: Callable[..., bs.Tensor], arrays: list[Array]) -> list[Array]:
    """Gradients of a function that is linear in each array: differences are exact."""
    found = [np.zeros_like(array) for array in arrays]
    for at, array in enumerate(arrays):
        for place in np.ndindex(array.shape):
            ends = []
            for way in (0.5, -0.5):
                moved = array.copy()
                moved[place] += way
                given = [*arrays[:at], moved, *arrays[at + 1 :]]
                ends.append(float(function(*map(bs.asarray, given))))
            found[at][place] = ends[0] - ends[1]
    return found


@pytest.mark.parametrize("subscripts", SMOOTH)
def test_gradients_jit_and_vmap(subscripts: str) -> None:
    sizes = {**SIZES, "i": 3, "l": 2}
    rng = np.random.default_rng(0)
    parts = subscripts.partition("->")[0].replace("...", "l").split(",")
    arrays = [rng.standard_normal([sizes[letter] for letter in part]) for part in parts]
    tensors = [*map(bs.asarray, arrays)]

    def function(*given: bs.Tensor) -> bs.Tensor:
        made = bs.einsum(subscripts, *given)
        weights = np.cos(np.arange(made.size, dtype=np.float64)).reshape(made.shape)
        return bs.sum(made * bs.asarray(weights))

    places = tuple(range(len(arrays)))
    found = bs.grad(function, argnums=places)(*tensors)
    for one, other in zip(found, differences(function, arrays), strict=True):
        assert np.allclose(one.numpy(), other)
    assert np.allclose(bs.jit(function)(*tensors).numpy(), function(*tensors).numpy())
    lanes = [bs.stack([tensor, 2 * tensor]) for tensor in tensors]
    wanted = [float(function(*[lane[at] for lane in lanes])) for at in (0, 1)]
    assert np.allclose(bs.vmap(function)(*lanes).numpy(), wanted)


def test_dynamic_sizes() -> None:
    function = bs.jit(
        lambda x, y: bs.einsum("ij,jk,ik->ij", x, y, x), dynamic={"x": {0: bs.dim("n", 1, 64)}}
    )
    for count in (1, 3, 8):
        x, y = np.ones((count, 2)), np.full((2, 2), 3.0)
        assert np.allclose(function(bs.asarray(x), bs.asarray(y)).numpy(),
                           np.einsum("ij,jk,ik->ij", x, y, x))  # fmt: skip


def cost(factors: Any, path: Any, result: Any, sizes: dict[Any, int]) -> int:
    """How many multiplications an order takes."""
    left, total = [frozenset(each) for each in factors], 0
    for pair in path:
        one, other = (left[place] for place in pair)
        left = [each for place, each in enumerate(left) if place not in pair]
        total += prod(sizes[label] for label in one | other)
        left.append((one | other) & frozenset(result).union(*left))
    return total


def all_orders(count: int) -> Iterable[tuple[tuple[int, int], ...]]:
    """Every order in which a list of factors may be multiplied."""
    if count < 2:
        yield ()
        return
    for pair in combinations(range(count), 2):
        for rest in all_orders(count - 1):
            yield (pair, *rest)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.frozensets(st.sampled_from("abcde"), max_size=3), min_size=2, max_size=5),
    st.lists(st.integers(0, 9), min_size=5, max_size=5),
    st.frozensets(st.sampled_from("abcde"), max_size=2),
)
def test_no_order_is_cheaper(
    factors: list[frozenset[str]], numbers: list[int], wanted: frozenset[str]
) -> None:
    sizes = dict(zip("abcde", numbers, strict=True))
    counts = Counter(label for each in factors for label in each)
    result = wanted | {label for label, count in counts.items() if count == 1}
    found = cost(factors, best_order(factors, result, sizes), result, sizes)
    assert found == min(cost(factors, path, result, sizes) for path in all_orders(len(factors)))


def test_a_chain_of_matrices() -> None:
    shapes = [(10, 100), (100, 5), (5, 50), (50, 1)]
    tensors = [bs.ones(shape) for shape in shapes]
    path = bs.einsum_path("ab,bc,cd,de->ae", *tensors)
    assert path == [(2, 3), (1, 2), (0, 1)]
    assert float(linalg.multi_dot(tensors)[0, 0]) == prod(shape[1] for shape in shapes[:-1])


@pytest.mark.parametrize("count", [EXACT_AT_MOST, EXACT_AT_MOST + 1, 14])
def test_long_chains(count: int) -> None:
    """Of many factors a good order is found quickly: a vector at the end is multiplied first."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((4, 4)) for _ in range(count)] + [rng.standard_normal(4)]
    found = linalg.multi_dot([bs.asarray(array) for array in arrays])
    assert np.allclose(found.numpy(), np.linalg.multi_dot(arrays))
    factors = [{at, at + 1} for at in range(count)] + [{count}]
    sizes = dict.fromkeys(range(count + 1), 4)
    assert cost(factors, best_order(factors, {0}, sizes), {0}, sizes) == 16 * count


def test_multi_dot_of_vectors() -> None:
    x, y = np.arange(3.0), np.arange(12.0).reshape(3, 4)
    z = np.arange(4.0)
    found = linalg.multi_dot([bs.asarray(each) for each in (x, y, z)])
    assert float(found) == np.linalg.multi_dot([x, y, z])
    pair = linalg.multi_dot([bs.asarray(x), bs.asarray(y)])
    assert np.allclose(pair.numpy(), x @ y)
    with pytest.raises(bs.ShapeError, match="is 4 in one place and 3 in another"):
        linalg.multi_dot([bs.asarray(y), bs.asarray(y)])
