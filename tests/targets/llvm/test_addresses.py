"""Places in memory: what stays is added before a loop, and rounds that are written out know how far
they are ahead."""

import numpy as np
import pytest

from brimstone.ir.parser import parse
from brimstone.targets.llvm.compile import assembly_of, target_machine
from brimstone.targets.llvm.library import llvm
from brimstone.targets.llvm.machines import AVX2, host
from brimstone.targets.llvm.printer import print_llvm
from kit.machine_code import agree

ROUNDS = """
func @rounds(%x: buffer<f32, global>, %y: buffer<f32, global>, %start: scalar<i64>)
    with {{grid: []}} {{
  %zero = loop.constant {{value = 0}} : scalar<i64>
  %two = loop.constant {{value = 2}} : scalar<i64>
  %five = loop.constant {{value = 5}} : scalar<i64>
  %eight = loop.constant {{value = 8}} : scalar<i64>
  %nothing = loop.constant {{value = 0.0}} : scalar<f32>
  %all = loop.for %zero, %eight, %two, %nothing {{unroll = 2}}
      (%at: scalar<i64>, %sum: scalar<f32>) {{
    {place}
    %some = loop.load %x, %place : scalar<f32>
    %further = loop.binary %place, %two {{kind = add}} : scalar<i64>
    %other = loop.load %x, %further : scalar<f32>
    %more = loop.binary %sum, %some {{kind = add}} : scalar<f32>
    loop.store %y, %at, %more
    %odd = loop.compare %two, %at {{kind = less}} : scalar<bool>
    loop.if %odd () {{
      %within = loop.load %x, %place : scalar<f32>
      %next = loop.binary %at, %start {{kind = add}} : scalar<i64>
      loop.store %y, %next, %within
      yield
    }} () {{
      yield
    }}
    %most = loop.binary %more, %other {{kind = add}} : scalar<f32>
    yield %most
  }} : scalar<f32>
  loop.store %y, %zero, %all
  return
}}
"""
PLACES = {
    "index": "%place = loop.binary %at, %zero {kind = add} : scalar<i64>",
    "before": "%place = loop.binary %start, %at {kind = add} : scalar<i64>",
    "scaled": """%scaled = loop.binary %at, %five {kind = multiply} : scalar<i64>
    %place = loop.binary %start, %scaled {kind = add} : scalar<i64>""",
    "back": """%far = loop.binary %start, %at {kind = add} : scalar<i64>
    %place = loop.binary %far, %two {kind = subtract} : scalar<i64>""",
    "twice": """%far = loop.binary %at, %five {kind = add} : scalar<i64>
    %place = loop.binary %far, %two {kind = subtract} : scalar<i64>""",
    "down": "%place = loop.binary %eight, %at {kind = subtract} : scalar<i64>",
    "square": "%place = loop.binary %at, %at {kind = multiply} : scalar<i64>",
    "stored": """%place = loop.binary %start, %at {kind = add} : scalar<i64>
    %number = loop.cast %place {dtype = f32} : scalar<f32>
    loop.store %y, %start, %number""",
}


@pytest.mark.parametrize("place", PLACES)
def test_rounds_that_are_written_out_find_their_numbers(place: str) -> None:
    func = parse(ROUNDS.format(place=PLACES[place])).main
    x = np.arange(64, dtype=np.float32) ** 2
    agree(func, [x, np.zeros(16, np.float32), 3])


def test_what_stays_is_added_before_the_loop_and_no_sum_is_made_in_it() -> None:
    text = print_llvm([parse(ROUNDS.format(place=PLACES["before"])).main], AVX2)
    before, inside = text.split("for.body:")
    assert "%row = getelementptr float, ptr %x, i64 %start" in before
    first, second = inside.split("add nsw i64 %at, 2")
    assert "%at.1 = getelementptr float, ptr %row, i64 %at\n" in first
    assert "add i64 %start" not in first
    assert "getelementptr float, ptr %at.1, i64 2\n" in second


def test_code_of_others_is_made_as_before() -> None:
    text = print_llvm([parse(ROUNDS.format(place=PLACES["square"])).main], host())
    target = target_machine(host())

    def emitted() -> str:
        with llvm().parse_assembly(text, llvm().create_context()) as module:
            return target.emit_assembly(module)

    before = emitted()
    assert assembly_of(text, host()) != before
    assert emitted() == before
