"""Results that go past the caches: which stores those are, and what becomes of them."""

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from brimstone.passes.past_caches import has_lines, past_caches, through_caches
from kit.bound import AVX2, AVX512, MACHINES, bound, check, kernel

DOUBLED = """
func @doubled<n: 1..4096, m: 1..4096>(%x: view<2, f32, {{size: [n, m], unit_stride: 1}}>,
    %y: view<2, f32, {{size: [n, m], unit_stride: 1}}>)
    with {{grid: [n], tile: {{n: {tile}}}}} {{
  %row = tile.program_id {{axis = 0}} : scalar<i64>
  %zero = tile.constant {{value = {first}}} : scalar<i64>
  %by = tile.constant {{value = {tile}}} : scalar<i64>
  %m = tile.extent %x {{axis = 1}} : scalar<i64>
  tile.for %zero, %m, %by (%at: scalar<i64>) {{
    %a = tile.load %x, %row, %at {{shape = [1, {tile}], padding = 0.0}} : tile<[1, {tile}], f32>
    %b = tile.binary %a, %a {{kind = add}} : tile<[1, {tile}], f32>
    {store}
    yield
  }}
  return
}}"""
STORE = "tile.store %y, %b, %row, %at"
READ = """tile.store %y, %b, %row, %at
    %c = tile.load %y, %row, %at {shape = [1, 32], padding = 0.0} : tile<[1, 32], f32>"""


def doubled(tile: int = 32, first: int = 0, store: str = STORE) -> str:
    return DOUBLED.format(tile=tile, first=first, store=store)


def test_the_version_has_the_facts_and_the_same_body() -> None:
    func = kernel(doubled())
    made = past_caches(func, [1])
    assert made is not None
    assert made.name == "doubled_past_caches_1"
    assert print_func(parse(print_func(made)).main) == print_func(made)
    _, y = made.arguments
    facts = "{size: [n, m], unit_stride: 1, stride_multiple: [16, 1], align: 64}"
    assert str(y.type) == f"view<2, f32, {facts}>"
    assert str(made.attributes["tile"]) == "{n: 32, past_caches: 1, ahead: 2048}"
    assert "stride_multiple" not in print_func(func), "the kernel itself stays what it is"


def test_where_rows_stream_past_nothing_is_asked_for() -> None:
    plain = kernel(doubled())
    through = through_caches(plain, [1])
    assert through is not None
    assert str(through.attributes["tile"]) == "{n: 32, ahead: 2048}"
    streaming = kernel(doubled().replace("tile: {n: 32}", "tile: {n: 32, wide: 4096}"))
    past = past_caches(streaming, [1])
    assert past is not None
    assert str(past.attributes["tile"]) == "{n: 32, wide: 4096, past_caches: 1}"
    assert through_caches(streaming, [1]) is None, "it would be the kernel as it is"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (doubled(), [0]),
        (doubled(), []),
        (doubled(first=8), [1]),
        (doubled(tile=8, first=4), [1]),
        (doubled(tile=8).replace("[1, 8]", "[2, 8]"), [1]),
        (doubled(store=f"{STORE}\n    {STORE}"), [1]),
        (doubled(store=READ), [1]),
    ],
    ids=[
        "only read", "none", "within a line", "within a part of one", "half lines of several rows",
        "stored twice", "read again",
    ],
)  # fmt: skip
def test_other_stores_have_no_version(text: str, arguments: list[int]) -> None:
    assert past_caches(kernel(text), arguments) is None


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("columns", [16, 32, 48, 112])
def test_whole_vectors_go_past_the_caches(machine: object, columns: int) -> None:
    made = past_caches(kernel(doubled()), [1])
    assert made is not None
    x = np.arange(3 * columns, dtype=np.float32).reshape(3, columns)
    check(made, [x, np.zeros_like(x)], machine)  # pyright: ignore[reportArgumentType]
    found = [type(op) for op in bound(made, AVX512).walk()]
    assert found.count(loop.StorePastCaches) == 2
    assert loop.StoreVector not in found
    assert loop.StoreMasked in found, "the end of a row, which may be a part of a line"


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
def test_half_lines_of_a_row_go_past_the_caches(machine: object) -> None:
    made = past_caches(kernel(doubled(tile=8)), [1])
    assert made is not None
    x = np.arange(3 * 48, dtype=np.float32).reshape(3, 48)
    check(made, [x, np.zeros_like(x)], machine)  # pyright: ignore[reportArgumentType]
    assert loop.StorePastCaches in [type(op) for op in bound(made, AVX2).walk()]


def test_products_have_no_version() -> None:
    text = """
func @product(%x: view<2, f32, {unit_stride: 1}>, %y: view<2, f32, {unit_stride: 1}>)
    with {grid: [1], tile: {n: 16}} {
  %zero = tile.constant {value = 0} : scalar<i64>
  %a = tile.load %x, %zero, %zero {shape = [16, 16], padding = 0.0} : tile<[16, 16], f32>
  %b = tile.dot %a, %a, %a : tile<[16, 16], f32>
  %c = tile.binary %a, %a {kind = add} : tile<[16, 16], f32>
  tile.store %y, %c, %zero, %zero
  return
}"""
    assert past_caches(kernel(text), [1]) is None
    plain = text.replace("  %b = tile.dot %a, %a, %a : tile<[16, 16], f32>\n", "")
    assert past_caches(kernel(plain), [1]) is not None


def test_what_are_lines() -> None:
    from brimstone.ir.dtypes import bf16, f32

    assert has_lines((), f32)
    assert has_lines((7,), f32)
    assert has_lines((7, 32), f32)
    assert has_lines((3, 7, 16), f32)
    assert not has_lines((7, 8), f32)
    assert not has_lines((7, 16), bf16)
