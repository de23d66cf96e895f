"""Types: interned, printed, read back, and refused where their parts do not go together."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from brimstone.ir.attributes import Frozen
from brimstone.ir.dims import MAX_SIZE, Symbol, ceil_div
from brimstone.ir.dtypes import bf16, boolean, c128, f16, f32, i64, u8
from brimstone.ir.errors import Unmet
from brimstone.ir.scanner import Scanner
from brimstone.ir.types import (
    BY_KEYWORD,
    MAX_RANK,
    Array,
    Buffer,
    Fragment,
    Scalar,
    Space,
    Tensor,
    Tile,
    Type,
    Use,
    Vec,
    View,
    parse_type,
)

N, M = Symbol("n", 0, 64), Symbol("m", 1, 8)
TYPES: list[tuple[Type, str]] = [
    (Tensor((), f32), "tensor<[], f32>"),
    (Tensor((0,), f32), "tensor<[0], f32>"),
    (Tensor((1,) * 8, boolean), "tensor<[1, 1, 1, 1, 1, 1, 1, 1], bool>"),
    (Tensor((N, 2 * N + 1, ceil_div(N, M)), c128), "tensor<[n, 2*n + 1, ceildiv(n, m)], c128>"),
    (Tensor((MAX_SIZE,), u8), f"tensor<[{MAX_SIZE}], u8>"),
    (Tensor((MAX_SIZE, 0), u8), f"tensor<[{MAX_SIZE}, 0], u8>"),
    (Tile((64, 1), bf16), "tile<[64, 1], bf16>"),
    (Array((N,), f16), "array<[n], f16>"),
    (View(2, f32), "view<2, f32>"),
    (View(2, f32, Frozen({"unit": True})), "view<2, f32, {unit: true}>"),
    (Scalar(i64), "scalar<i64>"),
    (Vec(16, f32), "vec<16, f32>"),
    (Buffer(f32, Space.SHARED), "buffer<f32, shared>"),
    (Fragment(16, 8, f16, Use.ACCUMULATOR), "fragment<16, 8, f16, accumulator>"),
]


@pytest.mark.parametrize(("type_", "text"), TYPES)
def test_types_print_and_are_read_back(type_: Type, text: str) -> None:
    assert str(type_) == type_.text == text
    scanner = Scanner(text)
    scanner.symbols = {"n": N, "m": M}
    assert parse_type(scanner) is type_
    assert pickle.loads(pickle.dumps(type_)) is type_


def test_every_class_of_type_is_tried() -> None:
    assert {type_.__class__ for type_, _ in TYPES} == set(BY_KEYWORD.values())


def test_equal_types_are_one_object() -> None:
    assert Tensor([4, N], f32) is Tensor((4, N), f32)  # pyright: ignore[reportArgumentType]
    assert Tensor((2 * N,), f32) is Tensor((N + N,), f32)
    assert Tensor((4,), f32) is not Tensor((4,), f16)
    assert Tensor((4,), f32) is not Tile((4,), f32)
    assert Tensor((Symbol("n", 0, 65),), f32) is not Tensor((N,), f32)
    assert Tensor((True,), f32).text == "tensor<[1], f32>"


def test_a_shape_or_a_dtype_is_exchanged() -> None:
    type_ = Tensor((4, N), f32)
    assert type_.with_dtype(f16) is Tensor((4, N), f16)
    assert type_.with_shape(()) is Tensor((), f32)
    assert (type_.rank, type_.shape, type_.dtype) == (2, (4, N), f32)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Tensor((-1,), f32), f"-1 is not a size: it is never within 0..{MAX_SIZE}"),
        (lambda: Tensor((2**63,), u8), f"{2**63} is not a size: it is never within 0..{MAX_SIZE}"),
        (lambda: Tensor((N - 65,), u8), f"n - 65 is not a size: it is never within 0..{MAX_SIZE}"),
        (lambda: Tensor((1,) * (MAX_RANK + 1), f32), "a rank of 33 is more than 32"),
        (
            lambda: Tensor((2**32, 2**31), u8),
            f"[{2**32}, {2**31}] of u8 needs more than 2^63 - 1 bytes",
        ),
        (
            lambda: Tensor((2**61, N, 0), f32),
            f"[{2**61}, n, 0] of f32 needs more than 2^63 - 1 bytes",
        ),
        (lambda: Tensor((1.5,), f32), "expected an integer, got 1.5"),  # pyright: ignore[reportArgumentType]
        (lambda: Tensor((4,), "f32"), "expected a dtype, got 'f32'"),  # pyright: ignore[reportArgumentType]
        (lambda: Tile((N,), f32), "a tile has static sizes, not [n]"),
        (lambda: Vec(0, f32), "a vector has 1 to 4096 lanes, not 0"),
        (lambda: Fragment(0, 8, f16, Use.LEFT), "a fragment has at least one row and column"),
        (lambda: View(33, f32), "a view has rank 0 to 32, not 33"),
        (Scalar, "scalar takes 1 parts"),
    ],
)
def test_what_is_no_type_is_refused(make: Callable[[], Any], said: str) -> None:
    with pytest.raises((Unmet, ValueError)) as caught:
        make()
    assert str(caught.value) == said
