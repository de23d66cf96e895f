"""Every program prints, is read back as the same program, and verifies."""

import time
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import find, given, settings

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import boolean, f32
from brimstone.ir.func import Func, Module, Return, Yield
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.types import Tensor
from brimstone.ir.verifier import verify
from kit.census import census, table
from kit.collector import collector_paused
from kit.programs import plans, program, programs, random_program, random_programs
from kit.recipes import drawable, recipe_of
from kit.work import PATIENCE

PROGRAMS = 2000
AT_LEAST = 20


def same_text(module: Module, locations: bool) -> None:
    text = print_module(module, locations=locations)
    assert print_module(parse(text), locations=locations) == text


def test_every_op_of_the_floor_has_a_recipe() -> None:
    missing = [cls.name for cls in drawable() if recipe_of(cls) is None]
    assert not missing, "say in tests/kit how a random program comes to use these"


def test_programs_print_as_they_are_read_and_use_all_there_is(record_summary: list[str]) -> None:
    counts = census(checked(random_programs(PROGRAMS)))
    (name, least) = counts.most_common()[-1]
    record_summary.append(
        f"{PROGRAMS} random programs: the rarest is {name}, {least} times "
        "(`python -m kit.census`, in tests/, lists all)"
    )
    assert least >= AT_LEAST, table(counts)


def checked(modules: Iterable[Module]) -> Iterator[Module]:
    """The modules, which verify and are read as they print, every second one with its lines."""
    for number, module in enumerate(modules):
        verify(module)
        same_text(module, locations=number % 2 == 1)
        yield module


def test_the_same_seed_gives_the_same_program() -> None:
    for seed in range(50):
        assert print_module(random_program(seed)) == print_module(random_program(seed))


@settings(max_examples=50)
@given(programs())
def test_drawn_programs_verify_and_print_as_they_are_read(module: Module) -> None:
    verify(module)
    same_text(module, locations=False)
    same_text(module, locations=True)


def test_drawn_programs_shrink() -> None:
    """What is left of a program that sorts is little more than the sort."""
    least = find(plans(), lambda plan: any(step.op is tensor.Sort for step in plan.steps))
    assert len(least.steps) == 1
    assert sum(1 for _ in program(least).main.walk()) <= 4


def test_a_long_chain() -> None:
    """100,000 ops, each of which reads the one before."""
    func = Func("main", [Tensor((4,), f32)])
    builder = Builder(func.body)
    (value,) = func.arguments
    classes = (tensor.Tanh, tensor.Exp, tensor.Negate, tensor.Sin)
    with collector_paused():
        for place in range(100_000):
            value = builder.emit(classes[place % len(classes)], value)
    builder.emit_all(Return, [value])
    module = Module([func])
    with collector_paused():
        text = print_module(module)
        again = parse(text)
        verify(module)
        verify(again)
        assert print_module(again) == text


def test_deep_regions() -> None:
    """1,000 regions, one in the other."""
    func = Func("main", [Tensor((), boolean), Tensor((2,), f32)])
    predicate, x = func.arguments
    builders = [Builder(func.body)]
    for _ in range(1000):
        builders.append(builders[-1].nest())
    value = builders[-1].emit(tensor.Negate, x)
    for inner, outer in zip(builders[:0:-1], builders[-2::-1], strict=True):
        inner.emit_all(Yield, [value])
        other = outer.nest()
        other.emit_all(Yield, [x])
        value = outer.emit(tensor.Cond, predicate, [], inner.block, other.block)
    builders[0].emit_all(Return, [value])
    module = Module([func])
    verify(module)
    text = print_module(module)
    again = parse(text)
    verify(again)
    assert print_module(again) == text


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    """No text takes time that grows with a power of its length."""
    start = time.process_time()
    yield
    assert time.process_time() - start < PATIENCE
