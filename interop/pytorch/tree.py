"""What a pickle describes, with tensors in the places of their descriptions.

Comes in: a value that the machine made. Goes out: dicts, lists, tuples and plain values with
tensors in them. Descriptions that are equal become one tensor, so what was shared is shared.
Never: a value within itself, one that is small in the file and endless for who walks through it, or
a tensor before all of it is found to be sound.
"""

from collections.abc import Callable
from typing import Any

from ...frontend.dtypes import DType
from ..errors import Refused
from .allowed import View, called

MOST_DEPTH = 100
MOST_PLACES = 4_000_000
MOST_CONTAINERS = 500_000
_PLAIN = (type(None), bool, int, float, complex, str, bytes, DType)
_CONTAINERS = (dict, list, tuple, set)


def views_of(tree: Any) -> dict[View, None]:
    """The different tensors of a sound tree, in order."""
    walk = _Walk()
    walk.measure(tree, 0)
    return walk.views


def with_tensors(tree: Any, tensors: Callable[[View], Any]) -> Any:
    """The tree with what `tensors` makes of descriptions."""
    made: dict[int, Any] = {}

    def replaced(value: Any) -> Any:
        if isinstance(value, View):
            return tensors(value)
        if not isinstance(value, _CONTAINERS):
            return value
        if id(value) not in made:
            made[id(value)] = _rebuilt(value, replaced)
        return made[id(value)]

    return replaced(tree)


def _rebuilt(value: Any, replaced: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: replaced(each) for key, each in value.items()}
    return type(value)(replaced(each) for each in value)


class _Walk:
    """Looks at each container once, and knows how much there is for who looks every time."""

    def __init__(self) -> None:
        self.views: dict[View, None] = {}
        self.sizes: dict[int, tuple[int, int]] = {}
        self.inside: set[int] = set()

    def measure(self, value: Any, depth: int) -> tuple[int, int]:
        """The places and the depth of a value that is `depth` deep inside."""
        if isinstance(value, View):
            self.views[value] = None
            return 1, 0
        if isinstance(value, _PLAIN):
            return 1, 0
        if not isinstance(value, _CONTAINERS):
            raise Refused(f"it holds {called(value)} where a value belongs")
        if id(value) in self.inside:
            raise Refused("it holds a value that lies within itself")
        if id(value) not in self.sizes:
            if len(self.sizes) + len(self.inside) >= MOST_CONTAINERS:
                raise Refused(f"it holds more than {MOST_CONTAINERS} tables, lists and tuples")
            self.inside.add(id(value))
            self.sizes[id(value)] = self._container(value, depth + 1)
            self.inside.discard(id(value))
        return self.sizes[id(value)]

    def _container(self, value: Any, depth: int) -> tuple[int, int]:
        places, height = 1, 0
        for each in value.values() if isinstance(value, dict) else value:
            if depth > MOST_DEPTH:
                break
            more, high = self.measure(each, depth)
            places, height = places + more, max(height, high)
        if depth + height > MOST_DEPTH:
            raise Refused(f"it is nested more than {MOST_DEPTH} deep")
        if places > MOST_PLACES:
            raise Refused(f"it unfolds to more than {MOST_PLACES} values")
        return places, height + 1
