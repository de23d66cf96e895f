"""Every rule of `simplify` has a case of its name, and the case needs the rule."""

from pathlib import Path

import pytest

from brimstone.ir import Journal, Rules, apply, parse, print_module
from brimstone.passes.simplify import SIMPLIFY
from kit.cases import read_cases

CASES = {
    case.name: case
    for file in sorted((Path(__file__).parent / "simplify").glob("*.ir"))
    for case in read_cases(file)
}


def test_there_are_more_than_forty_rules() -> None:
    names = [rule.name for rule in SIMPLIFY.rewrites]
    assert len(names) == len(set(names)) > 40


@pytest.mark.parametrize("name", [rule.name for rule in SIMPLIFY.rewrites])
def test_a_case_needs_the_rule(name: str) -> None:
    case = CASES[name]
    with_rule, without = parse(case.text), parse(case.text)
    apply(SIMPLIFY, with_rule.main, Journal())
    others = Rules(*(rule for rule in SIMPLIFY.rewrites if rule.name != name))
    apply(others, without.main, Journal())
    assert print_module(with_rule) != print_module(without)


def test_no_case_is_of_a_rule_that_is_gone() -> None:
    assert set(CASES) == {rule.name for rule in SIMPLIFY.rewrites}
