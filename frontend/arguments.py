"""The arguments of a compiled function: which are tensors, and what makes one call like another.

Comes in: positional and keyword arguments as a user gives them. Goes out: the nodes of the tensors
among them, and a hashable kind of everything else: one kind is traced and compiled once.
Never: a value of a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np

from ..ir.dims import Symbol
from ..ir.locations import Location
from ..ir.types import Tensor as TensorType
from ..runtime.device import Device, current_device
from .bundle import donate, peek
from .caller import user_line
from .dtypes import DEFAULTS
from .dynamic import Dynamic, OpenSizes
from .errors import ArgumentError, fail
from .exact import Exact
from .force import force
from .foreign import host_array_of, is_array
from .function import StandIn
from .functions.common import NUMBER_TYPES, copied
from .functions.common import number as constant_of
from .handle import Handle
from .lazy import is_lazy
from .leading import Opened, is_known_as, leading_sizes
from .narrow import Narrow, narrowed
from .node import Node, leaf, number_type, robbed
from .paths import argument_at
from .pending import PENDING, readers_of
from .sizes import whole
from .tree import LEAF, flatten


class Static(Exact):
    """An argument that Python reads while tracing; equal values are one kind."""

    __slots__ = ()


class Arguments:
    """The arguments of one call, taken apart: the nodes of tensors, and what they count as."""

    __slots__ = ("leaves", "nodes", "places", "sizes", "structure", "types")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        leaves, self.structure = flatten((args, kwargs), peek)
        self.leaves = [whole(leaf) for leaf in leaves]
        nodes = [leaf.node if isinstance(leaf, Handle) else None for leaf in self.leaves]
        home = device_of([node for node in nodes if node is not None])
        pairs = zip(nodes, self.leaves, strict=True)
        found = [_dynamic_node(given, home) if node is None else node for node, given in pairs]
        self.places = [place for place, node in enumerate(found) if node is not None]
        self.nodes = [node for node in found if node is not None]
        self.types: list[TensorType] = [node.type for node in self.nodes]
        self.sizes: dict[str, int] = {}

    @property
    def numbers(self) -> list[type | None]:
        """For each node the type of the Python number that it was made of, if it was."""
        leaves = self.leaves
        return [number_class(leaves[place]) for place in self.places]

    @property
    def kind(self) -> tuple[Any, ...]:
        """What decides how the function is compiled, and nothing else."""
        static = set(range(len(self.leaves))).difference(self.places)
        home = device_of(self.nodes)  # what is still to be computed may have none yet
        places = [id(each) for each in (home, *[node.device or home for node in self.nodes])]
        return (
            self.structure,
            tuple(self.types),
            tuple(places),  # there is one device of each name, for good
            tuple(self.numbers),
            tuple([(place, self._read(place)) for place in sorted(static)]),
        )

    def _read(self, place: int) -> Static:
        """What Python reads, as a part of a kind."""
        made = Static(bare(self.leaves[place]))
        try:
            hash(made)
        except TypeError as problem:
            what = f"{argument_at(self.structure, place)} is read while the function is traced"
            hint = "give what has a hash: a tuple, a frozenset, bytes; or make a tensor of it"
            fail(ArgumentError, "jit", f"{what}, and may change later: {problem}", hint=hint)
        return made

    def leading(self) -> list[Opened]:
        """For each node a symbol, if the size of its first axis may be another one."""
        first, arguments = 0, list[list[TensorType]]()
        for structure in [each for part in self.structure.children for each in part.children]:
            leaves = range(first, first := first + structure.count)
            pairs = zip(self.places, self.types, strict=True)
            arguments.append([type_ for place, type_ in pairs if place in leaves])
        return leading_sizes(arguments)

    def open(self, opened: Sequence[Opened]) -> dict[Symbol, int] | None:
        """Put symbols in the place of sizes; what they are, or None if they cannot be that."""
        numbers, types = dict[Symbol, int](), list(self.types)
        for at, symbol in enumerate(opened):
            if symbol is not None:
                if not is_known_as(symbol, types[at], numbers):
                    return None
                types[at] = types[at].with_shape((symbol, *types[at].shape[1:]))
        self.types = types
        return numbers

    def close(self) -> None:
        """Put the sizes themselves in their place again."""
        self.types = [node.type for node in self.nodes]

    @property
    def like(self) -> list[StandIn]:
        """What is known of each node while the function is traced."""
        return [
            StandIn(type_, None if number else node.device, number or number_type(node))
            for type_, number, node in zip(self.types, self.numbers, self.nodes, strict=True)
        ]

    def refuse_too_wide(self, narrow: Iterable[Narrow]) -> None:
        """Refuse an integer that is no value of the dtype that it becomes; what is itself an
        argument of what is traced around the call must be one there."""
        for place, dtype in narrow:
            leaf = self.leaves[self.places[place]]
            if isinstance(leaf, int):
                constant_of(leaf, dtype, "jit")
            else:
                narrowed(self.nodes[place], dtype)

    def rebuilt(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with these tensors in the places of their own, and static ones bare."""
        leaves = [bare(leaf) for leaf in self.leaves]
        for place, value in zip(self.places, values, strict=True):
            leaves[place] = value
        args, kwargs = self.structure.build(leaves)
        return args, kwargs


def device_of(nodes: Sequence[Node]) -> Device:
    """Where a function of these runs."""
    return next((node.device for node in nodes if node.device is not None), current_device())


def bare(value: Any) -> Any:
    """A static argument itself."""
    return value.value if isinstance(value, Static) else value


def number_class(value: Any) -> type | None:
    """The class of a Python number; None of anything else."""
    cls = type(value)
    return cls if cls in NUMBER_TYPES else None


def is_of_host(value: Any) -> bool:
    """Whether something goes into a function as a tensor, without being one: arrays, numbers."""
    return value.__class__ in NUMBER_TYPES or is_array(value)


def from_host(value: Any, device: Device) -> tuple[TensorType, Any]:
    """A copy of an array or a number on a device: its type, and its buffer."""
    if value.__class__ not in NUMBER_TYPES:
        return copied(host_array_of(value, "jit"), device, "jit")
    dtype = DEFAULTS[value.__class__]
    try:
        return copied(np.asarray(value, dtype.dtype), device, "jit")
    except OverflowError:
        hint = "mark the argument as static, or give it as a float"
        fail(ArgumentError, "jit", f"{value} is no {dtype}, as which it goes", hint=hint)


def _dynamic_node(value: Any, device: Device) -> Node | None:
    """The node of what goes into a function as a tensor; None of what does not."""
    if not is_of_host(value):
        return None
    type_, buffer = from_host(value, device)
    return leaf(buffer, type_, device, location=user_line())


def give_away(tree: Any, location: Location) -> None:
    """Let nobody read the tensors of a donated argument any more."""
    for node in _nodes_but(tree, partial(donate, location=location)):
        robbed(node, location)


def _nodes_but(tree: Any, is_taken: Callable[[Any], bool]) -> list[Node]:
    """The nodes of a tree's tensors, but of parts that are taken as a whole: they have none yet."""
    if is_taken(tree):
        return []
    nothing = list[Any](), LEAF
    leaves, _ = flatten(tree, lambda part: nothing if is_taken(part) else None)
    return [each.node for each in leaves if isinstance(each, Handle)]


Some = int | str | Collection[int | str]
"""Some parameters of a function: names, and places counted from 0."""


class Roles:
    """What a user says of parameters: static, donated, with open sizes."""

    def __init__(
        self, function: Callable[..., Any], static: Some, donated: Some, dynamic: Dynamic
    ) -> None:
        self.plain = not (_listed(static) or _listed(donated) or dynamic)
        parameters = None if self.plain else _parameters(function)
        self.parameters = tuple(parameters or ())
        self.static, self.static_names = _chosen("static", static, parameters)
        self.donated, self.donated_names = _chosen("donate", donated, parameters)
        _chosen("dynamic", tuple(dynamic), parameters)
        self.donates = bool(self.donated or self.donated_names)
        self.dynamic = OpenSizes(dynamic) if dynamic else None

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """The arguments of a call, taken apart as the roles say."""
        if self.plain:
            return Arguments(args, kwargs)
        made = Arguments(*self.marked(args, kwargs))
        if self.dynamic is not None:
            self._open(self.dynamic, made, args, kwargs)
        return made

    def marked(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call, where static ones say that they are."""
        return (
            tuple([Static(v) if at in self.static else v for at, v in enumerate(args)]),
            {name: Static(v) if name in self.static_names else v for name, v in kwargs.items()},
        )

    def donated_nodes(
        self, given: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[int, ...]:
        """Which of the nodes of some arguments are donated."""
        by_place, by_name = given.structure.children
        are_donated = [place in self.donated for place in range(len(args))]
        are_donated += [name in self.donated_names for name in kwargs]
        found, first = list[int](), 0
        children = (*by_place.children, *by_name.children)
        for is_donated, structure in zip(are_donated, children, strict=True):
            leaves = range(first, first := first + structure.count)
            if is_donated:
                found += [at for at, place in enumerate(given.places) if place in leaves]
        return tuple(found)

    def compute_readers(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compute what this thread has recorded of donated tensors: later nobody could."""
        if self.donates and (PENDING.handles or PENDING.taken):
            trees = self._donated_trees(args, kwargs)
            force(*readers_of([node for tree in trees for node in _nodes_but(tree, is_lazy)]))

    def give_away(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let nobody read the tensors of donated arguments any more."""
        if not self.donates:
            return
        line = user_line(3)  # to look at a frame takes long, and those in between are no user's
        for tree in self._donated_trees(args, kwargs):
            give_away(tree, line)

    def _donated_trees(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        trees = [args[place] for place in self.donated if place < len(args)]
        if self.donated_names:
            trees += [kwargs[name] for name in self.donated_names if name in kwargs]
        return trees

    def _open(
        self, dynamic: OpenSizes, made: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Put symbols in the place of the named sizes."""
        by_place, by_name = made.structure.children
        positional = [*self.parameters, *[""] * len(args)][: len(args)]
        names = (*positional, *kwargs)
        place = 0
        opened: set[str] = set()
        for name, structure in zip(names, (*by_place.children, *by_name.children), strict=True):
            if name in dynamic.axes and structure is LEAF and place in made.places:
                at = made.places.index(place)
                made.types[at] = dynamic.open(name, made.types[at], made.sizes)
                opened.add(name)
            place += structure.count
        for name in dynamic.axes.keys() - opened:
            fail(ArgumentError, "jit", f"{name} has named sizes, and is given no tensor")


def _listed(given: Some) -> tuple[Any, ...]:
    if isinstance(given, str) or not isinstance(given, Collection):
        return (given,)
    return tuple(given)


def _parameters(function: Callable[..., Any]) -> Mapping[str, Parameter] | None:
    """The parameters of a function by name; None where Python does not know them."""
    try:
        return signature(function).parameters
    except (TypeError, ValueError):
        return None


def _chosen(
    role: str, given: Some, parameters: Mapping[str, Parameter] | None
) -> tuple[frozenset[int], frozenset[str]]:
    """The places and the names of the parameters that have a role."""
    known = list((parameters or {}).values())
    places = [each.name for each in known if each.kind in _POSITIONAL]
    endless = parameters is None or any([each.kind is Parameter.VAR_POSITIONAL for each in known])
    found, names = set[int](), set[str]()
    for each in _listed(given):
        if isinstance(each, str):
            if each not in (parameters or {}):
                _refuse_parameter(each, parameters)
            names.add(each)
            if each in places:
                found.add(places.index(each))
            continue
        if not isinstance(each, int) or each < 0:
            problem = f"{role} takes names of parameters, or places counted from 0"
            fail(ArgumentError, "jit", problem, each)
        if not endless and each >= len(places):
            _refuse_parameter(each, parameters)
        found.add(each)
    return frozenset(found), frozenset(names)


def _refuse_parameter(given: int | str, parameters: Mapping[str, Parameter] | None) -> None:
    has = ", ".join(parameters or ()) or "none that are known"
    fail(ArgumentError, "jit", f"the function has no parameter {given!r}; it has {has}")


_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
