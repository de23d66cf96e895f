"""Arithmetic that is done again: it comes to what Python makes of the other numbers, or to nothing
where something else holds of them."""

import operator
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from brimstone.runtime.native import ffi
from brimstone.targets.tape import Tape, Traced, greatest, key_of, least, plain
from kit.tapes import again

PAIRS: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, operator.mul, least, greatest]
QUESTIONS: list[Callable[[Any, Any], bool]] = [
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip
Program = list[tuple[Any, int, int]]
LARGEST = (1 << 63) - 1


def drawn(random: Random) -> Program:
    """Steps, each of two of the numbers before it, or of one and a constant."""
    steps = [*PAIRS, *PAIRS, *QUESTIONS, operator.floordiv, operator.mod, bool]
    return [(random.choice(steps), random.randrange(99), random.randrange(-3, 9)) for _ in range(9)]


def run(program: Program, given: Sequence[int]) -> tuple[list[Any], list[bool]]:
    """The numbers that a program makes, and its answers, which decide what it does."""
    numbers, answers = list[Any](given), list[bool]()
    for step, one, other in program:
        left = numbers[one % len(numbers)]
        right = other if other < 4 else numbers[other % len(numbers)]
        if step in QUESTIONS:
            answers.append(step(left, right))
            numbers.append(left + 7 if answers[-1] else left - 3)
        elif step is bool:
            answers.append(bool(left))
        elif step in (operator.floordiv, operator.mod):
            numbers.append(step(left, abs(other) + 1))
        else:
            numbers.append(step(left, right))
    return numbers, answers


def test_random_programs_come_to_the_same() -> None:
    random, same, other = Random(3), 0, 0
    for _ in range(300):
        program, tape = drawn(random), Tape()
        first = [random.randrange(-9, 9) for _ in range(3)]
        numbers, answers = run(program, [tape.given(each) for each in first])
        assert ([plain(each) for each in numbers], answers) == run(program, first)
        for _ in range(5):
            given = [random.choice([each, random.randrange(-9, 9)]) for each in first]
            expected, asked = run(program, given)
            alike = answers == asked
            assert again(tape, given, numbers) == (expected if alike else None)
            same, other = same + alike, other + (not alike)
    assert min(same, other) > 100


def test_what_is_too_large_comes_to_nothing() -> None:
    tape = Tape()
    size = tape.given(1 << 20)
    cube = size * size * size
    assert plain(cube) == 1 << 60
    assert again(tape, [1 << 20], [cube]) == [1 << 60]
    assert again(tape, [1 << 21], [cube]) is None
    assert again(tape, [LARGEST], [size]) is None  # whose cube nobody asked for this time


def test_nothing_is_divided_by_nothing() -> None:
    tape = Tape()
    by = tape.given(3)
    assert again(tape, [4], [10 // by]) == [2]
    assert again(tape, [0], []) is None


def test_arrays_are_packed_again() -> None:
    tape = Tape()
    size = tape.given(640)
    offsets, total = tape.pack([(0, 1, size), (2, 3, size), (1, 2, 64)], ([0, 0, 640], 704))
    assert [plain(each) for each in (*offsets, total)] == [0, 0, 640, 704]
    assert again(tape, [64], [*offsets, total]) == [0, 0, 64, 128]
    assert again(tape, [0], [total, size + offsets[2]]) == [64, 0]


def test_equal_arithmetic_is_written_down_once() -> None:
    tape = Tape()
    size = tape.given(5)
    one, other = size * 4 + 1, size * 4 + 1
    assert key_of(one) == key_of(other) != key_of(size)
    assert len(tape.lines) == 5  # the size, 4, their product, 1, the sum
    assert key_of(21) == 21
    assert size + 0 is size
    assert size * 1 is size


@pytest.mark.parametrize(
    "use", [hash, int, range, operator.index, [1, 2].__getitem__, lambda x: ffi.new("int64_t *", x)]
)
def test_nobody_takes_it_for_an_int(use: Callable[[Any], Any]) -> None:
    """What took it would keep what it is now."""
    with pytest.raises(TypeError):
        use(Tape().given(1))


def test_it_says_what_it_is() -> None:
    assert repr(Tape().given(7)) == "<7 traced>"
    assert isinstance(Tape().given(7), Traced)
