"""Names of other libraries: what is said of them, and that what is named is there."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

import brimstone as bs
from brimstone.frontend import elsewhere

TEXTS = [text for table in elsewhere._ELSEWHERE.values() for text in table.values()]


def names_in(text: str) -> Iterator[str]:
    yield from re.findall(r"bs\.([\w.]+)", text)


@pytest.mark.parametrize("name", [*elsewhere.CALLED, *elsewhere._MADE])
def test_the_root_says_what_it_is_here(name: str) -> None:
    assert name not in dir(bs)
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; here it is `"):
        getattr(bs, name)


@pytest.mark.parametrize("text", [*TEXTS, *[f"bs.{each}" for each in elsewhere.CALLED.values()]])
def test_what_is_named_is_there(text: str) -> None:
    for path in names_in(text):
        found: Any = bs
        for part in path.split("."):
            found = getattr(found, part)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: bs.linalg.lstsq, "module 'brimstone.linalg' has .*; here it is `bs.linalg.pinv"),
        (lambda: bs.random.PRNGKey, r"here it is `bs\.random\.key\(seed\)`"),
        (lambda: bs.no_such_thing, "^module 'brimstone' has no attribute 'no_such_thing'$"),
    ],
)
def test_others_say_so_too(ask: Any, told: str) -> None:
    with pytest.raises(AttributeError, match=told) as caught:
        ask()
    assert caught.value.name and caught.value.obj is not None  # from which Python knows others
