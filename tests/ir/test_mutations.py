"""No text makes the parser or the verifier raise anything but their errors, or hang."""

import time
from collections import Counter

import pytest

from brimstone.ir.errors import ParseError, VerifyError
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.verifier import verify
from kit.mutations import DEEP, NESTED, SIZES, TYPES, mutants
from kit.programs import random_program
from kit.work import PATIENCE

MUTANTS = 10_000

# Every kind of type, setting and number, and the spelling of a location.
BY_HAND = """\
func @f<n: 1..64 % 8, m: 0..7>(%x: tensor<[n, m], f32>, %p: tensor<[], bool>) -> tensor<[], c64> \
with {target: "cpu", tile: {m: 128, k: [1, true, f32]}} at "a \\"b\\".py":3, "c.py":4 {
  %c = tensor.constant {value = (1.5, -inf)} : tensor<[], c64> at "a.py":5
  %d = tensor.constant {value = [[1, 2], [3, 4]]} : tensor<[2, 2], i8>
  %e = tensor.constant {value = empty<[0, 3]>} : tensor<[0, 3], f64>
  %g = tensor.constant {value = 0x7fc00001} : tensor<[], f32>
  %h, %i = tensor.sort %x, %x {axis = 0, keys = 1} : tensor<[n, m], f32>, tensor<[n, m], f32>
  %j = tensor.cond %p, %x (%y: tensor<[n, m], f32>) {
    %z = tensor.exp %y : tensor<[n, m], f32>
    yield %z
  } (%y: tensor<[n, m], f32>) {
    yield %y
  } : tensor<[n, m], f32>
  return %c
}

func @g(%v: view<2, f16, {unit: true}>, %b: buffer<u32, shared>, %w: vec<16, f8e4m3>) {
  return
}
"""


def outcome(text: str) -> str:
    """What becomes of a text, in time."""
    start = time.process_time()
    try:
        verify(parse(text))
        result = "fine"
    except (ParseError, VerifyError) as error:
        assert str(error)
        result = type(error).__name__
    except Exception as error:
        pytest.fail(f"{type(error).__name__}: {error}\nfrom the text:\n{text[:2000]}")
    spent = time.process_time() - start
    assert spent < PATIENCE, f"{spent:.1f} s for the text:\n{text[:2000]}"
    return result


def test_the_text_by_hand_is_fine() -> None:
    assert outcome(BY_HAND) == "fine"


def test_mutants(record_summary: list[str]) -> None:
    texts = [print_module(random_program(seed, 6), locations=seed % 2 == 0) for seed in range(60)]
    outcomes = Counter(map(outcome, mutants([*texts, *[BY_HAND] * 20], MUTANTS)))
    assert outcomes["ParseError"] > MUTANTS // 2
    assert outcomes["VerifyError"] > MUTANTS // 100
    listed = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    record_summary.append(f"{MUTANTS} mutated texts: {listed}")


@pytest.mark.parametrize(("opening", "closing"), NESTED)
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "func @f(%x: tensor<[{}], f32>) {{\n  return\n}}",
        "func @f(%x: {}) {{\n  return\n}}",
        "func @f() with {{a: {}}} {{\n  return\n}}",
        "func @f(%x: tensor<[], f32>, %p: tensor<[], bool>) {{\n{}\n}}",
        "func @f() {{\n  %c = tensor.constant {{value = {}}} : tensor<[2], f32>\n  return\n}}",
    ],
)
def test_deep_nesting(around: str, opening: str, closing: str) -> None:
    for depth in (1, 60, DEEP):
        for end in ("", closing * depth):
            outcome(around.format(opening * depth + "1" + end))


@pytest.mark.parametrize("type_", TYPES)
def test_types_in_all_places(type_: str) -> None:
    outcome(f"func @f<n: 0..9>(%x: {type_}) -> {type_} {{\n  return %x\n}}")
    outcome(f"func @f<n: 0..9>(%x: {type_}) {{\n  %y = tensor.add %x, %x : {type_}\n  return\n}}")
    outcome(f"func @f<n: 0..9>() {{\n  %y = tensor.constant {{value = 1}} : {type_}\n  return\n}}")


@pytest.mark.parametrize("size", SIZES)
def test_sizes_in_all_places(size: str) -> None:
    symbols = "<n: 0..64, m: 1..64>"
    outcome(f"func @f{symbols}(%x: tensor<[{size}], f32>) {{\n  return\n}}")
    outcome(f"func @f<n: 0..{size}>(%x: tensor<[n], f32>) {{\n  return\n}}")
    outcome(f"func @f<n: {size}..9 % {size}>(%x: tensor<[n, {size}], f32>) {{\n  return\n}}")
    outcome(f'func @f() with {{a: {size}}} at "a.py":{size} {{\n  return\n}}')
    for dtype in ("bool", "i8", "u64", "f8e4m3", "f64", "c64"):
        outcome(
            f"func @f{symbols}() {{\n  %c = tensor.constant {{value = [{size}, {size}]}} "
            f": tensor<[2], {dtype}>\n  return\n}}"
        )
    outcome(
        f"func @f{symbols}() {{\n  %i = tensor.iota {{shape = [{size}], axis = {size}, "
        f"dtype = i8}} : tensor<[{size}], i8>\n  return\n}}"
    )
