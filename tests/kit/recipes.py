"""The table of recipes: for each op class, how a random program comes to use it.

Comes in: functions marked `@recipe(tensor.Sort)`, which emit that op into a draft. Goes out: the
recipe of a class, its own or the nearest base's; families such as `Unary` have one for all.
Never: a list of ops kept by hand; a registered op without a recipe fails a test.
"""

from collections.abc import Callable
from functools import cache
from typing import TypeVar

from brimstone.ir.declare import REGISTRY, Op
from brimstone.ir.tensor.collectives import CollectiveOp
from kit.draft import Draft

Recipe = Callable[[Draft, type[Op]], object]
R = TypeVar("R", bound=Recipe)

RECIPES: dict[type[Op], Recipe] = {}


def recipe(*classes: type[Op]) -> Callable[[R], R]:
    """Make a function the recipe of these classes and of those derived from them."""

    def declare(function: R) -> R:
        for cls in classes:
            RECIPES[cls] = function
        return function

    return declare


def recipe_of(cls: type[Op]) -> Recipe | None:
    """How to draw an op of this class; None where nobody has said."""
    return next((RECIPES[base] for base in cls.__mro__ if base in RECIPES), None)


@cache
def drawable(collectives: bool = True) -> tuple[type[Op], ...]:
    """The ops of the tensor floor, in the order of their names."""
    names = sorted(name for name in REGISTRY if name.startswith("tensor."))
    ops = [REGISTRY[name] for name in names]
    return tuple(op for op in ops if collectives or not issubclass(op, CollectiveOp))
