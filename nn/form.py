"""What a module is but for its tensors: its class, its settings, which children it has.

Comes in: names of attributes, and values of those that are settings. Goes out: a `Form`; equal
forms are one object, so that modules are told apart quickly.
Never: a tensor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..frontend.errors import ArgumentError, fail
from ..frontend.exact import exact
from ..ir.shared.interned import Unique

Settings = tuple[tuple[str, Any], ...]


class Content(NamedTuple):
    """What a form consists of.

    `children` are the attributes that are tensors, modules and containers of these. Of them
    `buffers` are tensors that are no parameters, `frozen` parameters that stay as they are; so are
    attributes of these names that are None when they are tensors.
    """

    cls: type
    children: tuple[str, ...]
    settings: Settings
    buffers: frozenset[str]
    frozen: frozenset[str]


class Form:
    """A content that exists once; `constants` are the children that are not differentiated.

    Two are equal if their keys are: their contents, by which numbers are told apart exactly.
    """

    __slots__ = ("__weakref__", "constants", "content", "key", "settings")

    def __init__(self, content: Content, key: Content) -> None:
        self.content, self.key = content, key
        self.settings = dict(content.settings)
        self.constants = content.buffers | content.frozen

    def __reduce__(self) -> tuple[Any, ...]:
        return form_of, (self.content,)


_FORMS = Unique[Form]()


def form_of(content: Content) -> Form:
    """The one form of this content."""
    settings = tuple([(name, exact(value)) for name, value in content.settings])
    key = content._replace(settings=settings)
    try:
        found = _FORMS.get(key)
    except TypeError:
        _refuse(content.cls, content.settings)
        raise
    return found or _FORMS.keep(Form(content, key))


def _refuse(cls: type, settings: Settings) -> None:
    """Name the setting that cannot be one."""
    for name, value in settings:
        try:
            hash(value)
        except TypeError:
            problem = f"the attribute {name} is neither a tensor nor hashable"
            hint = "make it a tensor with `bs.asarray`, or a tuple"
            fail(ArgumentError, cls.__name__, problem, value, hint=hint)
