"""Which leaves of a function's arguments a transformation works on.

Comes in: arguments, and the numbers of those that are meant (None for all). Goes out: the inexact
tensors among their leaves, and trees of what belongs to each.
Never: a derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any

from ..ir import dtypes as ir
from .errors import ArgumentError, DTypeError, fail, shown
from .foreign import host_array_of, is_foreign
from .function import Traced, stand_in, trace
from .functions.common import as_node
from .handle import Handle, wrap
from .node import Node
from .paths import constants_of
from .tree import flatten, leaves_of


class Selection:
    """The inexact leaves of some arguments, but for constant ones, and where they belong."""

    def __init__(self, name: str, args: Sequence[Any], argnums: int | Sequence[int] | None) -> None:
        self.name, self.args = name, tuple(args)
        self.single = isinstance(argnums, int)
        listed = range(len(args)) if argnums is None else self._listed(argnums)
        self.argnums = tuple([self._place(each) for each in listed])
        if len({*self.argnums}) < len(self.argnums):
            fail(ArgumentError, name, f"an argument is named twice by {shown(argnums)}")
        leaves, self.structure = flatten(self.chosen)
        self.leaves = [host_array_of(each, name) if is_foreign(each) else each for each in leaves]
        constant = constants_of(self.structure)
        inexact = [at for at, leaf in enumerate(self.leaves) if _is_inexact(leaf)]
        self.places = [at for at in inexact if at not in constant]
        self.nodes = [as_node(self.leaves[at], name) for at in self.places]
        if not self.nodes:
            fail(
                DTypeError, name, "there is nothing to differentiate: no argument named is a "
                "tensor of floats that may change", *self.leaves[:4],
                hint="cast it with `x.astype(bs.float32)`; what is frozen must be unfrozen",
            )  # fmt: skip

    def _listed(self, argnums: Any) -> tuple[int, ...]:
        try:
            return (argnums,) if self.single else tuple([index(each) for each in argnums])
        except TypeError:
            problem = f"`argnums` is the number of an argument, or several, not {shown(argnums)}"
            fail(ArgumentError, self.name, problem)

    def _place(self, number: int) -> int:
        if not -len(self.args) <= number < len(self.args):
            problem = f"argument {number} is named, and {len(self.args)} are given"
            fail(ArgumentError, self.name, problem)
        return number % len(self.args)

    @property
    def chosen(self) -> Any:
        """The argument that is meant, or a tuple of those."""
        if self.single:
            return self.args[self.argnums[0]]
        return tuple([self.args[each] for each in self.argnums])

    def put(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """All arguments, with these values in the places of the chosen leaves."""
        leaves = list(self.leaves)
        for place, value in zip(self.places, values, strict=True):
            leaves[place] = value
        made = self.structure.build(leaves)
        chosen = [made] if self.single else made
        args = list(self.args)
        for place, value in zip(self.argnums, chosen, strict=True):
            args[place] = value
        return tuple(args)

    def trace(self, kind: str, function: Callable[..., Any], kwargs: Mapping[str, Any]) -> Traced:
        """The function of the chosen leaves alone; the others are read from outside."""
        like = [stand_in(node) for node in self.nodes]
        return trace(kind, lambda values: function(*self.put(values), **kwargs), like)

    def operands(self, traced: Traced) -> tuple[list[Node], tuple[bool, ...]]:
        """What the traced func is called on, and which of these are the chosen leaves."""
        captures = traced.captures
        return [*self.nodes, *captures], (True,) * len(self.nodes) + (False,) * len(captures)

    def tree(self, nodes: Sequence[Node]) -> Any:
        """A tree like the chosen arguments, with None for leaves that are not inexact."""
        leaves: list[Any] = [None] * len(self.leaves)
        for place, node in zip(self.places, nodes, strict=True):
            leaves[place] = wrap(node)
        return self.structure.build(leaves)

    def given(self, trees: tuple[Any, ...]) -> list[Node]:
        """The tangents in trees like the arguments."""
        from .grad import checked

        leaves = leaves_of(trees)
        if len(leaves) == len(self.leaves):
            leaves = [leaves[place] for place in self.places]
        if len(leaves) != len(self.nodes):
            problem = f"{len(leaves)} tangents were given for {len(self.nodes)} tensors"
            fail(ArgumentError, self.name, problem, hint="give a tree like the arguments")
        return [checked(self.name, *pair) for pair in zip(leaves, self.nodes, strict=True)]


def _is_inexact(leaf: Any) -> bool:
    """Whether a leaf has derivatives: a tensor of floats or complex numbers, or such a number."""
    if isinstance(leaf, Handle):
        return leaf.node.type.dtype in ir.INEXACT
    dtype = getattr(leaf, "dtype", None)
    return isinstance(leaf, float | complex) or getattr(dtype, "kind", "") in ("f", "c")
