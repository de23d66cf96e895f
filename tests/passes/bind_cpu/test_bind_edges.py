"""Blocks at the edges of views: what lies inside is not masked, what lies outside not touched."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.func import Func
from brimstone.ir.tile import poisoned
from brimstone.ir.values import Op, walk
from brimstone.passes.bind_cpu import Refused
from kit.bound import AVX2, AVX512, MACHINES, Machine, bound, check, kernel

ALL = pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
CHAIN = """
func @chain<n: 0..65536{multiple}>(
    %x: view<1, f32, {{size: [n]{unit}}}>, %y: view<1, f32, {{size: [n]{unit}}}>)
    with {{grid: [ceildiv(n, {tile})]}} {{
  %place = tile.program_id {{axis = 0}} : scalar<i64>
  %size = tile.constant {{value = {tile}}} : scalar<i64>
  %back = tile.constant {{value = {back}}} : scalar<i64>
  %start = tile.binary %place, %size {{kind = multiply}} : scalar<i64>
  %at = tile.binary %start, %back {{kind = subtract}} : scalar<i64>
  %a = tile.load %x, %at {{shape = [{tile}], padding = 3.0}} : tile<[{tile}], f32>
  %b = tile.binary %a, %a {{kind = add}} : tile<[{tile}], f32>
  tile.store %y, %b, %start
  return
}}
"""
ROWS = """
func @rows<m: 0..65536, n: 0..65536>(
    %x: view<2, f32, {{size: [m, n], unit_stride: 1}}>, %y: view<1, f32, {{size: [m]}}>)
    with {{grid: [m]}} {{
  %row = tile.program_id {{axis = 0}} : scalar<i64>
  %first = tile.constant {{value = {first}}} : scalar<i64>
  %behind = tile.constant {{value = {behind}}} : scalar<i64>
  %step = tile.constant {{value = {step}}} : scalar<i64>
  %low = tile.constant {{value = 100.0}} : scalar<f32>
  %width = tile.extent %x {{axis = 1}} : scalar<i64>
  %end = tile.binary %width, %behind {{kind = add}} : scalar<i64>
  %lows = tile.full %low {{shape = [1, 16]}} : tile<[1, 16], f32>
  %counted = tile.iota {{shape = [1, 16], axis = 1, dtype = i64}} : tile<[1, 16], i64>
  %widths = tile.full %width {{shape = [1, 16]}} : tile<[1, 16], i64>
  %least = tile.for %first, %end, %step, %lows (%i: scalar<i64>, %so_far: tile<[1, 16], f32>) {{
    %at = tile.binary %i, %behind {{kind = subtract}} : scalar<i64>
    %a = tile.load %x, %row, %at {{shape = [1, 16], padding = -99.0}} : tile<[1, 16], f32>
    %starts = tile.full %at {{shape = [1, 16]}} : tile<[1, 16], i64>
    %places = tile.binary %counted, %starts {{kind = add}} : tile<[1, 16], i64>
    %inside = tile.compare %places, %widths {{kind = less}} : tile<[1, 16], bool>
    %b = tile.select %inside, %a, %lows : tile<[1, 16], f32>
    %c = tile.binary %so_far, %b {{kind = minimum}} : tile<[1, 16], f32>
    yield %c
  }} : tile<[1, 16], f32>
  %one = tile.reduce %least {{axis = 1, kind = minimum}} : tile<[1], f32>
  tile.store %y, %one, %row
  return
}}
"""
UNIT = ", unit_stride: 0"
MASKED = (loop.LoadMasked, loop.StoreMasked, loop.Gather, loop.Scatter)


@ALL
@pytest.mark.parametrize(("tile", "back"), [(24, 0), (24, 5), (7, 3), (1, 1), (32, 40)])
@pytest.mark.parametrize("unit", [UNIT, ""])
def test_a_chain(machine: Machine, tile: int, back: int, unit: str) -> None:
    func = kernel(CHAIN.format(tile=tile, back=back, unit=unit, multiple=""))
    for size in (0, 1, tile - 1, tile, tile + 1, 37):
        x = np.arange(1, size + 1, dtype=np.float32)
        check(func, [x, np.zeros_like(x)], machine)


@ALL
@pytest.mark.parametrize(("tile", "back"), [(24, 5), (7, 3), (16, 16), (32, 40)])
def test_what_begins_before_its_view_is_stored_in_part(
    machine: Machine, tile: int, back: int
) -> None:
    text = CHAIN.format(tile=tile, back=back, unit=UNIT, multiple="")
    func = kernel(text.replace("%b, %start", "%b, %at"))
    for size in (0, 1, tile - 1, tile, tile + 1, 37):
        x = np.arange(1, size + 1, dtype=np.float32)
        check(func, [x, np.zeros_like(x)], machine)


@pytest.mark.parametrize(("machine", "vectors"), [(AVX2, 4), (AVX512, 0)])
def test_whole_vectors_of_a_block_at_an_edge_have_no_mask(machine: Machine, vectors: int) -> None:
    """Where a masked store takes longer; there, an empty vector is not stored, either."""
    made = bound(kernel(CHAIN.format(tile=32, back=0, unit=UNIT, multiple="")), machine)
    (choice,) = [op for op in made.body if isinstance(op, loop.If)]
    edge = [op for op in choice.on_false if isinstance(op, loop.If)]
    assert len(edge) == vectors
    for op in edge:
        whole, (nested, _) = [*op.on_true], [*op.on_false]
        assert [each.name for each in whole] == ["loop.store_vector", "yield"]
        assert isinstance(nested, loop.If)
        assert [each.name for each in nested.on_true] == ["loop.store_masked", "yield"]
    assert any(isinstance(op, loop.StoreMasked) for op in walk(choice.on_false))


@ALL
@pytest.mark.parametrize(
    ("first", "behind", "step"), [(0, 0, 16), (3, 0, 16), (0, 5, 16), (0, 0, 3)]
)
def test_rows_in_steps(machine: Machine, first: int, behind: int, step: int) -> None:
    """With a remainder, with a start inside or outside of the view, with blocks that overlap."""
    func = kernel(ROWS.format(first=first, behind=behind, step=step))
    for size in (0, 1, 15, 16, 17, 53):
        x = np.random.default_rng(size).integers(-9, 10, (3, size)).astype(np.float32)
        check(func, [x, np.zeros(3, np.float32)], machine)


@pytest.mark.parametrize(("text", "branches"), [
    (CHAIN.format(tile=32, back=0, unit=UNIT, multiple=""), 1),
    (CHAIN.format(tile=32, back=4, unit=UNIT, multiple=""), 1),
    (CHAIN.format(tile=32, back=0, unit=UNIT, multiple=" % 32"), 0),
])  # fmt: skip
def test_programs_inside_have_no_masks(text: str, branches: int) -> None:
    """The interior is one branch; where all programs lie inside, there is no other."""
    made = bound(kernel(text))
    choices = [op for op in made.walk() if isinstance(op, loop.If)]
    assert len(choices) == branches
    inside = [*walk(choices[0].on_true)] if choices else [*made.walk()]
    assert not any(isinstance(op, MASKED) for op in inside)
    assert any(isinstance(op, loop.StoreVector) for op in inside)


def test_rounds_inside_have_no_masks() -> None:
    """Of two loops, the first is free of masks, of comparisons and of choices."""
    first, last = loops(bound(kernel(ROWS.format(first=0, behind=0, step=16))))
    assert not any(isinstance(op, (*MASKED, loop.Compare, loop.Select)) for op in first.body)
    assert any(isinstance(op, loop.LoadMasked) for op in last.body)


def test_nothing_is_computed_again_in_a_loop() -> None:
    """Addresses of a row are made before the loop: a round adds its index, and loads."""
    first, _ = loops(bound(kernel(ROWS.format(first=0, behind=0, step=16))))
    assert [op.name for op in first.body] == [
        "loop.binary",
        "loop.load_vector",
        "loop.binary",
        "yield",
    ]


def loops(func: Func) -> list[loop.For]:
    """The loops of a func, in order."""
    return [op for op in func.walk() if isinstance(op, loop.For)]


@ALL
@pytest.mark.parametrize("strides", [[3], [0], [1]])
def test_strides_amid_poison(machine: Machine, strides: Sequence[int]) -> None:
    func = kernel(CHAIN.format(tile=8, back=2, unit="", multiple=""))
    x = np.full(29, 2, np.float32)
    check(func, [poisoned(x, strides), poisoned(x, [2])], machine)


def test_no_more_registers_than_there_are() -> None:
    text = CHAIN.format(tile=4096, back=0, unit=UNIT, multiple="")
    with pytest.raises(Refused, match=r"fills 256 registers, of at most 128") as caught:
        bound(kernel(text), AVX512)
    assert caught.value.location


def test_no_endless_code() -> None:
    """A sum of very many tiles is no kernel to be written out."""
    lines = "\n".join(
        f"  %b{at + 1} = tile.unary %b{at} {{kind = negate}} : tile<[2048], f32>"
        for at in range(40)
    )
    text = CHAIN.format(tile=2048, back=0, unit=UNIT, multiple="")
    text = text.replace("  %b = ", "  %b0 = ").replace("%b, %start", "%b40, %start")
    with pytest.raises(Refused, match=r"becomes more than \d+ ops"):
        bound(kernel(text.replace("  tile.store", lines + "\n  tile.store")), AVX512)


def test_each_op_comes_from_the_line_of_the_tile_op() -> None:
    made = bound(kernel(CHAIN.format(tile=32, back=0, unit=UNIT, multiple="")))
    places = {op.location for op in located(made)}
    assert places and all(places)


def located(func: Func) -> Iterator[Op]:
    """The ops that touch memory."""
    return (
        op for op in func.walk() if isinstance(op, (*MASKED, loop.LoadVector, loop.StoreVector))
    )


SHIFTED = """
func @shifted<n: 0..64>(%x: view<1, f32, {size: [n]}>, %y: view<1, f32, {size: [n]}>)
    with {grid: [1]} {
  %zero = tile.constant {value = 0} : scalar<i64>
  %one = tile.constant {value = 1} : scalar<i64>
  %n = tile.extent %x {axis = 0} : scalar<i64>
  tile.for %zero, %n, %one (%i: scalar<i64>) {
    %at = tile.binary %i, %one {kind = add} : scalar<i64>
    %a = tile.load %x, %at {shape = [1], padding = 7.0} : tile<[1], f32>
    tile.store %y, %a, %i
    yield
  }
  return
}
"""


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_a_loop_that_has_no_round_has_none_behind_its_interior(size: int) -> None:
    """That the loop counts to n is no proof that n is not 0."""
    check(kernel(SHIFTED), [np.arange(size, dtype=np.float32), np.zeros(size, np.float32)])


PANELS = """
func @panels<m: 0..64, n: 0..64>(
    %x: view<2, f32, {size: [m, n], unit_stride: 1}>,
    %y: view<2, f32, {size: [m, n], unit_stride: 1}>) with {grid: [3]} {
  %place = tile.program_id {axis = 0} : scalar<i64>
  %rows = tile.constant {value = 4} : scalar<i64>
  %above = tile.constant {value = 2} : scalar<i64>
  %zero = tile.constant {value = 0} : scalar<i64>
  %start = tile.binary %place, %rows {kind = multiply} : scalar<i64>
  %row = tile.binary %start, %above {kind = subtract} : scalar<i64>
  %a = tile.load %x, %row, %zero {shape = [4, 32], padding = 3.0} : tile<[4, 32], f32>
  tile.store %y, %a, %row, %zero
  return
}
"""


@pytest.mark.parametrize("m", [1, 2, 3, 6, 7, 9])
def test_a_vector_in_a_row_outside_stands_in_a_row_inside(
    m: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lane of it counts, but a processor takes long to find out that there is no memory."""
    starts: list[tuple[int, int]] = []

    def watch(op: Any) -> None:
        run = op.run

        def watched(self: Any, frame: Any, buffer: Any, index: Any, *rest: Any) -> Any:
            starts.append((int(index), len(buffer)))
            return run(self, frame, buffer, index, *rest)

        monkeypatch.setattr(op, "run", watched)

    watch(loop.LoadMasked)
    watch(loop.StoreMasked)
    x = np.arange(1, 32 * m + 1, dtype=np.float32).reshape(m, 32)
    check(kernel(PANELS), [x, np.zeros_like(x)])
    assert starts
    assert all(0 <= start < length for start, length in starts)
