"""Compiling functions: traced once for each kind of arguments, then run as one compiled step.

Comes in: a function of trees of tensors. Goes out: a function that does the same, and says what it
does: `lower`, `explain`. What is neither tensor nor number among the arguments is part of the kind;
where sizes depend on values there are several steps (`stages.py`).
Never: a value baked in, but those that the function reads from outside when it is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, update_wrapper
from typing import Any

from ..ir.shared.cache import Cache
from ..passes.handled import is_of_handler
from ..runtime.device import Device, current_device
from ..runtime.steps import Plan, plan
from ..runtime.streams import INTERRUPTIBLE
from ..targets import Memory
from .arguments import Arguments, Roles, Some, device_of
from .bounds import Bounds
from .bundle import kind_of
from .caller import beginning, is_own
from .changing import Changing
from .direct import OTHER, Direct, Given, direct
from .dynamic import Dynamic
from .entry import Entry, Runner, Sizes
from .errors import expect_functions
from .explain import explain_traced
from .explanation import Explanation, Lowered
from .force import Pieces, buffers_on, force, refuse_elsewhere
from .function import Traced, call, trace
from .handle import wrap
from .hidden import hidden_nodes, hide
from .leading import Opened
from .node import Node
from .openings import KINDS_AT_MOST, SIZES_AT_MOST, Openings
from .quick import Quick
from .stages import plan_stages
from .surroundings import KEY_PARAMETER, current_surroundings, handed_on, unsurrounded, within
from .trace import Trace, current_trace
from .unseen import Unseen
from .updates import around, collected


def jit(
    function: Callable[..., Any] | None = None,
    *,
    static: Some = (),
    donate: Some = (),
    dynamic: Dynamic | None = None,
) -> Any:
    """Compile a function: it is traced for each kind of arguments, and then runs as one step.

    `static` names parameters (or counts them from 0) that Python reads while tracing: each value
    of theirs is a kind of its own. Tensors of parameters that `donate` names (or counts) may not
    be read again: the results take their memory. `dynamic={"x": {0: "batch"}}` leaves axis 0 of
    x open: one step serves all its sizes.
    """
    if function is None:
        return lambda decorated: jit(decorated, static=static, donate=donate, dynamic=dynamic)
    expect_functions("jit", function)

    def roles(plain: Callable[..., Any]) -> Roles:
        return Roles(plain, static, donate, dynamic or {})

    return Jitted(function, roles)


def explain(function: Callable[..., Any]) -> Callable[..., Explanation]:
    """A function that says what `function`, compiled, does with its arguments: its kernels, with
    your lines, what each moves, and why they are not fewer. Nothing runs."""
    compiled = function if isinstance(function, Jitted) else jit(function)
    return compiled.explain


OFTEN = 16
"""Every so many calls of a kind on the quick way, its direct way is made, or tried first again."""
_DIRECT_AT_MOST = 4
"""So many direct ways are tried."""


class Route:
    """What is compiled for one kind of arguments, where its open sizes are these, what runs it on
    their buffers, and how often it was found the quick way."""

    __slots__ = ("calls", "direct", "entry", "goes_direct", "run", "sizes")

    def __init__(self, entry: Entry, sizes: Sizes) -> None:
        self.entry, self.sizes, self.run = entry, sizes, entry.runner(sizes)
        self.calls, self.goes_direct = 0, True
        self.direct: Direct | None = None


class Jitted:
    """A compiled function; called like the function itself."""

    def __init__(
        self, function: Callable[..., Any], roles: Callable[[Callable[..., Any]], Roles]
    ) -> None:
        update_wrapper(self, function, updated=())
        self.function, self.roles, self._roles_of = function, roles(function), roles
        self.location = beginning(function)
        self._entries: Cache[Any, Entry] = Cache(KINDS_AT_MOST)
        self._openings: Openings[Entry] = Openings()
        self._is_plain = self.roles.dynamic is not None
        self._quick: Cache[Any, Route] = Cache(SIZES_AT_MOST)
        self._direct: tuple[Direct, ...] = ()
        self._seen = Quick(self.roles)
        self._surrounded: dict[bool, Jitted] = {}
        self._changing = Changing()
        self._draws = False  # whether anything that is compiled draws random numbers

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """A compiled function may be a method, too."""
        return self if owner is None else partial(self, owner)

    def __reduce__(self) -> str:
        """A copy of a function is the function; elsewhere it is known by its name."""
        return self.function.__qualname__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if around() and collected() is not None:
            return self._within(args, kwargs)
        if self._draws and current_trace() is not None:
            return self._call(args, kwargs)
        for way in self._direct:
            made = way(args, kwargs)
            if made is not OTHER:
                return made
        made = self._quickly(args, kwargs) if self._quick else OTHER
        return self._call(args, kwargs) if made is OTHER else made

    def _quickly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call, if its kind is known and no argument need be taken apart; else `OTHER`."""
        key, device, pieces = self._seen.kind(args, kwargs)
        known = self._quick.get(key) or self._reopened(key)
        if key is None or known is None:
            return OTHER
        device = device or current_device()
        known.calls += 1
        if known.calls % OFTEN == 0 and known.goes_direct:
            self._go_direct(known, Given(args, kwargs, key, device))
        if self.roles.donates:
            return self._run(known.run, (pieces, device), args, kwargs)
        return known.run(pieces, device)

    def _reopened(self, key: Any) -> Route | None:
        """The route of a kind that differs from a known one in sizes at which the function never
        looked; None if there is no such thing."""
        found = None if key is None else self._openings.find_quick(key)
        return None if found is None else self._learned(key, found, None)

    def _learned(self, key: Any, entry: Entry, sizes: Mapping[str, int] | None) -> Route:
        """The route of a kind from now on."""
        return self._quick.put(key, Route(entry, sizes))

    def _go_direct(self, route: Route, given: Given) -> None:
        """Let calls of a kind go the direct way from now on, if there is one."""
        made = route.direct or direct(given, self._seen, self.roles, route.entry, route.sizes)
        route.direct, route.goes_direct = made, made is not None
        if made is not None:
            others = [each for each in self._direct if each is not made]
            self._direct = (made, *others)[:_DIRECT_AT_MOST]

    def _within(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call where somebody has said something around it, or wants what it leaves: a step for
        each kind of what was said.

        As a part of what is being traced the function runs as it is.
        """
        if current_trace() is not None:
            return self.function(*args, **kwargs)
        said = current_surroundings()
        training = said is not None and said.training
        inner = self._surrounded.get(training)
        if inner is None:
            made = Jitted(within(self.function, training), self._roles_of)
            inner = self._surrounded.setdefault(training, made)
        key = None if said is None else said.key
        with unsurrounded():
            made = inner(*args, **kwargs, **({} if key is None else {KEY_PARAMETER: key}))
        return handed_on(made, args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with INTERRUPTIBLE:
            return self._taken_apart(args, kwargs)

    def _taken_apart(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call of which nothing is known, or whose arguments must be taken apart."""
        given = self.roles.arguments(args, kwargs)
        if _are_recorded(given.nodes):
            return self._record(self._traced(given), given, args, kwargs)
        entry = self._known(given, args, kwargs)
        if isinstance(entry, Traced):
            return self._record(entry, given, args, kwargs)
        if _draws_again(entry.traced):
            return self._record(entry.traced, given, args, kwargs)
        narrow, device = entry.traced.narrow, device_of(given.nodes)
        given.refuse_too_wide(narrow)
        if entry.home not in (None, device):
            return self._at_home(entry.home, given, args, kwargs)
        # Where what has no device yet goes, whichever is meant around the call.
        device.around(partial(force, *given.nodes))
        sizes = given.sizes or None
        key, its_device, pieces = self._seen.kind(args, kwargs, learning=True)
        if key is None or narrow:  # who comes quickly does not look at what is narrow
            on = [buffers_on(device, given.nodes)], device
            return self._run(entry.runner(sizes), on, args, kwargs)
        run = self._learned(key, entry, sizes).run
        self._openings.learn(given, key)
        del given  # what nobody else sees of a tree can be taken over as a whole
        return self._run(run, (pieces, its_device or device), args, kwargs)

    def _at_home(
        self, home: Device, given: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The call where what the function takes from outside is: numbers and arrays go there."""
        if current_device() is home:
            refuse_elsewhere(home, given.nodes)
        return home.around(lambda: self._taken_apart(args, kwargs))

    def _known(
        self, given: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Entry | Traced:
        """What is compiled for arguments of this kind, which is kept, or only traced, which is
        not."""
        kind = given.kind
        entry = self._entries.get(kind) or self._openings.find(given)
        if entry is None:
            self._changing.count(given, kind, self.function)
            made = self._entry(given, args, kwargs)
            entry = made if isinstance(made, Traced) else self._entries.put(kind, made)
        return entry

    def _entry(
        self, given: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Entry | Traced:
        """What is compiled for arguments of a new kind; if it reads what keeps a history, or draws
        for what is being traced, only what was traced."""
        traced, opened = self._traced_open(given)
        sizes = given.open(opened) or {}
        if _are_recorded(traced.captures) or _draws_again(traced):
            return traced.at(sizes)
        entry = self._compiled(traced, given, self.roles.donated_nodes(given, args, kwargs))
        return self._openings.add(given, opened, sizes, entry) if sizes else entry

    def _compiled(self, traced: Traced, given: Arguments, donated: Sequence[int]) -> Entry:
        force(*traced.captures)
        self._draws = self._draws or bool(traced.drawers)
        device = device_of([*traced.captures, *given.nodes])
        types, stages = traced.results, traced.stages
        are_tensors = len(traced.places) == traced.structure.count
        if stages is None:
            plans = (plan(traced.func, device, donated, by_lines=True),)
        else:
            plans = plan_stages(stages, device)
        return Entry(
            traced,
            tuple([device.target.keep(each) for each in buffers_on(device, traced.captures)]),
            plans,
            types,
            kind_of(traced.structure, types, device) if are_tensors else None,
            self.location,
        )

    def _traced_open(self, given: Arguments) -> tuple[Traced, Sequence[Opened]]:
        """The function as a func, for all sizes at which it does not look, and which these are.

        What is refused with symbols is tried again with plain sizes, and has these from then on; so
        has what is a part of another function, or has symbols of its own.
        """
        nothing = [None] * len(given.nodes)
        if self._is_plain or current_trace() is not None:
            return self._traced(given), nothing
        opened = given.leading()
        numbers = given.open(opened)
        if numbers:
            unseen = Unseen(numbers)
            try:
                traced = self._traced(given, unseen)
            except Exception as problem:
                is_theirs = is_own(problem) and not unseen.may_explain(problem)
                unseen.look_at_what_is_kept()
                if is_of_handler(problem) or is_theirs:
                    raise
                unseen.refused = True
            given.close()
            if not unseen.refused:
                return traced, [each if each in unseen.left else None for each in opened]
        traced = self._traced(given)
        self._is_plain = bool(numbers)
        return traced, nothing

    def _run(
        self, run: Runner, on: tuple[Pieces, Device], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run a compiled function; what was donated is given away, also if somebody interrupts."""
        self.roles.compute_readers(args, kwargs)
        try:
            made = run(*on)
            self.roles.give_away(args, kwargs)
        except Exception:
            raise
        except BaseException:
            self.roles.give_away(args, kwargs)
            raise
        return made

    def _traced(self, given: Arguments, unseen: Unseen | None = None) -> Traced:
        """The function as a func, for this kind of arguments."""

        def run(values: list[Any]) -> Any:
            args, kwargs = given.rebuilt(values)
            return self.function(*args, **kwargs)

        return trace("jit", run, given.like, partial(_prepare, unseen))

    def _record(
        self, traced: Traced, given: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The call as a part of what is being traced, or keeps a history.

        There it has no stages, and no open sizes: those belong to what is around it.
        """
        if traced.stages is not None or given.sizes:
            return self.function(*args, **kwargs)
        given.refuse_too_wide(traced.narrow)
        hidden = hidden_nodes(traced.drawers)
        results = call(traced.func, [*given.nodes, *hidden, *traced.captures])
        return traced.rebuild([wrap(each) for each in results])

    @property
    def plans(self) -> list[Plan]:
        """The compiled steps, one for each kind of arguments so far, or for each of its stages, and
        of what has been said around a call."""
        own = [plan for entry in self._all_entries() for plan in entry.plans]
        return own + [plan for inner in [*self._surrounded.values()] for plan in inner.plans]

    def _all_entries(self) -> Iterable[Entry]:
        """What is compiled, for one kind of arguments each, whichever way they came."""
        entries = [*self._entries.values()]  # at once, whatever other threads do
        known = (*entries, *[each.entry for each in self._quick.values()])
        return {id(each): each for each in known}.values()

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The function as IR, for arguments of this kind; nothing runs."""
        return Lowered(self._traced(self.roles.arguments(args, kwargs)))

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """What the function does with arguments of this kind, in words."""
        given = self.roles.arguments(args, kwargs)
        traced, opened = self._traced_open(given)
        sizes = given.open(opened) or {}
        given.sizes |= {symbol.name: size for symbol, size in sizes.items()}
        device = device_of([*traced.captures, *given.nodes])
        plans = [entry.plans for entry in self._all_entries()]
        donated = self.roles.donated_nodes(given, args, kwargs)
        func = traced.at(sizes).func
        return explain_traced(self.function, traced, func, given, device, plans, donated)

    def memory(self, *args: Any, **kwargs: Any) -> Memory | None:
        """How many bytes a call with arguments of this kind takes, as it is planned; nothing runs.

        None where nothing is planned: on the device `reference`, where data decide sizes, and where
        the call keeps a history or is a part of what is being traced.
        """
        given = self.roles.arguments(args, kwargs)
        if _are_recorded(given.nodes):
            return None
        entry = self._known(given, args, kwargs)
        if isinstance(entry, Traced) or len(entry.plans) != 1:
            return None
        return entry.plans[0].memory(given.sizes)

    def __repr__(self) -> str:
        return f"<jit of {getattr(self.function, '__qualname__', self.function)}>"


def _are_recorded(nodes: Sequence[Node]) -> bool:
    """Whether some of them are of what is being traced, or keep a history."""
    return any([node.trace is not None or node.tracked for node in nodes])


def _draws_again(traced: Traced) -> bool:
    """Whether it is for something that is being traced to draw, in each call of that."""
    return bool(traced.drawers) and current_trace() is not None


def _prepare(unseen: Unseen | None, current: Trace, arguments: list[Node]) -> None:
    """Let data decide sizes, and random numbers come from further arguments, made when needed."""
    if unseen is not None:
        current.unseen = unseen
        unseen.nodes += arguments
    hide(current)
    current.bounds = Bounds(current)
