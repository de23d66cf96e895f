"""Results in memory that nobody reads any more; what is computed stays the same."""

import numpy as np
import pytest

from brimstone.ir import parse, print_module, verify
from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.passes.in_place import in_place
from brimstone.passes.touched import touched
from kit.texts import read

HEAD = "(%x: view<1, f32, {size: [k]}>, %y: view<1, f32, {size: [k]}>)"
MAP = f"""
func @map<k: 0..64>{HEAD} with {{grid: [ceildiv(k, 4)], tile: {{n: 4}}}} {{
  %place = tile.program_id {{axis = 0}} : scalar<i64>
  %size = tile.constant {{value = 4}} : scalar<i64>
  %at = tile.binary %place, %size {{kind = multiply}} : scalar<i64>
  %a = tile.load %x, %at {{shape = [4], padding = 0.0}} : tile<[4], f32>
  %b = tile.binary %a, %a {{kind = add}} : tile<[4], f32>
  tile.store %y, %b, %at
  return
}}
"""
BY_HAND = MAP.replace("@map", "@by_hand").replace(", tile: {n: 4}", "")
AT_ONE_PLACE = f"""
func @at_one_place<k: 0..64>{HEAD} with {{grid: [ceildiv(k, 4)], tile: {{n: 4}}}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %a = tile.load %x, %zero {{shape = [4], padding = 0.0}} : tile<[4], f32>
  tile.store %y, %a, %zero
  return
}}
"""
SHIFTED = f"""
func @shifted<k: 0..64>{HEAD} with {{grid: [ceildiv(k, 4)], tile: {{n: 4}}}} {{
  %place = tile.program_id {{axis = 0}} : scalar<i64>
  %size = tile.constant {{value = 4}} : scalar<i64>
  %at = tile.binary %place, %size {{kind = multiply}} : scalar<i64>
  %one = tile.constant {{value = 1}} : scalar<i64>
  %next = tile.binary %at, %one {{kind = add}} : scalar<i64>
  %a = tile.load %x, %next {{shape = [4], padding = 0.0}} : tile<[4], f32>
  tile.store %y, %a, %at
  return
}}
"""
IN_ROUNDS = f"""
func @in_rounds<k: 0..64>{HEAD} with {{grid: [1], tile: {{n: 4}}}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %size = tile.constant {{value = 4}} : scalar<i64>
  %end = tile.extent %x {{axis = 0}} : scalar<i64>
  tile.for %zero, %end, %size {{label = "n"}} (%at: scalar<i64>) {{
    %a = tile.load %x, %at {{shape = [4], padding = 0.0}} : tile<[4], f32>
    %b = tile.binary %a, %a {{kind = add}} : tile<[4], f32>
    tile.store %y, %b, %at
    yield
  }}
  return
}}
"""
AGAIN_AND_AGAIN = IN_ROUNDS.replace("@in_rounds", "@again_and_again").replace(
    "%x, %at {shape", "%x, %zero {shape"
)
AT_ONCE = """
func @at_once<k: 0..64>(%x: view<1, f32, {size: [k]}>, %w: view<1, f32, {size: [k]}>,
    %y: view<1, f32, {size: [k]}>) with {grid: [ceildiv(k, 4)], tile: {n: 4}} {
  %place = tile.program_id {axis = 0} : scalar<i64>
  %size = tile.constant {value = 4} : scalar<i64>
  %at = tile.binary %place, %size {kind = multiply} : scalar<i64>
  %a = tile.load %x, %at {shape = [4], padding = 0.0} : tile<[4], f32>
  %b = tile.load %w, %at {shape = [4], padding = 0.0} : tile<[4], f32>
  %c = tile.binary %a, %b {kind = subtract} : tile<[4], f32>
  tile.store %y, %c, %at
  return
}
"""
KERNELS = MAP + BY_HAND + AT_ONE_PLACE + SHIFTED + IN_ROUNDS + AGAIN_AND_AGAIN + AT_ONCE


def program(body: str, donated: str = "") -> Module:
    """A step that takes %x and %w; `a, b -> c, @k` launches a kernel."""
    setting = f" with {{donated: [{donated}]}}" if donated else ""
    lines = [f"func @f<n: 2..32>(%x: array<[n], f32>, %w: array<[n], f32>) -> RETURNS{setting} {{"]
    for line in filter(None, map(str.strip, body.splitlines())):
        source, arrow, rest = line.partition(" -> ")
        target, _, name = rest.partition(", @")
        launch = f"step.launch [{source}], {target} {{kernel = @{name}, grid = []}}"
        new = f"%{target[1:]} = step.allocate : array<[n], f32>"
        lines += [new, launch] if arrow and new not in lines else [launch if arrow else line]
    returned = next(line for line in lines if line.startswith("return"))
    types = ["array<[n], f32>"] * returned.count("%")
    text = "\n".join([*lines, "}"]).replace("RETURNS", f"({', '.join(types)})")
    return read(text + KERNELS)


def placed(body: str, donated: str = "") -> str:
    """The text of the step, when results are found to be the same."""
    module = in_place(program(body, donated))
    verify(module)
    verify(parse(print_module(module), "placed.ir"))
    x, w = np.arange(7, dtype=np.float32), np.arange(7, dtype=np.float32) - 9
    wanted = interpret(program(body), x, w)
    for mine, theirs in zip(interpret(module, x.copy(), w.copy()), wanted, strict=True):
        assert mine.tolist() == theirs.tolist()
    return print_module(module).partition("\n}\n")[0]


def count(text: str) -> int:
    """How many arrays are allocated."""
    return text.count("step.allocate")


def test_a_chain_is_computed_in_one_array() -> None:
    text = placed("""
      %x -> %a, @map
      %a -> %b, @map
      step.free %a
      %b -> %c, @in_rounds
      step.free %b
      %c -> %d, @map
      step.free %c
      %d, %w -> %e, @at_once
      step.free %d
      return %e""")
    assert count(text) == 2  # what is returned is memory of its own


@pytest.mark.parametrize(
    ("kernel", "arrays"),
    [
        ("map", 2), ("in_rounds", 2), ("by_hand", 3), ("shifted", 3), ("at_one_place", 3),
        ("again_and_again", 3),
    ],
)  # fmt: skip
def test_what_kernels_allow(kernel: str, arrays: int) -> None:
    module = in_place(
        program(f"""
      %x -> %a, @map
      %a -> %b, @{kernel}
      step.free %a
      %b, %w -> %c, @at_once
      step.free %b
      return %c""")
    )
    assert count(print_module(module)) == arrays


def test_what_is_read_later_stays() -> None:
    text = placed("""
      %x -> %a, @map
      %a -> %b, @map
      %a, %b -> %c, @at_once
      step.free %a
      step.free %b
      return %c""")
    assert count(text) == 3


def test_results_take_donated_memory() -> None:
    text = placed("%x, %w -> %y, @at_once\nreturn %y", "0")
    assert count(text) == 0 and "return %x" in text
    assert "return %w" in placed("%x, %w -> %y, @at_once\nreturn %y", "1")


def test_each_donated_array_is_used_once() -> None:
    text = placed("%x, %w -> %y, @at_once\n%x, %w -> %z, @at_once\nreturn %y, %z", "0, 1")
    assert count(text) == 1


def test_donated_memory_that_is_read_no_more_is_used_too() -> None:
    text = placed(
        """
      %x -> %a, @shifted
      %a, %w -> %y, @at_once
      step.free %a
      return %y""",
        "0",
    )
    assert count(text) == 1 and "return %x" in text


def test_what_is_returned_as_it_is_stays() -> None:
    assert count(placed("%x, %w -> %y, @at_once\nreturn %y, %x", "0")) == 1


BRANCHES = """
func @f<n: 2..32>(%x: array<[n], f32>) -> array<[n], f32> {
  %a = step.allocate : array<[n], f32>
  step.launch [%x], %a {kernel = @map, grid = []}
  %b = step.allocate : array<[n], f32>
  step.when {size = n, at_least = 5} () {
    step.launch [%a], %b {kernel = @map, grid = []}
    yield
  } () {
    step.launch [%a], %b {kernel = @KERNEL, grid = []}
    yield
  }
  step.free %a
  %c = step.allocate : array<[n], f32>
  step.launch [%b], %c {kernel = @shifted, grid = []}
  step.free %b
  return %c
}
"""


@pytest.mark.parametrize(("kernel", "arrays"), [("in_rounds", 2), ("shifted", 3)])
def test_all_ways_must_allow_it(kernel: str, arrays: int) -> None:
    module = in_place(read(BRANCHES.replace("KERNEL", kernel) + KERNELS))
    verify(module)
    assert count(print_module(module)) == arrays
    for size in (3, 9):
        x = np.arange(size, dtype=np.float32)
        plain = interpret(read(BRANCHES.replace("KERNEL", kernel) + KERNELS), x)
        assert interpret(module, x)[0].tolist() == plain[0].tolist()


def test_groups_share_what_is_theirs() -> None:
    launch = "step.launch [%x, %u, %w, %v], %y, %z {kernel = @at_once, grid = [], groups = 2}"
    four = ", ".join(f"%{name}: array<[n], f32>" for name in "xwuv")
    text = f"""
func @f<n: 2..32>({four}) -> (array<[n], f32>, array<[n], f32>) with {{donated: [0, 1, 2]}} {{
  %y = step.allocate : array<[n], f32>
  %z = step.allocate : array<[n], f32>
  {launch}
  return %y, %z
}}
"""
    module = in_place(read(text + KERNELS))
    verify(module)
    assert "return %x, %w" in print_module(module)
    arrays = [np.arange(7, dtype=np.float32) * place for place in range(4)]
    x, w, u, v = arrays
    first, second = interpret(module, *[each.copy() for each in arrays])
    assert first.tolist() == (x - u).tolist()
    assert second.tolist() == (w - v).tolist()


def test_what_is_touched_has_an_order() -> None:
    """Where several arrays could be the place of another one, the first is, in every process."""
    names = [f"x{number}" for number in range(9)]
    arguments = ", ".join([f"%{name}: array<[4], f32>" for name in (*names, "y")])
    copies = "\n".join([f"    step.copy %{name}, %y" for name in reversed(names)])
    main = read(f"""
func @main({arguments}, %p: array<[], bool>) -> array<[4], f32> {{
  step.branch %p () {{
{copies}
    yield
  }} () {{
    step.copy %x4, %y
    yield
  }}
  return %y
}}""").main
    branch, _ = main.body
    reads, writes = touched(branch)
    assert [each.name for each in reads] == ["p", *reversed(names)]
    assert [each.name for each in writes] == ["y"]
