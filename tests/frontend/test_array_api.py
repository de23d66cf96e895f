"""Every function of the array API standard beside array-api-strict, on the same arguments."""

from types import ModuleType
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import brimstone as bs
from kit.standard import ALL, Inputs, both, kind, magnitude, same
from kit.standard_calls import Rule
from kit.standard_rules import RULES

FLAGS = {f"{verb}_array_api_strict_flags" for verb in ("get", "set", "reset")}


def functions(library: ModuleType) -> set[str]:
    """What a library has that can be called, and is no class."""
    names = [name for name in dir(library) if not name.startswith("_")]
    return {name for name in names if type(getattr(library, name)) is type(functions)} - FLAGS


def agree(name: str, rule: Rule, draw: Any) -> None:
    """Complain unless both libraries make the same of a call that is drawn."""
    given = rule.draw(Inputs(draw))
    found, expected = both(name, given)
    if rule.undefined:
        assert kind(found) == kind(expected)
        return
    if name in ("finfo", "iinfo"):
        limits = ("bits", "eps", "max", "min", "smallest_normal")
        found, expected = ([getattr(each, at, 0) for at in limits] for each in (found, expected))
    scale = magnitude(given.args, expected) if rule.scaled else 0
    same(found, expected, rule.ulps, scale)


def test_every_function_has_a_rule() -> None:
    assert functions(strict) == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_it_does_what_the_standard_says(name: str) -> None:
    @settings(max_examples=15, database=None, phases=[Phase.generate])
    @given(st.data())
    def check(data: st.DataObject) -> None:
        agree(name, RULES[name], data.draw)

    check()


def test_every_attribute_of_an_array_is_there() -> None:
    array = strict.asarray([1.0])
    names = {name for name in dir(array) if not name.startswith("_array") and name[0] != "_"}
    # `x += y` is `x = x + y`: tensors are never changed.
    hidden = {name for name in dir(array) if name[:2] == "__"} - {"__buffer__", "__slots__"}
    hidden -= {name for name in hidden if name[2] == "i" and f"__{name[3:]}" in hidden}
    assert {name for name in names | hidden if not hasattr(bs.Tensor, name)} == set()


def test_every_constant_and_dtype_is_there() -> None:
    for name in ("e", "inf", "pi", "newaxis"):
        assert getattr(bs, name) == getattr(strict, name)
    assert np.isnan(bs.nan)
    assert {name for name in ALL if not hasattr(bs, name)} == set()
    assert bs.__array_api_version__ == strict.__array_api_version__
