"""How the rules go about it: no copy of an operand that is the same in all lanes, no loop."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.declare import Op
from brimstone.ir.dims import Size, Symbol
from brimstone.ir.dtypes import DType, f16, f32, f64, i64, u32
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.types import Tensor
from brimstone.ir.verifier import verify
from brimstone.passes.batch import batch
from kit.evaluate import Array, grouped, same
from kit.lanes import Lanes, batching_differs

LANES = Symbol("lanes", 0, 64)
ONLY = (True, False), (False, True), (True, True)


def func_of(cls: type[Op], *types: Tensor, **attributes: Any) -> Func:
    """A func of one op on arguments of these types."""
    func = Func("f", types)
    builder = Builder(func.body)
    builder.emit_all(Return, builder.emit_all(cls, *grouped(cls, func.arguments), **attributes))
    return func


def names(func: Func, batched: tuple[bool, ...], size: Size = LANES) -> list[str]:
    """The ops that batching makes, at any depth."""
    made, _ = batch(func, batched, size)
    verify(made)
    return [op.name.removeprefix("tensor.") for op in made.walk() if not op.terminator]


def product(dtype: DType = f32) -> Func:
    """Matrix products, one for each of the axes that are last in both."""
    return func_of(
        tensor.Contract,
        Tensor((5, 7, 3), dtype),
        Tensor((7, 4, 3), dtype),
        left_batch=(2,),
        right_batch=(2,),
        left_contract=(1,),
        right_contract=(0,),
        dtype=dtype,
    )


def convolution(groups: int = 1, outputs: Size = 6) -> Func:
    return func_of(
        tensor.Convolve,
        Tensor((2, 4, 9), f32),
        Tensor((outputs, 4 // groups, 3), f32),
        strides=(2,),
        low=(1,),
        high=(0,),
        input_dilation=(1,),
        kernel_dilation=(1,),
        groups=groups,
        dtype=f32,
    )


@pytest.mark.parametrize("batched", ONLY)
def test_products_stay_one_product(batched: tuple[bool, ...]) -> None:
    made = names(product(), batched)
    assert made.count("contract") == 1
    assert set(made) <= {"contract", "permute"}


@pytest.mark.parametrize("batched", ONLY)
@pytest.mark.parametrize("dtype", [f16, f32, f64])
def test_products_of_fractions_are_near(batched: tuple[bool, ...], dtype: DType) -> None:
    """Where only one side has lanes, BLAS may add the terms in another order."""
    rng, func = np.random.default_rng(0), product(dtype)
    shapes = (5, 7, 3), (7, 4, 3)
    given = [[rng.uniform(0.5, 1, s).astype(dtype.storage) for s in shapes] for _ in range(3)]
    units = 0.0 if all(batched) else 4.0
    assert batching_differs(func, batched, Lanes(given, 3, {}), units=units) is None


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("batched", ONLY)
def test_convolutions_stay_one_convolution(batched: tuple[bool, ...], groups: int) -> None:
    made = names(convolution(groups), batched, 3)
    assert made.count("convolve") == 1
    assert set(made) <= {"convolve", "permute", "reshape"}


@pytest.mark.parametrize("batched", ONLY)
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_of_fractions_are_near(batched: tuple[bool, ...], groups: int) -> None:
    rng, func = np.random.default_rng(1), convolution(groups)
    shapes = (2, 4, 9), (6, 4 // groups, 3)
    given = [[rng.uniform(0.5, 1, s).astype(np.float32) for s in shapes] for _ in range(3)]
    assert batching_differs(func, batched, Lanes(given, 3, {}), units=4.0) is None


def test_groups_cannot_be_symbolic() -> None:
    """So lanes that would be groups take turns."""
    assert "loop" in names(convolution(), (True, True))
    assert "loop" not in names(convolution(), (False, True))
    half = Symbol("half", 1, 64)
    func = convolution(2, 2 * half)
    func.symbols = (half,)
    assert "loop" not in names(func, (False, True))


@pytest.mark.parametrize("batched", ONLY)
@pytest.mark.parametrize("first", [0, 1])
def test_reading_copies_nothing(batched: tuple[bool, ...], first: int) -> None:
    types = Tensor((4, 5, 6), f32), Tensor((*(4,) * first, 3, 1), i64)
    func = func_of(tensor.Gather, *types, axes=(1,), batch=first)
    assert set(names(func, batched)) <= {"gather", "permute"}


@pytest.mark.parametrize("first", [0, 1])
def test_places_that_are_alike_are_not_copied(first: int) -> None:
    types = Tensor((4, 5), f32), Tensor((*(4,) * first, 3, 1), i64)
    updates = Tensor((4, 3) if first else (3, 4), f32)
    func = func_of(tensor.Scatter, *types, updates, axes=(1,), batch=first)
    assert set(names(func, (True, False, True))) <= {"scatter", "permute"}
    assert "broadcast" in names(func, (False, False, True))


def test_each_key_has_its_stream() -> None:
    key = np.array([[1, 2], [3, 4], [1, 2]], np.uint32)
    func = func_of(tensor.RandomBits, Tensor((2,), u32), shape=(3, 5), offset=2)
    assert names(func, (True,)) == ["random_bits"]
    found = interpret(batch(func, (True,), 3)[0], key)[0]
    alone = [interpret(func, each)[0] for each in key]
    assert same(found, np.stack(alone))
    assert same(found[0], found[2])


def test_lanes_of_lanes_have_keys() -> None:
    rng = np.random.default_rng(2)
    keys = rng.integers(0, 2**32, (2, 3, 2), np.uint32)
    func = func_of(tensor.RandomBits, Tensor((2,), u32), shape=(4,))
    both = batch(batch(func, (True,), 3)[0], (True,), 2)[0]
    found = interpret(both, keys)[0]
    assert found.shape == (2, 3, 4)
    assert same(found[1, 2], interpret(func, keys[1, 2])[0])


@pytest.mark.parametrize("batched", ONLY)
def test_a_kernel_is_called_for_each_lane(batched: tuple[bool, ...]) -> None:
    func = custom({})
    assert "loop" in names(func, batched)
    assert batching_differs(func, batched, pairs()) is None


@pytest.mark.parametrize("batched", ONLY)
def test_a_kernel_that_takes_lanes_is_called_once(batched: tuple[bool, ...]) -> None:
    func = custom({"batched": True})
    assert [name for name in names(func, batched) if name != "broadcast"] == ["custom"]
    assert batching_differs(func, batched, pairs()) is None


def test_what_only_looks_like_yes_is_no() -> None:
    assert "loop" in names(custom({"batched": 1}), (True, True))


def custom(settings: dict[str, Any]) -> Func:
    """A kernel that works on every element alone, so that it takes any axes more."""
    types = [Tensor((3,), i64)] * 2
    func = Func("f", types)
    builder = Builder(func.body)
    kernel = "kit.outside:quotient"
    made = builder.emit_all(tensor.Custom, func.arguments, kernel, types, settings=settings)
    builder.emit_all(Return, made)
    return func


def pairs() -> Lanes:
    rng = np.random.default_rng(3)
    given: list[list[Array]] = [[rng.integers(-9, 9, 3), rng.integers(1, 4, 3)] for _ in range(3)]
    return Lanes(given, 3, {})


def test_the_size_of_an_axis_is_alike_in_all_lanes() -> None:
    func = func_of(tensor.Dim, Tensor((4, 5), f32), axis=1)
    made, varying = batch(func, (True,), 3)
    assert varying == (False,)
    assert interpret(made, np.zeros((3, 4, 5), np.float32))[0] == 5
