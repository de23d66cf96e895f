"""What the source looks like: names, masks, widths of integers, descriptors, the user's lines."""

import pytest

from brimstone.ir.dtypes import bf16
from brimstone.ir.parser import parse
from brimstone.targets.triton import Refused, Role, print_kernel, print_triton
from kit.tile_corpus import matmul_gelu, persistent_matmul

SHIFT = """
func @shift<n: 1..{most}>(%x: view<1, f32, {{size: [n]{facts}}}>, %y: view<1, f32, {{size: [n]}}>)
    with {{grid: [ceildiv(n, 64)]}} {{
  %program = tile.program_id {{axis = 0}} : scalar<i64>
  %size = tile.constant {{value = 64}} : scalar<i64>
  %at = tile.binary %program, %size {{kind = multiply}} : scalar<i64> at "model.py":7
  %a = tile.load %x, %at {{shape = [64], padding = 0.0}} : tile<[64], f32> at "model.py":8
  tile.store %y, %a, %at
  return
}}
"""
SOURCE = """import triton
import triton.language as tl


@triton.jit
def shift(
    x,
    n,
    y,
    y_stride0,
):
    # <text>:4
    program = tl.program_id(0)
    # model.py:7
    at = program * 64
    # model.py:8
    ats = at + tl.arange(0, 64)
    x_at = x + ats
    inside = ats < n
    a = tl.load(x_at, mask=inside, other=0.0)
    # <text>:8
    y_at = y + ats * y_stride0
    tl.store(y_at, a, mask=inside)
"""


def shift(most: int = 65536, facts: str = ", unit_stride: 0") -> str:
    return print_triton(parse(SHIFT.format(most=most, facts=facts)).main)


def test_a_kernel_reads_like_one() -> None:
    assert shift() == SOURCE


def test_large_sizes_are_counted_in_64_bits() -> None:
    assert "program = tl.program_id(0).to(tl.int64)" in shift(most=1 << 40)
    assert "int64" not in shift()


def test_a_place_that_may_pass_32_bits_has_64() -> None:
    """The last block ends beyond 2^31, and the program itself does not."""
    source = shift(most=(1 << 31) - 1)
    assert "at = program * 64" in source
    assert "places = at.to(tl.int64) + tl.arange(0, 64)" in source


def test_facts_remove_masks() -> None:
    text = SHIFT.format(most=65536, facts="").replace("n: 1..65536", "n: 64..65536 % 64")
    assert "mask" not in print_triton(parse(text).main)


def test_facts_become_attributes() -> None:
    kernel = print_kernel(matmul_gelu(bf16))
    divisible = {each.name: each.divisible for each in kernel.parameters}
    assert divisible["a"] and not divisible["m"]
    types = {each.name: each.type for each in kernel.parameters}
    assert (types["a"], types["bias"], types["a_stride0"]) == ("*bf16", "*fp32", "i32")


def test_views_of_one_size_share_a_parameter() -> None:
    kernel = print_kernel(matmul_gelu(bf16))
    assert [each.name for each in kernel.parameters if each.role is Role.SIZE] == ["m", "k", "n"]


def test_descriptors_where_the_schedule_asks_and_facts_allow() -> None:
    kernel = print_kernel(persistent_matmul(bf16))
    moved = {each.name: each.type for each in kernel.parameters if each.role is Role.DESCRIPTOR}
    assert moved == {
        "a_block": "tensordesc<bf16[128, 64]>",
        "b_block": "tensordesc<bf16[64, 256]>",
        "c_block": "tensordesc<bf16[128, 256]>",
    }
    assert "a_block.load([row, k" in kernel.source
    assert "tl.load" not in kernel.source
    assert "flatten=True" in kernel.source


def test_no_descriptors_without_the_schedule() -> None:
    kernel = print_kernel(matmul_gelu(bf16))
    assert all(each.role is not Role.DESCRIPTOR for each in kernel.parameters)


def test_names_of_python_and_triton_are_not_taken() -> None:
    text = SHIFT.format(most=64, facts="").replace("%at", "%tl").replace("%a", "%lambda")
    text = text.replace("%program", "%quotient")
    source = print_triton(parse(text).main)
    assert "vlambda = tl.load" in source
    assert "tl_2 = quotient_2 * 64" in source
    compile(source, "source", "exec")


def test_constants_that_some_versions_forget_are_bits() -> None:
    """Triton before 3.9 takes -0.0 for 0.0."""
    text = SHIFT.format(most=64, facts="").replace(
        "  tile.store %y, %a, %at",
        """%z = tile.constant {value = -0.0} : scalar<f32>
        %zs = tile.full %z {shape = [64]} : tile<[64], f32>
        %s = tile.binary %a, %zs {kind = add} : tile<[64], f32>
        tile.store %y, %s, %at""",
    )
    source = print_triton(parse(text).main)
    made = "tl.full([], 0x80000000, tl.uint32).to(tl.float32, bitcast=True)"
    assert f"z = {made}" in source
    unnamed = print_triton(parse(text.replace("%z ", "%0 ")).main)
    assert f"minus_zero = {made}" in unnamed


def test_what_is_no_kernel() -> None:
    text = """
    func @f(%x: scalar<i64>) -> scalar<i64> {
      return %x
    }
    """
    with pytest.raises(Refused, match="returns values"):
        print_triton(parse(text).main)
