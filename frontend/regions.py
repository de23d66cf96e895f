"""What is left inside of a region, such as the body of a loop, and how it comes out.

Comes in: functions that are traced as regions. Goes out: functions that return what they leave as
further results, and branches that leave values for the same places; what a region has returned is
left again outside of it.
Never: a second run of a user's function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from ..ir import dtypes as ir
from .errors import TracedValueError, fail
from .function import StandIn, Traced, call, of_leaves, trace
from .functions.common import filled
from .handle import Handle, wrap
from .left import Left, Place, chosen, constant, counterparts, is_constant, parts_of
from .node import Node
from .tree import flatten
from .updates import Updates, collected, collecting, is_wanted, leave

Pair = tuple[Any, Any]
"""A value that was left, and when."""


class Gathered:
    """A function that also returns what it leaves, when it runs once in a trace.

    `args` and `kwargs` are what it is called with outside: parts of these are what it changes.
    Unless somebody wants it, outside or `always`, there is nothing.
    """

    def __init__(
        self, region: str, function: Callable[..., Any], args: tuple[Any, ...],
        kwargs: Mapping[str, Any] | None = None, always: bool = False,
    ) -> None:  # fmt: skip
        self.region, self.function, self.outside = region, function, (args, dict(kwargs or {}))
        self.is_wanted = always or is_wanted()
        self.is_dropped = not self.is_wanted and collected() is not None
        self.places: list[Place] = []
        self.found = Updates()

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, list[Pair]]:
        if not (self.is_wanted or self.is_dropped):
            return self.function(*args, **kwargs), []
        with collecting(self.region) as found:
            self.found = found
            found.alias((args, kwargs), self.outside)
            result = self.function(*args, **kwargs)
        left = found.left if self.is_wanted else []
        self.places = [each.place._replace(constant=is_constant(each.value)) for each in left]
        return result, [(each.value, each.when) for each in left]

    def hand_on(self, values: Sequence[Pair]) -> None:
        """Leave the values outside, where they have become results."""
        hand_on(self.places, values)

    def applied(self, tree: Any, values: Sequence[Pair]) -> Any:
        """The tree with the values; what is for none of its parts is left outside."""
        found, own = Updates(), {id(part) for part in parts_of(tree)}
        for place, (value, when) in zip(self.places, values, strict=True):
            if id(place.owner) in own:
                found.put(place.owner, place.name, value, when)
            elif is_wanted():
                leave(place.owner, place.name, value, when)
            else:
                _refuse_stranger(self.region, place)
        return found.applied(tree)

    def expect_nothing(self, where: str) -> None:
        """Refuse values that are left where it is not certain how often that is run."""
        for place in self.places:
            problem = f"{place.name} is updated inside {where}, which does not hand it on"
            hint = "call the module in the body of the loop"
            fail(TracedValueError, f"{type(place.owner).__name__}.update", problem, hint=hint)

    def expect_kept(self, given: Any, made: Any, carry: Any) -> None:
        """Refuse a turn of a loop that changes a module in the carry and leaves values for it: each
        turn calls another module then, and nobody outside has any but the first."""
        pairs = zip(counterparts(given, carry), counterparts(made, carry), strict=False)
        same = self.found.original
        changed = {id(whole) for (one, whole), (other, _) in pairs if same(one) is not same(other)}
        for place in self.places:
            if id(place.owner) in changed:
                problem = f"{place.name} is updated inside a `{self.region}` that carries the owner"
                hint = (
                    "let each turn take what it leaves: `with nn.training() as context: ...`, and "
                    "`context.updated(module)` in the next carry"
                )
                fail(TracedValueError, f"{type(place.owner).__name__}.update", problem, hint=hint)


def hand_on(places: Sequence[Place], values: Sequence[Pair]) -> None:
    """Leave values for places where they have become results of a region."""
    for place, pair in zip(places, values, strict=True):
        value, when = constant(pair) if place.constant else pair
        leave(place.owner, place.name, value, when)


def on_tensors(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Node], Callable[[Sequence[Any]], Any]]:
    """The tensors among arguments, and the function of these alone."""
    leaves, structure = flatten((args, kwargs))
    places = [at for at, leaf in enumerate(leaves) if isinstance(leaf, Handle)]
    nodes = [leaves[place].node for place in places]
    return nodes, of_leaves(function, leaves, structure, places)


def called(traced: Traced, values: Sequence[Any]) -> Any:
    """The result of a traced function, called as a part of another one."""
    made = call(traced.func, [*[value.node for value in values], *traced.captures])
    return traced.rebuild([wrap(node) for node in made])


def blank(traced: Traced) -> Any:
    """The result of a traced function, with zeros for its tensors."""
    return traced.rebuild([zeros(type_) for type_ in traced.results])


class Branch(NamedTuple):
    """A branch that was traced; it returns a pair of its result and what it leaves for places."""

    traced: Traced
    places: Sequence[Place]

    @property
    def left(self) -> dict[tuple[int, str], Left]:
        """What it leaves, with zeros for the tensors."""
        rows = zip(self.places, blank(self.traced)[1], strict=True)
        return {_key(place): Left(place, *pair) for place, pair in rows}

    def leaving(self, wanted: Sequence[Left], like: Sequence[StandIn]) -> Branch:
        """A branch that does the same and leaves something for all the places."""
        places = [each.place for each in wanted]

        def run(values: Sequence[Any]) -> Any:
            result, left = called(self.traced, values)
            own = dict(zip(map(_key, self.places), left, strict=True))
            return result, [_given(own.get(_key(each.place)), each) for each in wanted]

        return Branch(trace("cond", run, like), places)


def balanced(branches: Sequence[Branch], like: Sequence[StandIn]) -> list[Branch]:
    """The branches, all of which leave values for the same places; what only some of them leave is
    left sometimes."""
    found: dict[tuple[int, str], list[Left]] = {}
    for branch in branches:
        for key, left in branch.left.items():
            found.setdefault(key, []).append(left)
    if not found:
        return [*branches]
    wanted: list[Left] = []
    for lefts in found.values():
        for each in lefts[1:]:
            chosen(each.place, no(), lefts[0].value, each.value)
        always = len(lefts) == len(branches) and all([each.when is None for each in lefts])
        place = lefts[0].place._replace(constant=all([each.place.constant for each in lefts]))
        wanted.append(Left(place, lefts[0].value, None if always else no()))
    return [each.leaving(wanted, like) for each in branches]


def _given(pair: Pair | None, wanted: Left) -> Pair:
    """What a branch leaves for a place, or does not."""
    if pair is None:
        nodes, run = on_tensors(lambda value: value, (wanted.value,), {})
        return run([zeros(node.type) for node in nodes]), no()
    value, when = pair
    return value, None if wanted.when is None else ever(None, when)


def _key(place: Place) -> tuple[int, str]:
    return id(place.owner), place.name


def zeros(type_: Any) -> Any:
    """A tensor of zeros."""
    return wrap(filled(0, type_.shape, type_.dtype))


def no() -> Any:
    """A boolean that does not hold."""
    return wrap(filled(0, (), ir.boolean))


def ever(was: Any, when: Any) -> Any:
    """Whether something was left before or is left now; None stands for nothing before, and for
    now in any case."""
    if when is None:
        return wrap(filled(1, (), ir.boolean))
    return when if was is None else was | when


def _refuse_stranger(region: str, place: Place) -> NoReturn:
    fail(
        TracedValueError, region,
        f"{place} is updated, and is no part of the arguments that are differentiated; nobody "
        "else takes it",
        hint="name the module by `argnums`, or call this inside `with nn.training() as context:`, "
        "and ask for `context.updated(module)`",
    )  # fmt: skip
