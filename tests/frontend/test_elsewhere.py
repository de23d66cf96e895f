"""Names of other libraries: what is said of them, and that what is named is there."""

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest

import brimstone as bs
from brimstone import nn, train
from brimstone.frontend import elsewhere

OF_CLASSES = [
    elsewhere.OF_TENSORS,
    elsewhere.OF_MODULES,
    elsewhere.OF_OPTIMISERS,
    elsewhere.OF_CUSTOM_VJP,
]
TABLES = [*elsewhere._ELSEWHERE.values(), *OF_CLASSES]
TEXTS = [text for table in TABLES for text in table.values()]


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
        (lambda: cast(Any, nn).Conv2D, "module 'brimstone.nn' has .*; here it is `nn.Conv2d`$"),
        (lambda: cast(Any, nn).Dense, "here it is `nn.Linear`"),
        (lambda: cast(Any, nn.functions).cross_entropy, "here it is `nn.cross_entropy`$"),
        (lambda: cast(Any, nn.functions).relu, "here it is `nn.ReLU`$"),
        (lambda: cast(Any, bs.linalg).Det, "here it is `bs.linalg.det`$"),
        (lambda: bs.no_such_thing, "^module 'brimstone' has no attribute 'no_such_thing'$"),
    ],
)
def test_others_say_so_too(ask: Any, told: str) -> None:
    with pytest.raises(AttributeError, match=told) as caught:
        ask()
    assert caught.value.name and caught.value.obj is not None  # from which Python knows others


THINGS = {"Tensor": bs.ones(3), "Linear": nn.Linear(2, 2), "Adam": train.Adam(),
          "custom_vjp": bs.custom_vjp(abs)}  # fmt: skip
CASES = [(thing, name) for thing, table in zip(THINGS, OF_CLASSES, strict=True) for name in table]


@pytest.mark.parametrize(("thing", "name"), CASES)
def test_things_say_what_other_libraries_names_are(thing: str, name: str) -> None:
    asked = THINGS[thing]
    assert not hasattr(asked, name)
    assert name not in dir(asked)
    for each in (asked, type(asked)):
        with pytest.raises(AttributeError, match=f"^'{thing}' object .* '{name}'; here it is "):
            getattr(each, name)


class Timetable(nn.Module):
    """Has names of its own that other libraries have for methods."""

    train: str
    cuda: int = 1

    def eval(self) -> str:
        return f"{self.train}, {self.cuda}"


def test_a_module_may_have_these_names() -> None:
    made = Timetable("at noon")
    assert made.eval() == "at noon, 1"
    assert {"train", "cuda", "eval", "params"} <= {*dir(made)}
    with pytest.raises(TypeError, match="train"):
        Timetable()
