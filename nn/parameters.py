"""The tensors of a model by path: parameters, buffers, what is frozen, what matches a pattern.

Comes in: modules, and regular expressions that are searched for in paths. Goes out: dicts from
paths to tensors, in order, and modules that are frozen elsewhere.
Never: a value of a tensor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from ..frontend.errors import ArgumentError, fail
from ..frontend.handle import Handle
from ..frontend.tree import container_of
from .form import form_of
from .module import FORM, Module, attributes, form


class Leaf(NamedTuple):
    """A tensor of a model; `owner` is the module that has it, in the attribute `name`."""

    path: str
    tensor: Any
    owner: Module | None
    name: str

    @property
    def is_buffer(self) -> bool:
        """Whether it is no parameter."""
        return self.owner is not None and self.name in form(self.owner).content.buffers

    @property
    def is_frozen(self) -> bool:
        """Whether it is a parameter that stays as it is."""
        return self.owner is not None and self.name in form(self.owner).content.frozen


def leaves(tree: Any) -> Iterator[Leaf]:
    """The tensors of a tree, in order."""
    yield from _leaves(tree, "", None, "")


def params(tree: Any, pattern: str = "", frozen: bool = False) -> dict[str, Any]:
    """The parameters that are trained, by path; with `frozen` the others, too."""
    wanted = re.compile(pattern)
    return by_path(
        "params",
        [
            each
            for each in leaves(tree)
            if not each.is_buffer and (frozen or not each.is_frozen) and wanted.search(each.path)
        ],
    )


def buffers(tree: Any) -> dict[str, Any]:
    """The tensors that are no parameters, by path."""
    return by_path("buffers", [each for each in leaves(tree) if each.is_buffer])


def by_path(operation: str, found: Iterable[Leaf]) -> dict[str, Any]:
    """Tensors by path, none of which takes another one's place."""
    made: dict[str, Any] = {}
    for each in found:
        if each.path in made:
            problem = f"two tensors have the path {each.path}"
            hint = "give dicts keys that differ as text, and have no dots"
            fail(ArgumentError, operation, problem, hint=hint)
        made[each.path] = each.tensor
    return made


def with_frozen(module: Module, pattern: str, wanted: bool) -> Any:
    """The module with the parameters that match frozen, or else no longer frozen."""
    operation = "freeze" if wanted else "unfreeze"
    try:
        searched = re.compile(pattern)
    except (re.error, TypeError) as problem:
        hint = 'a pattern is a text of `re`, such as r"^encoder\\."'
        fail(ArgumentError, operation, f"{problem}", pattern, hint=hint)
    matching = {
        each.path for each in leaves(module) if not each.is_buffer and searched.search(each.path)
    }
    if not matching:
        paths = list(params(module, frozen=True))
        near = get_close_matches(pattern, paths, 3, 0.3) or paths[:3]
        problem = f"no parameter matches {pattern!r}"
        fail(ArgumentError, operation, problem, hint=f"there are {', '.join(near) or 'none'}")
    return _changed(module, "", matching, wanted)


def _leaves(tree: Any, path: str, owner: Module | None, name: str) -> Iterator[Leaf]:
    if isinstance(tree, Handle):
        yield Leaf(path, tree, owner, name)
    for child_name, child in named(tree):
        below = f"{path}.{child_name}" if path else child_name
        if isinstance(tree, Module):
            yield from _leaves(child, below, tree, child_name)
        else:
            yield from _leaves(child, below, owner, name)


def named(tree: Any) -> list[tuple[str, Any]]:
    """The children of a container with their names; none of what is no container."""
    container = container_of(type(tree))
    if container is None:
        return []
    children, static = container.open(tree)
    return list(zip(container.names(static, len(children)), children, strict=True))


def rebuilt(tree: Any, change: Callable[[str, Any], Any]) -> Any:
    """A container with `change` of each child and its name; the same object if none changes."""
    container = container_of(type(tree))
    if container is None:
        return tree
    children, static = container.open(tree)
    names = container.names(static, len(children))
    made = [change(name, child) for name, child in zip(names, children, strict=True)]
    if all([new is old for new, old in zip(made, children, strict=True)]):
        return tree
    return container.close(static, made)


def _changed(tree: Any, path: str, matching: set[str], wanted: bool) -> Any:
    """The tree with attributes frozen, or not, where their tensors match."""

    def below(name: str, child: Any) -> Any:
        return _changed(child, f"{path}.{name}" if path else name, matching, wanted)

    made = rebuilt(tree, below)
    if not isinstance(tree, Module):
        return made
    content = form(made).content
    found = {
        name
        for name in content.children
        if (name in content.frozen) != wanted and _matches(tree, name, path, matching, wanted)
    }
    frozen = content.frozen | found if wanted else content.frozen - found
    return _with_form(made, content._replace(frozen=frozen))


def _matches(owner: Module, name: str, path: str, matching: set[str], wanted: bool) -> bool:
    """Whether all tensors of an attribute match that has tensors of its own; modules in it say
    themselves what is frozen, but in a frozen attribute all is."""
    whole = f"{path}.{name}" if path else name
    inside = _leaves(getattr(owner, name), whole, owner, name)
    parameters = [each for each in inside if not each.is_buffer]
    chosen = [each for each in parameters if each.path in matching]
    if not chosen or all([each.owner is not owner for each in parameters]):
        return False
    is_own = any([each.owner is owner for each in chosen])
    if len(chosen) < len(parameters) and (is_own or not wanted):
        operation = "freeze" if wanted else "unfreeze"
        problem = f"{chosen[0].path} matches, and not all of {whole}, whose tensors go together"
        fail(ArgumentError, operation, problem, hint="match all of them, or give them modules")
    return len(chosen) == len(parameters)


def _with_form(module: Module, content: Any) -> Module:
    made = object.__new__(type(module))
    vars(made).update(attributes(module) | {FORM: form_of(content)})
    return made
