"""Kernels of one op that is no map and no reduction: scans, random words, reads and writes at
places that indices name."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import step, tensor
from brimstone.ir.dtypes import f32
from brimstone.ir.func import Func
from brimstone.ir.tensor.indexing import Combiner, Outside
from brimstone.ir.tensor.rules import Term
from brimstone.passes.oracle import difference
from kit.tiling import SYMBOLS, arrays_for, kernel, runs, sizes_of, tiled

N, M = SYMBOLS["n"], SYMBOLS["m"]


def check(
    func: Func,
    ranges: dict[int, tuple[int, int]] | None = None,
    schedule: dict[str, int] | None = None,
) -> None:
    made = tiled(func, schedule)
    assert not made.refused
    for seed, sizes in enumerate(sizes_of(func, count=7)):
        given = arrays_for(func, sizes, whole=True, seed=seed)
        for place, (low, high) in (ranges or {}).items():
            rng = np.random.default_rng(seed)
            dtype = given[place].dtype
            given[place] = rng.integers(low, high + 1, given[place].shape).astype(dtype)
        before, after = runs(func, given, made.module, sizes)
        before = [each + np.zeros((), each.dtype) for each in before]  # -0.0 may become 0.0
        after = [each + np.zeros((), each.dtype) for each in after]
        assert difference(before, after) is None, sizes


@pytest.mark.parametrize("name", ["sum", "product", "maximum", "minimum"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("axis", "shape"),
    [
        (1, "n m f32"),
        (0, "n m f32"),
        (0, "n f64"),
        (1, "n m k i32"),
        (2, "n 3 m u8"),
        (0, "n 1 f32"),
        (1, "n m 2 i8"),
    ],
)
def test_scans_are_the_same(name: str, reverse: bool, axis: int, shape: str) -> None:
    func = kernel(lambda x: x.apply(f"cumulative_{name}", axis=axis, reverse=reverse), shape)
    check(func, {0: (1, 2)} if name == "product" else None)


def test_a_narrow_sum_goes_on_beyond_its_precision() -> None:
    func = kernel(lambda x: x.apply("cumulative_sum", axis=1), "n m bf16")
    check(func, {0: (100, 120)})


@pytest.mark.parametrize("shape", [(N,), (N, M), (), (3, N, 5)])
@pytest.mark.parametrize("offset", [0, 3])
def test_random_words_are_the_same(shape: tuple[Any, ...], offset: int) -> None:
    func = kernel(lambda key: key.apply("random_bits", shape=shape, offset=offset), "2 u32")
    used = tuple(size for size in shape if not isinstance(size, int))
    func.symbols = used
    check(func)


@pytest.mark.parametrize("keys", ["n 2 u32", "n 3 2 u32", "1 2 u32"])
def test_random_words_of_several_keys_are_the_same(keys: str) -> None:
    func = kernel(lambda key: key.apply("random_bits", shape=(M, 3), offset=2), keys)
    func.symbols = tuple(dict.fromkeys((*func.symbols, M)))
    check(func)


def gather(count: int, outside: Outside, batch: int = 0, first: int = 0) -> Any:
    def build(x: Term, indices: Term) -> Term:
        axes = tuple(range(batch + first, batch + first + count))
        named = {"axes": axes, "batch": batch, "outside": outside}
        made = x.builder.emit(tensor.Gather, x.value, indices.value, **named)
        return Term(x.builder, made)

    return build


@pytest.mark.parametrize(
    ("count", "shapes"),
    [
        (1, ("6 m f32", "n 1 i64")),
        (1, ("6 m bf16", "n 3 1 i32")),
        (1, ("6 f32", "n m 1 i8")),
        (2, ("6 7 m i32", "n 2 i64")),
        (2, ("6 7 bool", "n 2 u8")),
        (1, ("6 3 m f32", "1 i64")),
    ],
)
def test_gathers_are_the_same(count: int, shapes: tuple[str, ...]) -> None:
    check(kernel(gather(count, Outside.ERROR), *shapes), {1: (0, 5)})
    low = 0 if "u8" in shapes[1] else -3
    check(kernel(gather(count, Outside.ZERO), *shapes), {1: (low, 9)})
    check(kernel(gather(count, Outside.CLAMP), *shapes), {1: (low, 9)})


def scatter(
    count: int, combiner: Combiner, outside: Outside, batch: int = 0, first: int = 0
) -> Any:
    def build(x: Term, indices: Term, updates: Term) -> Term:
        axes = tuple(range(batch + first, batch + first + count))
        named = {"axes": axes, "batch": batch, "combiner": combiner, "outside": outside}
        operands = (x.value, indices.value, updates.value)
        return Term(x.builder, x.builder.emit(tensor.Scatter, *operands, **named))

    return build


@pytest.mark.parametrize(
    ("batch", "shapes"),
    [
        (1, ("n 6 f32", "n m 1 i64")),
        (1, ("n 6 m f32", "n k 1 i32")),
        (2, ("n 2 6 f32", "n 2 m 1 i32")),
        (1, ("n 6 f32", "n 1 i32")),
    ],
)
def test_gathers_in_batches_are_the_same(batch: int, shapes: tuple[str, ...]) -> None:
    for outside in Outside:
        check(kernel(gather(1, outside, batch), *shapes), {1: (0, 5)})


@pytest.mark.parametrize(
    ("batch", "shapes"),
    [(1, ("n 6 f32", "n m 1 i64", "n m f32")), (2, ("n 2 6 m i32", "n 2 k 1 i32", "n 2 k m i32"))],
)
def test_scatters_in_batches_are_the_same(batch: int, shapes: tuple[str, ...]) -> None:
    build = scatter(1, Combiner.ADD, Outside.ERROR, batch)
    check(kernel(build, *shapes), {1: (0, 5), 2: (1, 2)})


@pytest.mark.parametrize(
    ("first", "x", "indices", "read"),
    [
        (1, "m 6 k f32", "n 1 i64", "n m k f32"),
        (1, "m 6 i32", "n 2 1 i32", "n 2 m i32"),
        (2, "m 2 6 k bf16", "n 1 i64", "n m 2 k bf16"),
    ],
)
@pytest.mark.parametrize("outside", [Outside.ZERO, Outside.CLAMP])
def test_indices_along_later_axes(
    first: int, x: str, indices: str, read: str, outside: Outside
) -> None:
    check(kernel(gather(1, outside, first=first), x, indices), {1: (-3, 9)})
    if outside is Outside.ZERO:
        added = scatter(1, Combiner.ADD, outside, first=first)
        check(kernel(added, x, indices, read), {1: (-3, 9), 2: (1, 2)})


@pytest.mark.parametrize("combiner", Combiner)
@pytest.mark.parametrize(
    ("count", "shapes"),
    [
        (1, ("6 m f32", "n 1 i64", "n m f32")),
        (1, ("6 i32", "n m 1 i32", "n m i32")),
        (2, ("6 7 m f32", "n 2 i64", "n m f32")),
        (2, ("6 7 i8", "n 2 i32", "n i8")),
        (1, ("6 m bf16", "n 1 i64", "n m bf16")),
        (1, ("6 f16", "n m 1 i32", "n m f16")),
        (1, ("6 m f8e5m2", "n 1 i64", "n m f8e5m2")),
        (1, ("6 m bf16", "1 i64", "m bf16")),
        (2, ("6 7 f16", "1 2 i32", "1 f16")),
    ],
)
def test_scatters_are_the_same(combiner: Combiner, count: int, shapes: tuple[str, ...]) -> None:
    check(kernel(scatter(count, combiner, Outside.ERROR), *shapes), {1: (0, 5), 2: (1, 2)})
    check(kernel(scatter(count, combiner, Outside.ZERO), *shapes), {1: (-3, 9), 2: (1, 2)})


@pytest.mark.parametrize(
    ("combiner", "indices", "rooms"),
    [("add", "n 1 i64", 1), ("add", "1 1 i64", 0), ("multiply", "1 1 i64", 0),
     ("maximum", "n 1 i64", 0), ("set", "n 1 i64", 0)],
)  # fmt: skip
def test_narrow_sums_have_wide_room_where_updates_may_meet(
    combiner: str, indices: str, rooms: int
) -> None:
    updates = f"{indices.split(maxsplit=1)[0]} m bf16"
    func = kernel(scatter(1, Combiner(combiner), Outside.ERROR), "6 m bf16", indices, updates)
    wide = [
        op
        for op in tiled(func).module.main.walk()
        if isinstance(op, step.Allocate) and op.array.dtype is f32
    ]
    assert len(wide) == rooms


@pytest.mark.parametrize(
    ("axis", "shapes"),
    [
        (0, ("n m f32", "k m f32")),
        (0, ("n f32", "9 f32", "m f32")),
        (1, ("n m f32", "n k f32", "n 3 f32")),
        (1, ("n m 5 bool", "n k 5 bool")),
        (1, ("1 m 5 i8", "1 k 5 i8")),
        (2, ("n 3 m f32", "n 3 m f32")),
        (2, ("n m 1 f32", "n m 1 f32")),
        (1, ("n 1 i8", "n 1 i8", "n 1 i8")),
        (1, ("n 1 1 f64",) * 8),
        (1, ("n 1 bool",) * 9),
    ],
)
@pytest.mark.parametrize("schedule", [{"n": 16}, {"n": 16, "dealt": 16}, {"n": 1, "dealt": 1}])
def test_concats_are_the_same(axis: int, shapes: tuple[str, ...], schedule: dict[str, int]) -> None:
    def build(*parts: Term) -> Term:
        values = [part.value for part in parts]
        return Term(parts[0].builder, parts[0].builder.emit(tensor.Concat, values, axis=axis))

    check(kernel(build, *shapes), schedule=schedule)


def test_an_argument_may_be_read_twice_and_arguments_in_any_order() -> None:
    def twice(x: Term) -> Term:
        return Term(x.builder, x.builder.emit(tensor.Concat, [x.value, x.value], axis=1))

    def turned(indices: Term, x: Term) -> Term:
        return gather(1, Outside.ERROR)(x, indices)

    check(kernel(twice, "n m f32"))
    check(kernel(turned, "n 1 i64", "6 m f32"), {0: (0, 5)})


def test_what_has_no_form_of_tiles_says_why() -> None:
    def build(x: Term, at: Term) -> Term:
        return Term(x.builder, x.builder.emit(tensor.Gather, x.value, at.value, axes=(0, 2)))

    other = kernel(build, "n 6 5 f32", "m 2 i32")
    reason = "indices along axes that are no neighbours, or in another order"
    assert tiled(other).refused == {"k": reason}
    wide = kernel(gather(1, Outside.ERROR), "6 f32", "n 1 u64")
    assert tiled(wide).refused == {"k": "indices of u64"}
