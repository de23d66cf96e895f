"""Programs recorded at many sizes and with many numbers have one text; facts give another."""

import random

import numpy as np
import pytest

from brimstone.ir import Func, Module, tensor
from brimstone.ir.dtypes import boolean, f32, i32
from brimstone.ir.func import Yield
from brimstone.ir.payloads import payload
from brimstone.ir.values import Block
from brimstone.passes import run_pipeline
from brimstone.passes.pipelines import PREPARE
from kit.general import check_bits, general, text_of
from kit.recorder import Recorder
from kit.recordings import PROGRAMS, Program, chain, composed_attention, linear, looped, recorded

SIZES = 50


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_every_size_has_one_text(program: Program) -> None:
    """Small sizes too, at which the builder folds what it leaves alone at large ones."""
    chosen = random.Random(7)
    texts: set[str] = set()
    for trial in range(SIZES):
        func = recorded(
            program, *chosen.sample(range(3, 10 if trial % 2 else 40), PROGRAMS[program])
        )
        made = general(func)
        assert made.kept == ()
        texts.add(text_of(func))
        if trial % 10 == 0:
            check_bits(Module([func]), made, trial)
    assert len(texts) == 1


@pytest.mark.parametrize("program", [chain, composed_attention, linear, looped])
def test_one_text_after_other_passes(program: Program) -> None:
    """Small constants are folded and their numbers gone; that must not show."""
    texts: set[str] = set()
    for low in (3, 5, 30):
        func = recorded(program, *range(low, low + PROGRAMS[program]))
        run_pipeline(Module([func]), PREPARE)
        texts.add(text_of(func))
    assert len(texts) == 1


def test_where_a_number_stands_does_not_show() -> None:
    """A small constant stands where it is broadcast first, a large one where it was made."""

    def shifted(size: int, dead: bool) -> Func:
        r = Recorder()
        numbers = [r.number(value) for value in (1.0, 0.5, 7.0)]
        x = r.emit(tensor.Tanh, r.argument(size))
        for number in reversed(numbers):
            x = r.emit(tensor.Add, x, r.to(number, size))
        func = r.done(x)
        if dead:
            run_pipeline(Module([func]), "dead")
        return func

    texts = {text_of(shifted(size, dead)) for size in (5, 500) for dead in (False, True)}
    assert len(texts) == 1


@pytest.mark.parametrize("shape", [(3,), (200,)], ids=str)
def test_every_number_has_one_text(shape: tuple[int, ...]) -> None:
    texts = {text_of(scaled(shape, number)) for number in (0.5, 3.0, -2.0, 1e-30)}
    assert len(texts) == 1


@pytest.mark.parametrize("fact", [0.0, -0.0, 1.0, -1.0, 2.0, float("inf"), float("nan")])
def test_a_number_that_is_a_fact_has_its_own_text(fact: float) -> None:
    assert text_of(scaled((5,), fact)) != text_of(scaled((5,), 0.5))
    assert general(scaled((5,), fact)).scalars == ()


@pytest.mark.parametrize("sizes", [(1, 5, 7), (4, 1, 7), (4, 5, 1), (0, 5, 7)], ids=str)
def test_a_size_that_is_a_fact_has_its_own_text(sizes: tuple[int, ...]) -> None:
    usual = text_of(recorded(linear, 4, 5, 7))
    assert text_of(recorded(linear, *sizes)) != usual
    assert text_of(recorded(linear, 8, 5, 3)) == usual


@pytest.mark.parametrize(("one", "other"), [((0, 5), (3, 5)), ((1, 5), (2, 5)), ((3, 9), (3, 17))])
def test_where_a_slice_starts_and_whether_it_is_whole(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    """Of 20 elements; the third pair differs in the size alone."""
    same = one[0] == other[0]
    assert (text_of(cut(*one)) == text_of(cut(*other))) is same
    assert text_of(cut(0, 20)) != text_of(cut(0, 19))


def test_what_is_equal_by_chance_is_one_when_it_is_recorded() -> None:
    """Equal ops are one op, so sizes that make two ops equal are a fact."""

    def counted(rows: int, columns: int) -> Func:
        r = Recorder()
        lines = [r.emit(tensor.Iota, (size,), 0, i32) for size in (rows, columns)]
        return r.done(*lines)

    assert text_of(counted(4, 5)) == text_of(counted(7, 6)) != text_of(counted(6, 6))


def test_large_arrays_are_data() -> None:
    def shifted(rows: int, number: float) -> Func:
        r = Recorder()
        values = [[number + row, 1.0] for row in range(rows)]
        return r.done(r.emit(tensor.Add, r.argument(rows, 2), r.array(values)))

    made = general(shifted(40, 3.0))
    assert [str(np.asarray(each).shape) for each in made.scalars] == ["(40, 2)"]
    assert text_of(shifted(40, 3.0)) == text_of(shifted(50, 4.0)) != text_of(shifted(20, 3.0))
    check_bits(Module([shifted(40, 3.0)]), made)


def test_an_array_that_stands_in_two_places_is_one_argument() -> None:
    def chosen(rows: int) -> Func:
        r = Recorder()
        x, predicate = r.argument(rows, 2), r.argument(dtype=boolean)
        regions: list[Block] = []
        for cls in (tensor.Add, tensor.Multiply):
            inner = r.builder.nest([x.type])
            data = inner.emit(tensor.Constant, payload(np.ones((rows, 2), np.float32), f32))
            inner.emit_all(Yield, [inner.emit(cls, inner.block.arguments[0], data)])
            regions.append(inner.block)
        return r.done(r.emit(tensor.Cond, predicate, [x], *regions))

    made = general(chosen(40))
    assert [str(np.asarray(each).shape) for each in made.scalars] == ["(40, 2)"]
    assert text_of(chosen(40)) == text_of(chosen(50))
    check_bits(Module([chosen(40)]), made)


def scaled(shape: tuple[int, ...], number: float) -> Func:
    r = Recorder()
    return r.done(r.map(tensor.Multiply, r.argument(*shape), number))


def cut(start: int, size: int) -> Func:
    r = Recorder()
    return r.done(r.emit(tensor.Exp, r.cut(r.argument(20), 0, start, size)))
