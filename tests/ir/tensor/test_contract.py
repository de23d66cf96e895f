"""contract, against np.einsum and plain loops."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import (
    BY_NAME,
    FLOATS,
    NUMBERS,
    bf16,
    boolean,
    c64,
    c128,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    u8,
    u32,
)  # fmt: skip
from brimstone.ir.types import Tensor
from kit.calls import call, counted, refusal, run, same_bits

n, m = Symbol("n"), Symbol("m")
MATRICES = {"left_batch": (), "right_batch": (), "left_contract": (1,), "right_contract": (0,)}


def spelled(subscripts):
    """The attributes that mean what einsum's subscripts say."""
    (left, right), result = subscripts.split("->")[0].split(","), subscripts.split("->")[1]
    batch = [letter for letter in left if letter in right and letter in result]
    summed = [letter for letter in left if letter in right and letter not in result]
    return {
        "left_batch": tuple(map(left.index, batch)),
        "right_batch": tuple(map(right.index, batch)),
        "left_contract": tuple(map(left.index, summed)),
        "right_contract": tuple(map(right.index, summed)),
    }


@pytest.mark.parametrize("dtype", sorted(NUMBERS, key=str), ids=str)
def test_products_of_matrices_of_every_dtype(dtype):
    left, right = counted((2, 3), dtype, 4), counted((3, 4), dtype, 5)
    expected = np.zeros((2, 4), np.complex128)
    for i, j, k in np.ndindex(2, 4, 3):
        expected[i, j] += complex(left[i, k]) * complex(right[k, j])
    found = call(tensor.Contract, left, right, **MATRICES, dtype=dtype)
    wanted = expected if dtype in (c64, c128) else expected.real
    same_bits(found, wanted.astype(dtype.storage))


@pytest.mark.parametrize(
    "subscripts",
    [
        ",->", "i,->i", ",i->i", "i,i->", "i,j->ij", "i,i->i", "ij,jk->ik", "ji,kj->ik",
        "bij,bjk->bik", "ibj,jkb->bik", "abij,abjk->abik", "ijk,kji->", "ij,klij->kl",
        "abcdij,abcdjk->abcdik", "aibjckdl,lkji->abcd", "ab,abcdefgh->abcdefgh",
    ],
)  # fmt: skip
def test_axes_in_any_place_and_number(subscripts):
    sizes = dict(zip("abcdefghijkl", (2, 3, 1, 2, 1, 2, 1, 2, 3, 2, 2, 3), strict=True))
    left, right = (
        counted(tuple(sizes[letter] for letter in letters), f32, 7)
        for letters in subscripts.split("->")[0].split(",")
    )
    found = call(tensor.Contract, left, right, **spelled(subscripts), dtype=f32)
    same_bits(found, np.asarray(np.einsum(subscripts, left, right, dtype=np.float64), np.float32))


@pytest.mark.parametrize("empty", ["b", "i", "j", "k", "bijk"])
def test_sums_of_nothing_are_zero(empty):
    sizes = {letter: 0 if letter in empty else 2 for letter in "bijk"}
    left, right = (
        counted(tuple(sizes[each] for each in letters), f16) for letters in ("bij", "bjk")
    )
    found = call(tensor.Contract, left, right, **spelled("bij,bjk->bik"), dtype=f16)
    same_bits(found, np.zeros((sizes["b"], sizes["i"], sizes["k"]), np.float16))


def test_narrow_floats_are_summed_in_f32_and_rounded_once():
    ones = np.ones((1, 600), bf16.storage)
    sums = call(tensor.Contract, ones, ones.T, **MATRICES, dtype=bf16)
    assert float(sums[0, 0]) == 600  # which a sum kept in bf16 never reaches
    left = np.array([[256, 1, 0.5]], np.float32).astype(bf16.storage)
    right = np.ones((3, 1), bf16.storage)
    assert float(call(tensor.Contract, left, right, **MATRICES, dtype=bf16)[0, 0]) == 258
    assert float(call(tensor.Contract, left, right, **MATRICES, dtype=f32)[0, 0]) == 257.5


def test_a_wider_operand_is_summed_as_wide_as_it_is():
    left = np.array([[1, 2.0**-8, 2.0**-40]])
    found = call(tensor.Contract, left, np.ones((3, 1)), **MATRICES, dtype=bf16)
    assert float(found[0, 0]) == 1 + 2.0**-7  # rounded to f32 first, it would become 1


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=str), ids=str)
def test_infinities_and_nan_go_where_they_belong(dtype):
    left = np.array([[1, np.nan], [0, 1]], np.float32).astype(dtype.storage)
    found = call(tensor.Contract, left, np.eye(2).astype(dtype.storage), **MATRICES, dtype=dtype)
    assert np.isnan(found.astype(np.float32)).tolist() == [[True, True], [False, False]]


def test_integers_wrap_in_the_wider_dtype():
    left, right = np.array([[100, 100]], np.int8), np.array([[100], [100]], np.int8)
    assert call(tensor.Contract, left, right, **MATRICES, dtype=i8).item() == 20000 - 78 * 256
    assert call(tensor.Contract, left, right, **MATRICES, dtype=i16).item() == 20000
    assert call(tensor.Contract, -left, right, **MATRICES, dtype=i32).item() == -20000
    assert call(tensor.Contract, -left, right, **MATRICES, dtype=u32).item() == 2**32 - 20000
    wide = left.astype(np.int32)
    assert call(tensor.Contract, wide, wide.T, **MATRICES, dtype=u8).item() == 20000 % 256


def test_sums_do_not_depend_on_the_layout():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 40, 50)).astype("f4"), rng.normal(size=(50, 30)).astype("f4")
    text = """
    func @f(%l: tensor<[50, 40], f32>, %r: tensor<[30, 50], f32>) -> tensor<[40, 30], f32> {
      %a = tensor.permute %l {axes = [1, 0]} : tensor<[40, 50], f32>
      %b = tensor.permute %r {axes = [1, 0]} : tensor<[50, 30], f32>
      %c = tensor.contract %a, %b {left_batch = [], right_batch = [], left_contract = [1],
        right_contract = [0], dtype = f32} : tensor<[40, 30], f32>
      return %c
    }"""
    straight = call(tensor.Contract, left[0], right, **MATRICES, dtype=f32)
    same_bits(run(text, left[0].T.copy(), right.T.copy())[0], straight)
    np.testing.assert_allclose(straight, np.float64(left[0]) @ right, rtol=1e-4, atol=1e-4)


def test_symbolic_sizes():
    text = """
    func @f<n: 0..64, m: 0..64>(%l: tensor<[n, m, 2], i32>, %r: tensor<[m, 2], i32>)
        -> tensor<[n], i32> {
      %y = tensor.contract %l, %r {left_batch = [], right_batch = [], left_contract = [2, 1],
        right_contract = [1, 0], dtype = i32} : tensor<[n], i32>
      return %y
    }"""
    for rows, columns in ((0, 0), (0, 3), (3, 0), (2, 3)):
        left, right = counted((rows, columns, 2), i32), counted((columns, 2), i32)
        same_bits(run(text, left, right)[0], np.einsum("nmk,mk->n", left, right).astype(np.int32))


def test_refusals_name_axes_and_sizes():
    def said(left, right, dtype=f32, **changed):
        return refusal(tensor.Contract, left, right, **(MATRICES | changed), dtype=dtype)

    left, right = Tensor((n, 3), f32), Tensor((3, m), f32)
    assert "axis 1 of left has size 3, axis 0 of right has size m" in said(
        left, Tensor((m, 3), f32)
    )
    assert "axis 0 of left has size n, axis 1 of right has size m" in said(
        left, right, left_batch=(0,), right_batch=(1,)
    )
    assert "left_contract names 1 axes, right_contract 0" in said(left, right, right_contract=())
    assert "left_batch names 1 axes, right_batch 0" in said(left, right, left_batch=(0,))
    assert "left_batch + left_contract names an axis twice: [1, 1]" in said(
        left, right, left_batch=(1,), right_batch=(1,)
    )
    assert "right_batch + right_contract = [2]: a tensor of rank 2 has no axis 2" in said(
        left, right, right_contract=(2,)
    )
    assert "the operands are of f32 and of f64" in said(left, Tensor((3, m), f64))
    assert "products of f32 cannot be summed to i32; cast first" in said(left, right, i32)
    assert "cannot be summed to c64" in said(left, right, c64)
    flags = Tensor((3, 3), boolean)
    assert "expected a dtype among" in said(flags, flags, BY_NAME["bool"])
