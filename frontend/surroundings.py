"""What is said around calls rather than in them: whether models train, and with which randomness.

Comes in: `nn.training` and `nn.inference`, as contexts. Goes out: what holds where a function runs,
also inside a function that is compiled; there the key of random numbers is an argument.
Never: a key that is baked into a compiled step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import update_wrapper
from inspect import Parameter, signature
from typing import Any, NamedTuple
from zlib import crc32

from .blocks import Blocks
from .functions.keys import fold_in
from .generator import each_time
from .handle import wrap
from .left import Left, Place, is_constant, parts_of
from .regions import Pair, hand_on
from .trace import current_trace
from .updates import Updates, collecting, uncollected

KEY_PARAMETER = "surrounding_key"
"""By which name a compiled function gets the key of what surrounds it."""


class Surroundings:
    """Whether models train; the key that their randomness is made of, None for the default
    generator's; how often each part has drawn; and the values that they leave."""

    __slots__ = ("counts", "key", "number", "training", "updates")

    def __init__(self, training: bool, key: Any, updates: Updates) -> None:
        self.training, self.key, self.updates = training, key, updates
        self.counts: dict[str, int] = {}
        self.number: Callable[[str], Any] = self.next_number

    def next_key(self, name: str) -> Any:
        """A key for who has this name: another one each time it asks, and at each step of a loop
        and for each element of a vmap; None for the default's."""
        if self.key is None:
            return None
        key = fold_in(self.key, self.number(name))
        return wrap(each_time(key.node, self.updates.trace))

    def next_number(self, name: str) -> int:
        """What is folded into the key for who has this name: a function of that, and of how often
        it has asked."""
        self.counts[name] = self.counts.get(name, -1) + 1
        return crc32(f"{name} {self.counts[name]}".encode())


_SURROUNDINGS = Blocks("surroundings")
_WAITING = Blocks("waiting")
"""What surrounds the compiled function that is being called: inside it begins anew."""


def current_surroundings() -> Surroundings | None:
    """What has been said around what this thread is doing."""
    return _SURROUNDINGS.innermost


@contextmanager
def surrounded(training: bool, key: Any = None) -> Iterator[Surroundings]:
    """While the block runs, models train or do not; values that they leave are collected."""
    with collecting() as updates:
        made = Surroundings(training, key, updates)
        with _SURROUNDINGS.saying(made):
            yield made


@contextmanager
def unsurrounded() -> Iterator[None]:
    """While the block runs, nothing has been said, and nobody collects: a compiled function is
    called, and is told by its arguments."""
    with _WAITING.saying(current_surroundings()), _SURROUNDINGS.saying(None), uncollected():
        yield


def next_number(name: str) -> int:
    """The number of a draw in the compiled function that is being called."""
    return _WAITING.innermost.next_number(name)


class Whose:
    """Whose attributes a compiled function leaves values for: parts of its arguments, by number, or
    objects that it knows from outside."""

    def __init__(self, left: Sequence[Left], arguments: Any) -> None:
        numbers = {id(part): number for number, part in enumerate(parts_of(arguments))}
        owners = [each.place.owner for each in left]
        self.owners = [numbers.get(id(owner), owner) for owner in owners]
        self.names = [each.place.name for each in left]
        self.constant = [is_constant(each.value) for each in left]

    def places(self, arguments: Any) -> list[Place]:
        """The places, when the arguments are these."""
        parts = [*parts_of(arguments)]
        owners = [parts[each] if isinstance(each, int) else each for each in self.owners]
        return [Place(*each) for each in zip(owners, self.names, self.constant, strict=True)]


class Handed(NamedTuple):
    """The result of a compiled function that leaves values, and these."""

    result: Any
    whose: Whose
    values: Sequence[Pair]

    @classmethod
    def of(cls, result: Any, left: Sequence[Left], arguments: Any) -> Handed | None:
        """What a function returns that has left something."""
        values = [(each.value, each.when) for each in left]
        return cls(result, Whose(left, arguments), values) if left else None


def handed_on(made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a compiled function; what it has left is left where it was called."""
    if not isinstance(made, Handed):
        return made
    hand_on(made.whose.places((args, kwargs)), made.values)
    return made.result


def within(function: Callable[..., Any], training: bool) -> Callable[..., Any]:
    """The function as it is in such surroundings, with their key as one more keyword argument; it
    returns what it leaves, too."""

    def inside(*args: Any, surrounding_key: Any = None, **kwargs: Any) -> Any:
        trace = current_trace()
        with surrounded(training, surrounding_key) as around:
            # What is compiled draws by run-time numbers; where nothing can be, as all else does.
            hidden = None if trace is None else trace.hidden_number
            around.number = next_number if hidden is None else lambda name: wrap(hidden(name))
            result = function(*args, **kwargs)
        return Handed.of(result, around.updates.left, (args, kwargs)) or result

    update_wrapper(inside, function, updated=())
    try:
        known = signature(function)
    except (TypeError, ValueError):  # Python does not know the parameters
        return inside
    named = Parameter(KEY_PARAMETER, Parameter.KEYWORD_ONLY, default=None)
    rest = [each for each in known.parameters.values() if each.kind is Parameter.VAR_KEYWORD]
    plain = [each for each in known.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    inside.__signature__ = known.replace(parameters=[*plain, named, *rest])  # pyright: ignore[reportFunctionMemberAccess]
    return inside
