"""The tree of compiled steps: what is found in it, and what is forgotten."""

from typing import Any

import pytest

from brimstone.frontend import prefixes as prefixes_of_steps
from brimstone.frontend.prefixes import Prefixes
from brimstone.frontend.ready import Step


class Alike:
    """Things that differ and have one hash."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike) and other.name == self.name


def step(names: str) -> Step:
    """A step with an entry for each letter."""
    entries: Any = tuple((Alike(name), ()) for name in names)
    anything: Any = None
    return Step((entries, (len(names) - 1,)), anything, None, anything, anything)


def known(prefixes: Prefixes, names: str) -> int | None:
    """How many steps have just these entries; None where no step begins so."""
    place: Any = prefixes.root
    for name in names:
        place = place.following.get((Alike(name), ()))
        if place is None:
            return None
    return len(place.steps)


def test_what_has_an_equal_hash_is_not_taken_for_equal() -> None:
    prefixes = Prefixes()
    prefixes.add(step("abc"))
    prefixes.add(step("ad"))
    assert [known(prefixes, names) for names in ("abc", "ad", "ab", "d", "ac")] == [
        1, 1, 0, None, None,
    ]  # fmt: skip


def test_the_oldest_steps_are_forgotten() -> None:
    prefixes = Prefixes(at_most=7)
    for names in ("abc", "ab", "x", "abc"):
        prefixes.add(step(names))
    assert prefixes.size == 6
    prefixes.add(step("abx"))
    assert prefixes.size == 6
    assert [known(prefixes, names) for names in ("abc", "ab", "abx", "x")] == [None, 1, 1, 1]
    prefixes.add(step("abcdefgh"))
    assert prefixes.size == 6  # what is longer than all may be would leave nothing else
    prefixes.add(step("uvwxyz"))
    assert [known(prefixes, name) for name in "abcux"] == [None, None, None, 0, None]


def test_there_are_so_many_steps_however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefixes_of_steps, "STEPS_AT_MOST", 2)
    prefixes = Prefixes()
    for names in ("a", "b", "ac"):
        prefixes.add(step(names))
    assert [known(prefixes, names) for names in ("a", "b", "ac")] == [0, 1, 1]
