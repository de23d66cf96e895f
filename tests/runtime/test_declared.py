"""What Python knows of the native core is what the header says."""

import pytest

from brimstone.runtime import declared
from brimstone.runtime.native import ENDED, RAISED, Core, Outcome, State, core, ffi
from brimstone.runtime.records import LAUNCH, NUMBER, PLAN, SCRIPT
from brimstone.targets.script import Kind
from brimstone.targets.tape import Sign
from kit.declared import hash_of_header


def test_the_header_has_not_changed_since() -> None:
    assert declared.__doc__ is not None
    assert hash_of_header() in declared.__doc__, "python -m kit.declared > ../runtime/declared.py"


def test_every_function_is_there() -> None:
    names = [name for name in vars(Core) if name.startswith("brimstone_")]
    assert names
    assert all(callable(getattr(core(), name)) for name in names)


def counted(of: type) -> list[tuple[str, int]]:
    """The names of a class that are numbers."""
    return [(name, number) for name, number in vars(of).items() if name.isupper()]


NUMBERS: dict[str, int] = {
    **{f"BRIMSTONE_{name}": number for of in (State, Outcome) for name, number in counted(of)},
    **{f"BRIMSTONE_{each.name}": each for of in (Kind, Sign) for each in of},
    "BRIMSTONE_ENDED": ENDED,
    "BRIMSTONE_RAISED": RAISED,
}
"""What is written again in Python, where a look at the header's own would take a while."""


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_those_of_the_header(name: str) -> None:
    assert getattr(core(), name) == NUMBERS[name]


@pytest.mark.parametrize(
    ("record", "words"), [("script", SCRIPT), ("launch", LAUNCH), ("plan", PLAN)]
)
def test_records_have_so_many_words(record: str, words: int) -> None:
    assert ffi.sizeof(f"brimstone_{record}") == 8 * words


def test_where_the_number_of_a_script_stands() -> None:
    assert ffi.offsetof("brimstone_script", "number") == 8 * NUMBER
