"""Each rule of `infer` is needed and takes fuel; sizes settle everywhere, or nowhere."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from brimstone.ir import Rules, parse, print_module, verify
from brimstone.ir.dims import Size, Symbol, substitute
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.passes.admitted import admitted
from brimstone.passes.context import Context, Settings
from brimstone.passes.copying import copy_func
from brimstone.passes.infer import INFER, infer, rewrite_known
from brimstone.passes.manager import run_pipeline
from brimstone.passes.oracle import choose_sizes, difference, random_arguments
from kit.cases import read_cases
from kit.programs import program, random_plans

FOLDER = Path(__file__).parent / "infer"
CASES = {
    case.name: case
    for name in ("decisions", "identities")
    for case in read_cases(FOLDER / f"{name}.ir")
}
RULES = [rule.name for rule in INFER.rewrites]


def test_there_are_a_dozen_rules() -> None:
    assert len(RULES) == len(set(RULES)) > 12


@pytest.mark.parametrize("name", RULES)
def test_a_case_needs_the_rule(name: str) -> None:
    with_rule, without = parse(CASES[name].text), parse(CASES[name].text)
    rewrite_known(with_rule.main, Context())
    others = Rules(*(rule for rule in INFER.rewrites if rule.name != name))
    rewrite_known(without.main, Context(), others)
    assert print_module(with_rule) != print_module(without)


def test_no_case_is_of_a_rule_that_is_gone() -> None:
    # A second case of a rule has the rule's name with more words behind.
    assert all(any(case.startswith(rule) for rule in RULES) for case in CASES)


def test_each_change_takes_fuel() -> None:
    texts = [case.text for case in (*CASES.values(), *read_cases(FOLDER / "sizes.ir"))]
    changed = 0
    for text in texts:
        plenty = changes(text, None)
        assert [changes(text, fuel) for fuel in range(len(plenty))] == [
            plenty[:fuel] for fuel in range(len(plenty))
        ]
        changed += len(plenty)
    assert changed > len(CASES)


def changes(text: str, fuel: int | None) -> list[str]:
    """The rules that were applied, and no change where there is no fuel."""
    module, context = parse(text), Context(fuel, Settings(reproduce=False))
    before = print_module(module)
    run_pipeline(module, (infer,), context)
    if not context.entries:
        assert print_module(module) == before
    return [change.rule for change in context.applications]


def test_the_lines_of_what_was_there_stay() -> None:
    module = parse("""
    func @f(%u: tensor<[4], u8>) -> tensor<[4], i64> {
      %a = tensor.cast %u {dtype = i32} : tensor<[4], i32> at "model.py":1
      %b = tensor.cast %a {dtype = i64} : tensor<[4], i64> at "model.py":2
      return %b
    }""")
    rewrite_known(module.main, Context())
    assert '%b = tensor.cast %u {dtype = i64} : tensor<[4], i64> at "model.py":2, "model.py":1' in (
        print_module(module, locations=True)
    )


def test_symbols_of_one_value_leave_random_programs() -> None:
    """Each symbol of a program gets bounds that leave it one value; then `infer` takes it out."""
    settled = 0
    for seed, plan in enumerate(random_plans(60, collectives=False)):
        module = program(plan)
        if any(op.name == "tensor.custom" for func in module for op in func.walk()):
            continue  # its settings may name sizes, which copies with other sizes do not change
        sizes = choose_sizes(module.main)[-1]
        narrow = Module(with_one_value(func, sizes) for func in module)
        verify(narrow)
        arguments = random_arguments(narrow.main, sizes, np.random.default_rng(seed))
        expected = interpret(narrow, *arguments, sizes=sizes)
        settled += len(narrow.main.symbols)
        run_pipeline(narrow, (infer,), Context(settings=Settings(reproduce=False)))
        assert not any(func.symbols for func in narrow)
        assert difference(expected, interpret(narrow, *arguments)) is None
    assert settled > 30


def with_one_value(func: Func, sizes: Mapping[str, int]) -> Func:
    """A copy of a func in which each symbol lies between its size and its size."""
    narrow = {
        each: Symbol(each.name, size, size)
        for each in func.symbols
        for size in [admitted(each, sizes[each.name])]
    }

    def resize(size: Size) -> Size:
        return substitute(size, narrow)

    copy = copy_func(func, resize)
    copy.symbols = tuple(narrow.values())
    return copy
