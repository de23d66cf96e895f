"""Linear algebra and Fourier transforms of the array API standard beside array-api-strict."""

import array_api_strict as strict
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kit.standard import Inputs, both, kind, magnitude, same
from kit.standard_extensions import EXTENSIONS, UNIQUE


def test_every_function_has_a_rule() -> None:
    listed = {"linalg.eig", "linalg.eigvals"}  # which its list forgets
    listed |= {f"linalg.{name}" for name in strict.linalg.__all__ if name[0].islower()}
    listed |= {f"fft.{name}" for name in strict.fft.__all__}
    assert listed == set(EXTENSIONS)


@pytest.mark.parametrize("name", EXTENSIONS)
def test_it_does_what_the_standard_says(name: str) -> None:
    rule = EXTENSIONS[name]

    @settings(max_examples=8, database=None, phases=[Phase.generate])
    @given(st.data())
    def check(data: st.DataObject) -> None:
        given = rule.draw(Inputs(data.draw))
        found, expected = both(name, given)
        assert kind(found) == kind(expected)
        unique = UNIQUE.get(name.rpartition(".")[2])
        if unique:
            found, expected = (unique(given.args[0], each) for each in (found, expected))
        same(found, expected, rule.ulps, magnitude(given.args, expected) if rule.scaled else 0)

    check()
