"""Loops over the programs of a row: two where the place in the row decides, else one."""

import re
from typing import Any

import numpy as np
import pytest

from brimstone.ir.func import Func
from brimstone.targets.llvm.machines import host
from brimstone.targets.llvm.printer import print_llvm
from kit.loops import loops
from kit.machine_code import FFI, compiled, slot

PLACES = 60


def rows(body: str) -> Func:
    """Rows of programs, each of which has a place of its own, `%at`; ten is a number."""
    return loops(f"""
func @kernel<n: 0..64>(%to: buffer<i64, global>, %count: scalar<i64>) with {{grid: [n, n]}} {{
  %row = loop.program_id {{axis = 0}} : scalar<i64>
  %column = loop.program_id {{axis = 1}} : scalar<i64>
  %ten = loop.constant {{value = 10}} : scalar<i64>
  %start = loop.binary %row, %ten {{kind = multiply}} : scalar<i64>
  %at = loop.binary %start, %column {{kind = add}} : scalar<i64>
{body}
  return
}}""")


BRANCH = """
  loop.if %is () {
    loop.store %to, %at, %ten
    yield
  } () {
    loop.store %to, %at, %at
    yield
  }"""
SAME = "  %is = loop.compare %column, %count {kind = less} : scalar<bool>"
BY_ROW = """
  %end = loop.binary %count, %row {kind = subtract} : scalar<i64>
  %is = loop.compare %column, %end {kind = less} : scalar<bool>"""
OTHER_AXIS = "  %is = loop.compare %row, %count {kind = less} : scalar<bool>"
OTHER_KIND = "  %is = loop.compare %column, %count {kind = equal} : scalar<bool>"
MOVING = """
  %end = loop.binary %count, %column {kind = subtract} : scalar<i64>
  %is = loop.compare %column, %end {kind = less} : scalar<bool>"""
NUMBER = """
  %first = loop.constant {value = 0} : scalar<i64>
  %old = loop.load %to, %first : scalar<i64>
  %is = loop.compare %column, %old {kind = less} : scalar<bool>"""
STORE = f"{SAME}\n  loop.store %to, %at, %count"
BEHIND = "\n  loop.store %to, %at, %count"

USED = """
  loop.if %is () {
    %new = loop.select %is, %ten, %count : scalar<i64>
    loop.store %to, %at, %new
    yield
  } () {
    loop.store %to, %at, %at
    yield
  }"""

SPLIT = {
    "by a number": SAME + BRANCH,
    "by one that each row has": BY_ROW + BRANCH,
    "of which somebody else knows, too": SAME + USED,
}
WHOLE = {
    "by another axis": OTHER_AXIS + BRANCH,
    "otherwise": OTHER_KIND + BRANCH,
    "by the program itself": MOVING + BRANCH,
    "by what is in memory": NUMBER + BRANCH,
    "with more to do before": STORE + BRANCH,
    "with more to do behind": SAME + BRANCH + BEHIND,
}


def texts(body: str) -> tuple[int, int]:
    """How many loops over columns there are, and how many branches."""
    text = print_llvm([rows(body)], host())
    return len(re.findall(r"^programs\.1\.body.*:$", text, re.MULTILINE)), text.count("if.then:")


@pytest.mark.parametrize("name", SPLIT)
def test_two_loops(name: str) -> None:
    assert texts(SPLIT[name]) == (2, 0)


@pytest.mark.parametrize("name", WHOLE)
def test_one_loop(name: str) -> None:
    assert texts(WHOLE[name]) == (1, 1)


@pytest.mark.parametrize("count", [-1, 0, 3, 4, 9])
@pytest.mark.parametrize("name", [*SPLIT, *WHOLE])
def test_each_program_runs_once(name: str, count: int) -> None:
    """From any place in a row to any other one."""
    func = rows((SPLIT | WHOLE)[name])
    code = compiled([func])["kernel"]
    for columns in [(0, 6), (2, 4), (3, 3), (4, 6)]:
        found, expected = (np.full(PLACES, -7, np.int64) for _ in range(2))
        arguments = [(func.arguments[0], found), (func.arguments[1], count)]
        slots = FFI.new("uint64_t[]", [slot(each.type, given) for each, given in arguments])
        code(slots, FFI.new("int64_t[]", [6, 6]), FFI.new("int64_t[]", [1, 5, *columns]))
        interpret(name, expected, count, columns)
        assert found.tolist() == expected.tolist()


def interpret(name: str, to: Any, count: int, columns: tuple[int, int]) -> None:
    """What the programs do, one after the other."""
    for row in range(1, 5):
        for column in range(*columns):
            at = 10 * row + column
            chosen = {
                "by one that each row has": column < count - row,
                "by another axis": row < count,
                "otherwise": column == count,
                "by the program itself": column < count - column,
                "by what is in memory": column < to[0],
            }.get(name, column < count)
            to[at] = count if name == "with more to do behind" else 10 if chosen else at
