"""Names of functions: imported ones have their own, others are kept as long as the name."""

import gc
from functools import partial
from typing import Any

import pytest

from brimstone.ir.errors import Unmet
from brimstone.ir.shared.named import check_name, imported
from brimstone.runtime.kept import name_of
from kit.outside import doubled


class Scaling:
    """Something with a method."""

    def scaled(self, x: int) -> int:
        return 3 * x


def adding(number: int) -> Any:
    return lambda x: x + number


def test_a_function_of_a_module_has_its_own_name() -> None:
    assert name_of(doubled) == "kit.outside:doubled"
    assert imported(name_of(Scaling.scaled)) is Scaling.scaled


@pytest.mark.parametrize(
    "function",
    [lambda x: 3 * x, Scaling().scaled, partial(pow, 3), adding(4)],
    ids=["lambda", "method", "partial", "closure"],
)
def test_any_other_one_is_kept_under_a_name(function: Any) -> None:
    name = name_of(function)
    check_name(name)
    assert imported(name) == function


def test_what_is_no_longer_what_its_name_says_is_kept() -> None:
    def renamed(x: int) -> int:
        return x

    renamed.__module__, renamed.__qualname__ = doubled.__module__, doubled.__qualname__
    name = name_of(renamed)
    assert imported(name) is renamed


def test_a_function_is_gone_when_nobody_holds_its_name() -> None:
    class Data:
        """What a function holds."""

        def own(self) -> None: ...

    name = name_of(Data().own)
    copied = "".join(name)
    assert imported(copied)
    del name
    gc.collect()
    with pytest.raises(Unmet, match="no function is kept under the name own_"):
        imported(copied)


def test_functions_that_do_the_same_have_one_name() -> None:
    number = 3
    names = [name_of(lambda x: x + number) for _ in range(2)]
    scaling = Scaling()
    assert names[0] == names[1]
    assert name_of(scaling.scaled) == name_of(scaling.scaled)


def test_functions_with_other_variables_have_others() -> None:
    held = [name_of(adding(1)), name_of(adding(1)), name_of(lambda x, y=[]: y)]
    held += [name_of(Scaling().scaled), name_of(Scaling().scaled)]
    assert len({*held}) == len(held)
    with_option = [name_of(each) for each in [_with_option(1), _with_option(2)]]
    assert [imported(name)() for name in with_option] == [1, 2]


def _with_option(number: int) -> Any:
    def function(*, chosen: int = number) -> int:
        return chosen

    return function
