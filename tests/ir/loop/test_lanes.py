"""Lanes in lock step: what they exchange, where they wait, and who is missing."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.errors import ExecutionError
from brimstone.ir.func import Func
from brimstone.ir.loop import run_loops
from kit.loops import kernel, loops

OUT = "%out: buffer<i64, global>"
LANE = "  %lane = loop.lane_id : scalar<i64>\n"


def each(body: str, lanes: int, subgroup: int | None = None) -> list[int]:
    """`%value` of each lane, from a body that knows `%lane`."""
    func = kernel(OUT, f"{LANE}{body}\n  loop.store %out, %lane, %value")
    out = np.full(lanes, -1)
    run_loops(func, [out], lanes=lanes, subgroup=subgroup)
    return list(out)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("loop.lane_id {scope = group}", [0, 1, 2, 3, 4, 5]),
        ("loop.lane_id {scope = subgroup}", [0, 1, 2, 0, 1, 2]),
        ("loop.lane_count {scope = group}", [6] * 6),
        ("loop.lane_count {scope = subgroup}", [3] * 6),
        ("loop.subgroup_reduce %lane {kind = add}", [3, 3, 3, 12, 12, 12]),
        ("loop.subgroup_reduce %lane {kind = maximum}", [2, 2, 2, 5, 5, 5]),
        ("loop.subgroup_broadcast %lane {lane = 1}", [1, 1, 1, 4, 4, 4]),
    ],
)
def test_subgroups_are_lanes_in_a_row(op: str, expected: list[int]) -> None:
    assert each(f"  %value = {op} : scalar<i64>", 6, 3) == expected


def test_each_lane_names_the_lane_it_reads() -> None:
    body = (
        "  %two = loop.constant {value = 2} : scalar<i64>\n"
        "  %place = loop.lane_id {scope = subgroup} : scalar<i64>\n"
        "  %from = loop.binary %two, %place {kind = subtract} : scalar<i64>\n"
        "  %value = loop.subgroup_shuffle %lane, %from : scalar<i64>"
    )
    assert each(body, 6, 3) == [2, 1, 0, 5, 4, 3]
    with pytest.raises(ExecutionError, match="lane -1 is outside a subgroup of 4 lanes"):
        each(body, 4)


def test_a_lane_that_is_not_there_broadcasts_nothing() -> None:
    body = "  %value = loop.subgroup_broadcast %lane {lane = 2} : scalar<i64>"
    with pytest.raises(ExecutionError, match=r"kernel.ir:3: .*lane 2 is outside a subgroup of 2"):
        each(body, 4, 2)


@pytest.mark.parametrize("lanes", [1, 3, 8, 13])
def test_a_reduction_of_lanes_is_that_of_a_vector(lanes: int) -> None:
    row = np.random.default_rng(lanes).standard_normal(lanes).astype(np.float32)
    func = kernel(
        "%in: buffer<f32, global>, %out: buffer<f32, global>, %zero: scalar<i64>",
        f"{LANE}  %x = loop.load %in, %lane : scalar<f32>\n"
        "  %sum = loop.subgroup_reduce %x {kind = add} : scalar<f32>\n"
        f"  %all = loop.load_vector %in, %zero {{lanes = {lanes}}} : vec<{lanes}, f32>\n"
        "  %other = loop.reduce %all {kind = add} : scalar<f32>\n"
        "  %difference = loop.binary %sum, %other {kind = subtract} : scalar<f32>\n"
        "  loop.store %out, %lane, %difference",
    )
    out = np.ones(lanes, np.float32)
    run_loops(func, [row, out, 0], lanes=lanes)
    assert not out.any()


def reverse(barrier: str) -> Func:
    """Each lane hands its number to another one through shared memory."""
    return kernel(
        f"{OUT}, %last: scalar<i64>",
        f"{LANE}  %shared = loop.allocate {{count = 7, dtype = i64, space = shared}} "
        ": buffer<i64, shared>\n  loop.store %shared, %lane, %lane\n"
        f"{barrier}  %other = loop.binary %last, %lane {{kind = subtract}} : scalar<i64>\n"
        "  %value = loop.load %shared, %other : scalar<i64>\n  loop.store %out, %lane, %value",
    )


@pytest.mark.parametrize("subgroup", [1, 7])
def test_shared_memory_is_shared_and_a_barrier_waits_for_all(subgroup: int) -> None:
    out = np.zeros(7, np.int64)
    func = reverse("  loop.barrier {space = shared}\n")
    run_loops(func, [out, 6], lanes=7, subgroup=subgroup)
    assert list(out) == [6, 5, 4, 3, 2, 1, 0]


def test_without_a_barrier_a_lane_reads_poison() -> None:
    out = np.zeros(7, np.int64)
    run_loops(reverse(""), [out, 6], lanes=7)
    assert out[0] not in range(7)


def test_local_memory_is_not_shared() -> None:
    body = (
        "  %mine = loop.allocate {count = 1, dtype = i64, space = local} : buffer<i64, local>\n"
        "  %zero = loop.constant {value = 0} : scalar<i64>\n"
        "  loop.store %mine, %zero, %lane\n  loop.barrier {space = global}\n"
        "  %value = loop.load %mine, %zero : scalar<i64>"
    )
    assert each(body, 3) == [0, 1, 2]


def test_shared_memory_in_a_loop_is_fresh_in_every_round() -> None:
    body = (
        "  %zero = loop.constant {value = 0} : scalar<i64>\n"
        "  %one = loop.constant {value = 1} : scalar<i64>\n"
        "  %three = loop.constant {value = 3} : scalar<i64>\n"
        "  %value = loop.for %zero, %three, %one, %zero (%i: scalar<i64>, %c: scalar<i64>) {\n"
        "    %s = loop.allocate {count = 2, dtype = i64, space = shared} : buffer<i64, shared>\n"
        "    %before = loop.load %s, %lane : scalar<i64>\n    loop.store %s, %lane, %one\n"
        "    %fresh = loop.compare %before, %zero {kind = less} : scalar<bool>\n"
        "    %more = loop.cast %fresh {dtype = i64} : scalar<i64>\n"
        "    %n = loop.binary %c, %more {kind = add} : scalar<i64>\n    yield %n\n"
        "  } : scalar<i64>"
    )
    assert each(body, 2) == [3, 3]


def test_an_atomic_counts_all_lanes_of_all_programs() -> None:
    func = kernel(
        "%count: buffer<i64, global>, %zero: scalar<i64>, %one: scalar<i64>",
        "  %old = loop.atomic %count, %zero, %one {kind = add} : scalar<i64>",
    )
    count = np.zeros(1, np.int64)
    run_loops(func, [count, 0, 1], lanes=5, programs=(2, 3))
    assert count[0] == 30


# Divergence.

ONLY_FIRST = (
    "  %one = loop.constant {{value = 1}} : scalar<i64>\n"
    "  %first = loop.compare %lane, %one {{kind = less}} : scalar<bool>\n"
    "  loop.if %first () {{\n    {then}\n    yield\n  }} () {{\n    {other}\n    yield\n  }}"
)
BARRIER = "loop.barrier {space = shared}"


def diverged(body: str, lanes: int = 3, subgroup: int | None = None) -> str:
    with pytest.raises(ExecutionError) as caught:
        run_loops(kernel("", LANE + body), [], lanes=lanes, subgroup=subgroup)
    return str(caught.value)


@pytest.mark.parametrize("subgroup", [1, 3])
def test_a_barrier_that_some_lanes_do_not_reach_is_an_error(subgroup: int) -> None:
    said = diverged(ONLY_FIRST.format(then=BARRIER, other=""), subgroup=subgroup)
    assert said == (
        "kernel.ir:6: loop.barrier is reached by lane 0 but not by lane 1, which has ended"
    )


def test_two_barriers_are_not_one() -> None:
    said = diverged(ONLY_FIRST.format(then=BARRIER, other=BARRIER))
    assert said == (
        "kernel.ir:6: loop.barrier is reached by lane 0 but not by lane 1, "
        "which waits at loop.barrier (kernel.ir:9)"
    )


def test_a_subgroup_needs_all_its_lanes() -> None:
    reduce = "%r = loop.subgroup_reduce %lane {kind = add} : scalar<i64>"
    said = diverged(ONLY_FIRST.format(then=reduce, other=""), lanes=4, subgroup=2)
    assert "loop.subgroup_reduce is reached by lane 0 but not by lane 1, which has ended" in said


def test_a_subgroup_needs_no_other_subgroup() -> None:
    reduce = "%r = loop.subgroup_reduce %lane {kind = add} : scalar<i64>"
    text = f"{LANE}{ONLY_FIRST.format(then=reduce, other='')}\n  {BARRIER}"
    run_loops(kernel("", text), [], lanes=3, subgroup=1)


def test_lanes_meet_in_the_same_turn_of_a_loop() -> None:
    body = (
        "  %zero = loop.constant {value = 0} : scalar<i64>\n"
        "  %one = loop.constant {value = 1} : scalar<i64>\n"
        "  %three = loop.constant {value = 3} : scalar<i64>\n"
        "  loop.for %zero, %three, %one (%i: scalar<i64>) {\n"
        "    %mine = loop.compare %i, %lane {kind = equal} : scalar<bool>\n"
        "    loop.if %mine () {\n      loop.barrier {space = shared}\n      yield\n    } () {\n"
        "      yield\n    }\n    yield\n  }"
    )
    said = diverged(body, lanes=2)
    assert "reached by lane 0 but not by lane 1, which waits at loop.barrier" in said
    assert said.endswith("in turn 1")


def test_a_while_of_lanes_that_take_equal_turns() -> None:
    body = (
        "  %one = loop.constant {value = 1} : scalar<i64>\n"
        "  %value = loop.while %lane (%a: scalar<i64>) {\n"
        "    %most = loop.subgroup_reduce %a {kind = minimum} : scalar<i64>\n"
        "    %p = loop.compare %most, %one {kind = less} : scalar<bool>\n    yield %p\n"
        "  } (%b: scalar<i64>) {\n"
        "    %n = loop.binary %b, %one {kind = add} : scalar<i64>\n    yield %n\n"
        "  } : scalar<i64>"
    )
    assert each(body, 4) == [1, 2, 3, 4]


# The entry.


def test_programs_know_their_place() -> None:
    func = kernel(
        OUT,
        "  %i = loop.program_id {axis = 0} : scalar<i64>\n"
        "  %j = loop.program_id {axis = 1} : scalar<i64>\n"
        "  %n = loop.program_count {axis = 1} : scalar<i64>\n"
        "  %row = loop.binary %i, %n {kind = multiply} : scalar<i64>\n"
        "  %at = loop.binary %row, %j {kind = add} : scalar<i64>\n"
        "  loop.store %out, %at, %at",
    )
    out = np.zeros(6, np.int64)
    run_loops(func, [out], programs=(2, 3))
    assert list(out) == [0, 1, 2, 3, 4, 5]
    run_loops(func, [out], programs=(0, 3))
    with pytest.raises(ExecutionError, match="the grid has 1 axes, no axis 1"):
        run_loops(func, [out], programs=(2,))


def refused(func: Func, arguments: list[Any], **named: Any) -> str:
    with pytest.raises(ExecutionError) as caught:
        run_loops(func, arguments, **named)
    return str(caught.value)


@pytest.mark.parametrize(
    "given", [[np.float32(1)], np.zeros(3), np.zeros((1, 3), np.float32), np.float32(1)]
)
def test_a_buffer_is_an_array_of_rank_1(given: Any) -> None:
    said = refused(kernel("%b: buffer<f32, global>", ""), [given])
    assert "is an array of rank 1 of float32, not" in said


def test_what_a_kernel_takes() -> None:
    empty = kernel("%x: scalar<f32>, %v: vec<2, f32>", "")
    run_loops(empty, [1, np.zeros(2, np.float32)])
    assert "takes 2 arguments, not 1" in refused(empty, [1])
    assert "is an array of rank 1" in refused(empty, [1, np.zeros(3, np.float32)])
    fragment = kernel("%x: fragment<2, 2, f32, left>", "")
    assert "takes no fragment" in refused(fragment, [0])
    returning = loops("func @f(%x: scalar<f32>) -> scalar<f32> {\n  return %x\n}")
    assert "@f is no kernel: it returns values" in refused(returning, [1])


def test_lanes_divide_into_subgroups() -> None:
    func = kernel("", "")
    said = "6 lanes do not divide into subgroups of 4"
    assert refused(func, [], lanes=6, subgroup=4) == said
    assert "0 lanes" in refused(func, [], lanes=0)


def test_sizes_are_given_by_name() -> None:
    func = loops(
        "func @f<n: 1..8>(%out: buffer<i64, global>, %zero: scalar<i64>) {\n"
        "  %b = loop.allocate {count = n, dtype = i64, space = local} : buffer<i64, local>\n"
        "  %l = loop.length %b : scalar<i64>\n  loop.store %out, %zero, %l\n  return\n}"
    )
    out = np.zeros(1, np.int64)
    run_loops(func, [out, 0], sizes={"n": 5})
    assert out[0] == 5
    assert "the size n is not given" in refused(func, [out, 0])
    assert "the size n is 9, outside its declared range" in refused(func, [out, 0], sizes={"n": 9})
