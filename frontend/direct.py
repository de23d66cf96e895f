"""The direct way into a compiled function: a function written for one kind of call.

Comes in: a call that has gone the quick way, and what was compiled for its kind. Goes out: a
function that sees whether another call is of this kind, takes its buffers, runs the step and makes
the tree of its results, with hardly a call in between; of any other call it gives back `OTHER`.
Never: a call that it takes for one of this kind, and the quick way would not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import Enum
from itertools import count
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any, NamedTuple

import numpy as np

from ..ir.types import Tensor as TensorType
from ..runtime.device import Device
from ..runtime.streams import leave_behind
from .arguments import Roles, Static, bare
from .bundle import Kind, tree_text
from .caller import user_line
from .entry import Entry, Sizes, Straight
from .force import retell
from .functions.common import NUMBER_TYPES
from .handle import Handle
from .lazy import BUNDLE, LazyDict, LazyList, is_lazy
from .pending import PENDING
from .quick import Quick
from .tree import BUILT_IN, LEAF, container_of
from .written import Text, tuple_of

OTHER = object()
"""What is given back of a call of another kind."""
Direct = Callable[[tuple[Any, ...], dict[str, Any]], Any]
_VALUES = (bool, int, float, complex, str, bytes, NoneType)
_NAMED = (type, FunctionType, BuiltinFunctionType, Enum)
"""Of both, one and the same object is always the same as a key; what is derived from a value may
say otherwise."""


class Given(NamedTuple):
    """A call that has gone the quick way: its kinds, each in its place, and its device."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    kinds: tuple[Any, ...]
    device: Device


def direct(given: Given, seen: Quick, roles: Roles, entry: Entry, sizes: Sizes) -> Direct | None:
    """The direct way for calls like this one; None where there is none."""
    straight = entry.straight(sizes, given.device)
    if straight is None:
        return None
    writer = _Writer(given, seen, roles)
    try:
        writer.take_call()
    except _Unwritten:
        return None
    writer.run_and_return(straight, entry, sizes)
    return writer.text.function("args, kwargs")


class _Unwritten(Exception):
    """A call that goes no direct way."""


class _Piece(NamedTuple):
    """What buffers are called in the text: one of them, or a piece of some."""

    name: str
    is_one: bool = False

    @property
    def listed(self) -> str:
        """The piece, where it may not be a buffer."""
        return f"({self.name},)" if self.is_one else self.name


class _Writer:
    """Writes what is done with the arguments of a call, in the order in which the quick way has
    put down their kinds."""

    def __init__(self, given: Given, seen: Quick, roles: Roles) -> None:
        self.given, self.seen, self.roles = given, seen, roles
        self.text, self.pieces = Text(), list[_Piece]()
        self._last: list[str] = []  # what is done once all is known to be of this kind
        self._places = iter(range(len(given.kinds)))
        self._names = count(1)
        self._says_device = False  # else calls go to the device that is the current one
        self._arguments: dict[int | str, str] = {}  # what they are called
        self._bundles: dict[str, str] = {}  # of those that nobody has looked into

    def take_call(self) -> None:
        """Write what is done with all arguments."""
        args, kwargs = self.roles.marked(self.given.args, self.given.kwargs)
        others = f"(*kwargs,) != {self.text.name(tuple(kwargs), 'names')}" if kwargs else "kwargs"
        self._other_if(f"len(args) != {len(args)} or {others}")
        self._arguments |= enumerate(self._take_each(args, "args"))
        if kwargs:
            next(self._places)  # where the quick way has put the names
            names = self._take_each(kwargs.values(), "kwargs.values()")
            self._arguments |= zip(kwargs, names, strict=True)
        if not self._says_device:
            raise _Unwritten
        self.text.add(*self._last)

    def run_and_return(self, straight: Straight, entry: Entry, sizes: Sizes) -> None:
        """Write how what was taken becomes what is returned."""
        text, roles, (plan, kind, _) = self.text, self.roles, straight
        counts = list[int]()
        tree = tree_text(kind, text, counts)

        def failed(problem: BaseException, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if isinstance(problem, Exception):
                retell(problem, plan, sizes)
            else:  # an interrupt
                leave_behind()
                roles.give_away(args, kwargs)

        if roles.donates:
            pending = text.name(PENDING, "pending")
            readers = text.name(roles.compute_readers, "compute_readers")
            text.add(f"if {pending}.handles or {pending}.taken:", f"    {readers}(args, kwargs)")
        run = self._run(straight, entry, tuple(counts))
        text.add("try:", f"    made = {run}", *self._give_away())
        text.add(
            "except BaseException as problem:",
            f"    {text.name(failed, 'failed')}(problem, args, kwargs)",
            "    raise",
            f"line = {text.name(entry.location, 'line')}",
            f"return {tree}",
        )

    def _run(self, straight: Straight, entry: Entry, counts: tuple[int, ...]) -> str:
        """The pieces of the results, made of those that were taken."""
        text, (plan, _, beside) = self.text, straight
        pieces = self.pieces
        if entry.takes_more:
            inputs, given = text.name(entry.inputs, "inputs"), [each.listed for each in pieces]
            device = text.name(self.given.device, "device")
            pieces = [_Piece(f"*{inputs}({tuple_of(given)}, {device})")]
        if beside.scalars:
            pieces = [*pieces, _Piece(text.name(beside.scalars, "beside"))]
        dealer = plan.executable.dealer(beside.sizes, counts)
        if dealer is not None:
            return f"{text.name(dealer, 'dealer')}({', '.join([each.name for each in pieces])})"
        asked = text.name(beside.sizes, "sizes"), text.name(counts, "counts")
        listed = tuple_of([each.listed for each in pieces])
        return f"{text.name(plan.executable, 'run')}({listed}, {', '.join(asked)})"

    def _give_away(self) -> list[str]:
        """How donated arguments are given away: bundles one by one, if all of them are some."""
        roles, text = self.roles, self.text
        donated = [self._arguments.get(each) for each in (*roles.donated, *roles.donated_names)]
        bundles = [self._bundles.get(name) for name in donated if name is not None]
        if not bundles:
            return []
        give_away = f"{text.name(roles.give_away, 'give_away')}(args, kwargs)"
        if None in bundles:
            return [f"    {give_away}"]
        lines = [f"    here = {text.name(user_line, 'user_line')}(2)"]
        for each in bundles:  # as `Bundle.donate` does
            lines += [f"    {each}.location, {each}.buffers = here, None"]
            lines += [f"    if {each}.opened:", f"        {give_away}"]
        return lines

    def _other_if(self, condition: str) -> None:
        """Say by what a call of another kind is seen."""
        self.text.add(f"if {condition}:", f"    return {self.text.name(OTHER, 'OTHER')}")

    def _is_not(self, name: str, cls: type) -> str:
        """The condition that something is not of a class."""
        return f"type({name}) is not {self.text.name(cls, 'cls')}"

    def _take_each(
        self, trees: Collection[Any], name: str, kinds: Sequence[Any] | None = None
    ) -> list[str]:
        """What is done with some trees side by side, which this makes; of known kinds, or of those
        that have places of their own. What each is called."""
        names = [f"given_{next(self._names)}" for _ in trees]
        if names:
            self.text.add(f"{tuple_of(names)} = {name}")
        for at, (tree, each) in enumerate(zip(trees, names, strict=True)):
            if kinds is None:
                place = next(self._places)
                self._take(tree, each, self.given.kinds[place], place)
            else:
                self._take(tree, each, kinds[at], -1)
        return names

    def _take(self, tree: Any, name: str, kind: Any, place: int) -> None:
        """What is done with one that has this name, of the kind at a place."""
        cls = type(tree)
        if cls is Static:
            self._is_same(bare(tree), name)
        elif issubclass(cls, Handle) and isinstance(kind, TensorType):
            self._take_tensor(name, kind)
        elif isinstance(kind, Kind):
            self._take_tree(tree, name, kind)
        elif cls in NUMBER_TYPES and kind is cls:
            self._other_if(self._is_not(name, cls))
            self._upload(name, place)
        elif cls is np.ndarray and isinstance(kind, TensorType):
            shape, dtype = self.text.name(tree.shape, "shape"), self.text.name(tree.dtype, "dtype")
            self._other_if(self._is_not(name, cls))
            self._other_if(f"{name}.shape != {shape} or {name}.dtype != {dtype}")
            self._upload(name, place)
        elif isinstance(kind, Static):
            self._is_same(tree, name)
        else:
            self._take_apart(tree, name)

    def _is_same(self, value: Any, name: str) -> None:
        """What Python reads: the very object, which is of a class that does not change."""
        if type(value) not in _VALUES and not isinstance(value, _NAMED):
            raise _Unwritten
        self._other_if(f"{name} is not {self.text.name(value, 'value')}")

    def _take_tensor(self, name: str, kind: TensorType) -> None:
        type_ = self.text.name(kind, "type")
        device = self.text.name(self.given.device, "device")
        self._other_if(self._is_not(name, Handle.kind))
        self.text.add(f"node = {name}.node", f"of_{name} = node.buffer")
        self._other_if(f"of_{name} is None or node.type is not {type_}")
        self._other_if(f"node.device is not {device} or node.tracked")
        self._says_device = True
        self.pieces.append(_Piece(f"of_{name}", is_one=True))

    def _take_tree(self, tree: Any, name: str, kind: Kind) -> None:
        """What is done with a tree of tensors."""
        self._says_device = self._says_device or kind.device is not None
        if is_lazy(tree):
            self._take_lazy(tree, name, kind)
        elif _is_small(kind):
            children = [each.types[0] if each.structure is LEAF else each for each in kind.children]
            self._take_apart(tree, name, children)
        else:
            self._take_known(name, kind)

    def _take_lazy(self, tree: Any, name: str, kind: Kind) -> None:
        """A tree that nobody has looked into."""
        cls, its_bundle = type(tree), f"{name}.bundle"
        if cls is not LazyDict and cls is not LazyList:
            attributes = f"{self.text.name(object.__getattribute__, 'look')}({name}, '__dict__')"
            its_bundle = f"{attributes}.get({BUNDLE!r})"
        self._other_if(self._is_not(name, cls))
        bundle = self._bundles[name] = f"bundle_of_{name}"
        self.text.add(f"{bundle} = {its_bundle}")
        self._other_if(f"{bundle} is None or {bundle}.kind is not {self.text.name(kind, 'kind')}")
        self.text.add(f"of_{name} = {bundle}.buffers")
        self._other_if(f"of_{name} is None")
        self.pieces.append(_Piece(f"of_{name}"))

    def _take_known(self, name: str, kind: Kind) -> None:
        """A tree that is read leaf by leaf."""
        find = self.seen.finder(kind.structure)
        if find is None:
            raise _Unwritten
        self.text.add(f"found = {self.text.name(find, 'find')}({name})")
        self._other_if(f"found is None or found[0] is not {self.text.name(kind, 'kind')}")
        self.text.add(f"of_{name} = found[1]")
        self.pieces.append(_Piece(f"of_{name}"))

    def _upload(self, name: str, place: int) -> None:
        """A number, or an array of the host, goes to the device when all else is known."""
        upload = self.text.name(self.seen.uploaded, "uploaded")
        device = self.text.name(self.given.device, "device")
        self._last.append(f"of_{name} = {upload}({place}, {name}, {device}).buffer")
        self.pieces.append(_Piece(f"of_{name}", is_one=True))

    def _take_apart(self, tree: Any, name: str, kinds: Sequence[Any] | None = None) -> None:
        """What is done with a container of Python, child by child."""
        cls = type(tree)
        plain = BUILT_IN.get(cls)
        if plain is None or container_of(cls) is not plain:
            raise _Unwritten
        known = f"{self.text.name(container_of, 'container_of')}({self.text.name(cls, 'cls')})"
        self._other_if(f"{self._is_not(name, cls)} or {known} is not {self.text.name(plain, 'as')}")
        if cls is NoneType:
            return
        trees, children = (tree.values(), f"{name}.values()") if cls is dict else (tree, name)
        if cls is dict:
            keys = self.text.name(frozenset([tuple(tree)]), "keys")
            self._other_if(f"(*{name},) not in {keys}")
        self.text.add(f"in_{name} = (*{children},)")  # at once, whatever other threads do to it
        self._other_if(f"len(in_{name}) != {len(tree)}")
        self._take_each(trees, f"in_{name}", kinds)


_SMALL = 8
"""Trees of so few leaves are taken apart in the text."""


def _is_small(kind: Kind) -> bool:
    """Whether a tree has few leaves, in containers of Python."""
    cls = kind.structure.cls
    if cls is None:
        return True
    is_plain = kind.container is BUILT_IN.get(cls)
    return is_plain and kind.structure.count <= _SMALL and all(map(_is_small, kind.children))
