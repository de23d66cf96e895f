"""Examples: numbers for symbols that are within their bounds, and what they rule out."""

import random

import pytest

from brimstone.ir.dims import Size, Symbol, ceil_div, evaluate, maximum, minimum, terms_of
from brimstone.ir.facts import Facts, at_most
from brimstone.ir.func import Func
from brimstone.ir.values import AnyValue
from brimstone.passes.examples import some_examples
from brimstone.passes.ranges import Ranges
from kit.bound import kernel

N, M, TURN = Symbol("n"), Symbol("m", 3, 4096, 16), Symbol("turn", 0, 1 << 62)
ROUNDS = ceil_div(N, 8)


def values(size: Size, rounds: Size = ROUNDS) -> list[int]:
    """What a size is in each example."""
    return [example(terms_of(size)) for example in some_examples({TURN: rounds})]


def test_sizes_are_small_and_large() -> None:
    assert values(N) == [1, 1_000_003, 1, 1_000_003]
    assert values(Symbol("zero", 0, 0)) == [0, 0, 0, 0]


def test_sizes_are_within_their_bounds() -> None:
    assert values(M) == [16, 4096, 16, 4096]
    assert all(M.admits(size) for size in values(M))


def test_rounds_are_the_first_and_the_last() -> None:
    assert values(TURN) == [0, 0, 0, 125_000]
    assert values(N - 8 * TURN) == [1, 1_000_003, 1, 3]


def test_where_there_is_no_round_an_example_meets_nothing_that_is_said_of_it() -> None:
    rounds = ceil_div(N, 8) - 1
    said = [at_most(TURN + 1, rounds)]
    met = [example.meets(said) for example in some_examples({TURN: rounds})]
    assert met == [False, True, False, True]


@pytest.mark.parametrize("seed", range(4))
def test_dims_have_the_values_that_their_symbols_give_them(seed: int) -> None:
    draw, rounds = random.Random(seed), ceil_div(N + M, 4)
    given = [dict(zip((N, M, TURN), each, strict=True)) for each in _worlds(rounds)]
    sizes: list[Size] = [N, M, TURN, 3]
    for _ in range(25):
        one, other = draw.sample(sizes, 2)
        made = draw.choice(
            [
                one + other,
                one - 2 * other,
                minimum(one, other),
                maximum(one, other - 5),
                ceil_div(one, draw.randint(1, 9)),
                ceil_div(one, maximum(other, 1)),
            ]
        )
        assert values(made, rounds) == [evaluate(made, known) for known in given]
        sizes = [N, M, TURN, *sizes[-3:], made]


def _worlds(rounds: Size) -> list[tuple[int, ...]]:
    return list(zip(*[values(each, rounds) for each in (N, M, TURN)], strict=True))


BLOCKED = """
func @blocked<n: 1..4096>(%x: view<1, f32, {size: [n], unit_stride: 0}>)
    with {grid: [ceildiv(n, 128)], tile: {n: 16}} {
  %p = tile.program_id {axis = 0} : scalar<i64>
  %many = tile.constant {value = 128} : scalar<i64>
  %few = tile.constant {value = 16} : scalar<i64>
  %first = tile.binary %p, %many {kind = multiply} : scalar<i64>
  %n = tile.extent %x {axis = 0} : scalar<i64>
  %behind = tile.binary %first, %many {kind = add} : scalar<i64>
  %end = tile.binary %behind, %n {kind = minimum} : scalar<i64>
  tile.for %first, %end, %few (%at: scalar<i64>) {
    %left = tile.binary %n, %at {kind = subtract} : scalar<i64>
    %a = tile.load %x, %at {shape = [16], padding = 0.0} : tile<[16], f32>
    tile.store %x, %a, %at
    yield
  }
  return
}"""


def test_what_holds_in_a_loop_is_proved_and_what_does_not_is_not_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    func = kernel(BLOCKED)
    ranges, named = Ranges(func), {value.name: value for value in _values(func)}
    at, n = ranges.of(named["at"]), ranges.of(named["n"])
    assert at is not None and n is not None
    assert ranges.proves(at + 1, n) and ranges.proves(0, ranges.of(named["left"]) or -1)
    monkeypatch.setattr(Facts, "_ways", lambda *_: pytest.fail("a way is looked for"))
    assert not ranges.proves(at + 16, n)
    assert not ranges.proves(n, at)


def _values(func: Func) -> list[AnyValue]:
    return [
        value
        for op in func.walk()
        for value in (*op.results, *[each for region in op.regions for each in region.arguments])
    ]
