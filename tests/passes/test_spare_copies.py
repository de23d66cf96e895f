"""Arrays that are made where they would be copied to; what is computed stays the same."""

import numpy as np
import pytest

from brimstone.ir import parse, print_module, verify
from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.passes.spare_copies import spare_copies
from kit.texts import read

HEAD = "(%x: view<1, f32, {size: [k]}>, %y: view<1, f32, {size: [k]}>)"
COPIED = f"""
func @copied<k: 0..64>{HEAD} with {{grid: [ceildiv(k, 4)], tile: {{n: 4}}}} {{
  %place = tile.program_id {{axis = 0}} : scalar<i64>
  %size = tile.constant {{value = 4}} : scalar<i64>
  %at = tile.binary %place, %size {{kind = multiply}} : scalar<i64>
  %a = tile.load %x, %at {{shape = [4], padding = 0.0}} : tile<[4], f32>
  tile.store %y, %a, %at
  return
}}
"""
ONE_PROGRAM = COPIED.replace("@copied", "@one_program").replace("ceildiv(k, 4)", "1")
DOUBLED = COPIED.replace("@copied", "@doubled").replace(
    "  tile.store %y, %a, %at",
    "  %b = tile.binary %a, %a {kind = add} : tile<[4], f32>\n  tile.store %y, %b, %at",
)
ADDED = DOUBLED.replace("@doubled", "@added").replace(
    "  %b = tile.binary %a, %a",
    "  %c = tile.load %y, %at {shape = [4], padding = 0.0} : tile<[4], f32>\n"
    "  %b = tile.binary %a, %c",
)
KERNELS = f"""{COPIED}{ONE_PROGRAM}{DOUBLED}{ADDED}
func @updated<k: 0..64>(%v: view<1, f32, {{size: [1]}}>, %y: view<1, f32, {{size: [k]}}>)
    with {{grid: [1], tile: {{n: 4}}}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %a = tile.load %v, %zero {{shape = [1], padding = 0.0}} : tile<[1], f32>
  %two = tile.constant {{value = 2}} : scalar<i64>
  tile.store %y, %a, %two
  return
}}
func @first<k: 0..64>(%x: view<1, f32, {{size: [k]}}>, %v: view<1, f32, {{size: [1]}}>)
    with {{grid: [1], tile: {{n: 4}}}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %a = tile.load %x, %zero {{shape = [1], padding = 0.0}} : tile<[1], f32>
  %b = tile.binary %a, %a {{kind = add}} : tile<[1], f32>
  tile.store %v, %b, %zero
  return
}}
"""


def launched(line: str) -> str:
    """`a, b -> c, @k` launches a kernel; what is made with a star is allocated before."""
    source, arrow, rest = line.strip().partition(" -> ")
    if not arrow:
        return line
    target, _, name = rest.partition(", @")
    new = f"{target.strip('*')} = step.allocate : array<[n], f32>\n" if "*" in target else ""
    return f"{new}step.launch [{source}], {target.strip('*')} {{kernel = @{name}, grid = [G]}}"


def program(body: str, around: str = "step.loop {trip = 3} (%i: scalar<i64>)") -> Module:
    """A step whose loop carries %c, which begins as %x, and knows the numbers %v and %p."""
    lines = [launched(line) for line in body.splitlines()]
    for kernel in ("updated", "first", "one_program"):
        lines = [line.replace(f"@{kernel}, grid = [G]", f"@{kernel}, grid = [1]") for line in lines]
    inside = "\n".join(lines).replace("[G]", "[ceildiv(n, 4)]")
    return read(f"""
func @f<n: 3..32>(%x: array<[n], f32>, %v: array<[1], f32>, %p: array<[], bool>)
    -> array<[n], f32> {{
  %c = step.allocate : array<[n], f32>
  step.copy %x, %c
  {around} {{
    {inside}
    yield
  }}
  return %c
}}{KERNELS}""")


def spared(body: str) -> str:
    """The loop, when results are found to be the same."""
    module = spare_copies(program(body))
    verify(module)
    verify(parse(print_module(module), "spared.ir"))
    for size, holds in ((3, True), (9, False)):
        x, v = np.arange(size, dtype=np.float32), np.full(1, 7, np.float32)
        wanted = interpret(program(body), x, v, np.asarray(holds))
        found = interpret(module, x.copy(), v, np.asarray(holds))
        assert found[0].tolist() == wanted[0].tolist()
    return print_module(module).partition("step.loop")[2].partition("\n  }\n")[0]


BACK = "step.copy %s, %c\nstep.free %s"


def is_in_place(text: str) -> bool:
    """Whether there is neither a copy nor other memory of this size."""
    made = "step.allocate : array<[n], f32>"
    return not any(each in text for each in ("step.copy", "@copied", made))


def test_an_update_of_a_carry_is_done_in_place() -> None:
    text = spared(f"%c -> *%s, @copied\n%v -> %s, @updated\n{BACK}")
    assert is_in_place(text)
    assert text.count("step.launch") == 1
    assert "view" not in text


def test_an_update_after_an_update_is_in_place_too() -> None:
    assert is_in_place(
        spared(f"""
      %c -> *%t, @copied
      %v -> %t, @updated
      %t -> *%s, @copied
      step.free %t
      %v -> %s, @updated
      {BACK}""")
    )


def test_what_is_read_before_the_update_is_no_reason_to_copy() -> None:
    text = spared(f"""
      %w = step.allocate : array<[1], f32>
      %c -> %w, @first
      %c -> *%s, @copied
      %w -> %s, @updated
      step.free %w
      {BACK}""")
    assert is_in_place(text)
    assert text.index("@first") < text.index("@updated")


@pytest.mark.parametrize(
    "body",
    [
        # read after the update
        """%w = step.allocate : array<[1], f32>
        %c -> *%s, @copied
        %v -> %s, @updated
        %c -> %w, @first
        %w -> %s, @updated
        step.free %w""",
        # another update of what the first one replaces
        """%c -> *%t, @copied
        %v -> %t, @updated
        %c -> *%s, @copied
        %v -> %s, @updated
        %t -> %s, @added
        step.free %t""",
        # updated once more when it is in the carry
        """%c -> *%t, @doubled
        step.copy %t, %c
        %v -> %t, @updated
        %t -> *%s, @doubled
        step.free %t
        %c -> %s, @added""",
        # updated with a part of the carry itself
        """%part = step.view %c {offset = 1, shape = [1]} : array<[1], f32>
        %c -> *%s, @copied
        %part -> %s, @updated""",
        # a kernel that copies no more than four elements
        """%c -> *%s, @doubled
        %s -> %c, @one_program""",
    ],
)  # fmt: skip
def test_what_must_be_beside_the_carry(body: str) -> None:
    assert not is_in_place(spared(f"{body}\n{BACK}"))


def test_maps_are_made_in_the_place_of_a_carry() -> None:
    assert is_in_place(spared(f"%c -> *%s, @doubled\n{BACK}"))


def test_what_is_copied_to_two_places_stays_in_one_of_them() -> None:
    text = spared("""
      %d = step.allocate : array<[n], f32>
      %c -> *%s, @doubled
      step.copy %s, %d
      step.copy %s, %c
      step.free %s
      %d -> *%t, @doubled
      step.free %d
      step.copy %t, %c
      step.free %t""")
    assert text.count("step.copy") <= 1


def test_an_inner_loop_carries_what_the_outer_one_does() -> None:
    text = spared(f"""
      %s = step.allocate : array<[n], f32>
      step.copy %c, %s
      step.loop {{trip = 2}} (%j: scalar<i64>) {{
        %c2 = step.allocate : array<[1], f32>
        %s -> %c2, @first
        %s -> *%t, @copied
        %c2 -> %t, @updated
        step.free %c2
        step.copy %t, %s
        step.free %t
        yield
      }}
      {BACK}""")
    assert is_in_place(text)


BRANCH = """
      %s = step.allocate : array<[n], f32>
      step.branch %p () {{
        %c -> %s, @copied
        %v -> %s, @updated
        {more}
        yield
      }} () {{
        step.copy %c, %s
        yield
      }}
      """


def test_a_branch_updates_what_the_loop_carries() -> None:
    assert is_in_place(spared(BRANCH.format(more="") + BACK))


def test_a_branch_that_reads_the_carry_after_the_update() -> None:
    more = """
        %w = step.allocate : array<[1], f32>
        %c -> %w, @first
        %w -> %s, @updated
        step.free %w"""
    assert not is_in_place(spared(BRANCH.format(more=more) + BACK))


def test_a_carry_in_another_shape() -> None:
    text = spared("""
      %d = step.view %c {offset = 0, shape = [n, 1]} : array<[n, 1], f32>
      %s = step.allocate : array<[n, 1], f32>
      step.copy %d, %s
      %e = step.view %s {offset = 0, shape = [n]} : array<[n], f32>
      %v -> %e, @updated
      step.copy %e, %c
      step.free %s""")
    assert is_in_place(text)
    assert "step.allocate" not in text


def test_a_part_is_no_whole() -> None:
    text = spared("""
      %s = step.allocate : array<[2], f32>
      %d = step.view %c {offset = 1, shape = [2]} : array<[2], f32>
      step.fill %s {value = 3.0}
      step.copy %s, %d
      step.free %s""")
    assert "step.copy" in text
