"""Modules: models and their parts, as frozen trees of tensors.

Comes in: a class with a method `forward`, whose `__init__` sets attributes. Goes out: objects that
are called, and that every transformation takes for trees: tensors, modules and containers of these
are children, everything else is a setting, which Python reads while a function is traced.
Never: a change to a module that is made; each change makes another one.
"""

from __future__ import annotations

import dataclasses
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import Signature, get_annotations, signature
from typing import TYPE_CHECKING, Any, Self

from ..frontend.dtypes import DType
from ..frontend.elsewhere import OF_MODULES, tell
from ..frontend.errors import ArgumentError, BrimstoneError, fail
from ..frontend.functions.types import isdtype
from ..frontend.handle import Handle
from ..frontend.tree import Container, container_of, register_container, tree_map
from ..frontend.updates import leave, stands_for
from .form import Content, Form, form_of
from .scope import called, forward_of, located, parts_of, returned

FORM = "_brimstone_form"
"""The attribute of a module that holds its form, once it is made."""
MARKED = "_brimstone_buffers"
"""The attribute of one that is being made which holds the names of its buffers."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Marked:
    """A tensor that is to be a buffer."""

    tensor: Any


def Buffer(tensor: Any) -> Any:
    """Marks a tensor of a module that is no parameter: `self.mean = nn.Buffer(bs.zeros(3))`."""
    return _Marked(tensor)


class _Making(ABCMeta):
    """Modules are frozen once `__init__` has ended, and may be abstract."""

    if not TYPE_CHECKING:  # to type checkers, what makes a module is its `__init__`

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            made = super().__call__(*args, **kwargs)
            _freeze(made)
            return made

    @property
    def __signature__(cls) -> Signature:
        """What tools show that the class takes: what its `__init__` does, but for `self`."""
        known = signature(cls.__init__)
        return known.replace(parameters=[*known.parameters.values()][1:])


class Module(metaclass=_Making):
    """A model, or a part of one.

    `__init__` sets attributes, or is made of the annotations of the class, like a dataclass's (type
    checkers see that of a `Record`). `forward` says what a call does.
    """

    if TYPE_CHECKING:  # made of annotations, or of none: what it takes is known when it runs

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__dict__.get("__slots__"):
            problem = "a module's attributes are found in its `__dict__`, and `__slots__` are not"
            fail(ArgumentError, cls.__name__, problem, hint="leave `__slots__` out")
        written = [base for base in cls.__mro__[:-1] if "__init__" in base.__dict__]
        is_told = get_annotations(cls) or "__post_init__" in cls.__dict__
        if is_told and all(["__dataclass_fields__" in base.__dict__ for base in written]):
            dataclasses.dataclass(repr=False, eq=False)(cls)

    @property
    def __signature__(self) -> Signature:
        """What tools show that a call takes, and whose names `jit` knows: what `forward` does."""
        return signature(self.forward if type(self).__call__ is Module.__call__ else self.__call__)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What a call computes."""
        problem = f"{type(self).__name__} does not say what a call does"
        fail(ArgumentError, "forward", problem, hint="define the method `forward`")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with called(self):
            try:
                return returned(self, forward_of(self)(*args, **kwargs))
            except BrimstoneError as error:
                located(error, self)
                raise

    def update(self, **values: Any) -> None:
        """Leave new values for tensors of this module, such as running means.

        `bs.value_and_grad(..., updates=True)` returns the tree that has them, and so does
        `context.updated(model)` of `with nn.training() as context`.
        """
        children = form(self).content.children
        for name, value in values.items():
            if name not in children:
                _refuse_name(self, "update", name, children)
            if isinstance(getattr(self, name), Handle) and not isinstance(value, Handle | None):
                problem = f"{name} is a tensor, and so is what takes its place"
                hint = "make it one with `bs.asarray`"
                fail(ArgumentError, "update", problem, value, hint=hint)
            leave(self, name, value)

    def replace(self, **values: Any) -> Self:
        """A module with other values for some attributes."""
        known = attributes(self)
        for name in values.keys() - known.keys():
            _refuse_name(self, "replace", name, tuple(known))
        made = object.__new__(type(self))
        for name, value in (known | values).items():
            setattr(made, name, value)
        _freeze(made, form(self).content)
        return made

    def params(self, pattern: str = "", frozen: bool = False) -> dict[str, Any]:
        """The parameters that are trained, by path; with `frozen`, also those that are not.

        `pattern` is a regular expression that is searched for in the paths.
        """
        from .parameters import params

        return params(self, pattern, frozen)

    def buffers(self) -> dict[str, Any]:
        """The tensors that are no parameters, by path."""
        from .parameters import buffers

        return buffers(self)

    def modules(self) -> dict[str, Module]:
        """This module, under the path "", and those inside it, outer ones first."""
        return dict(parts_of(self))

    def freeze(self, pattern: str = "") -> Self:
        """A module whose parameters stay as they are, where the pattern is found in their paths."""
        from .parameters import with_frozen

        return with_frozen(self, pattern, True)

    def unfreeze(self, pattern: str = "") -> Self:
        """A module whose parameters are trained again, where the pattern is found."""
        from .parameters import with_frozen

        return with_frozen(self, pattern, False)

    def state_dict(self) -> dict[str, Any]:
        """All tensors by path, parameters and buffers."""
        from .state import state_dict

        return state_dict(self)

    def load_state_dict(self, tensors: Mapping[str, Any], strict: bool = True) -> Self:
        """A module with these tensors in the place of its own; this one stays as it is.

        What is missing, unexpected or of another shape is told in one message; unless it is
        `strict`, only shapes must fit.
        """
        from .state import loaded

        return loaded(self, tensors, strict)

    def to(self, target: Any) -> Self:
        """The module with its floats in another dtype, or with all tensors on another device."""
        return self.map(lambda tensor: _moved(tensor, target))

    def summary(self, *args: Any, **kwargs: Any) -> Any:
        """A table of the modules, and of what they return when the model gets these arguments."""
        from .summary import summary_of

        return summary_of(self, args, kwargs)

    def __repr__(self) -> str:
        from .display import text

        return text(self) if FORM in vars(self) else f"<{type(self).__name__} being made>"

    def _repr_html_(self) -> str:
        from .display import html

        return html(self)

    def map(self, function: Callable[[Any], Any]) -> Self:
        """The module with `function` of each of its tensors."""
        return stands_for(tree_map(function, self), self)

    def __setattr__(self, name: str, value: Any) -> None:
        marked = _marks(self, name)
        marked.discard(name)
        if isinstance(value, _Marked):
            marked.add(name)
            value = value.tensor
        object.__setattr__(self, name, value)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # Copies find this before anything is set, and before a `__getattr__` that reads attributes.
        vars(self).update(state)

    def __delattr__(self, name: str) -> None:
        _marks(self, name).discard(name)
        object.__delattr__(self, name)


tell(Module, OF_MODULES)


def form(module: Module) -> Form:
    """What a module is but for its tensors."""
    found = vars(module).get(FORM)
    if found is None:
        problem = "this is asked of a module that is still being made"
        fail(ArgumentError, type(module).__name__, problem, hint="do it when `__init__` has ended")
    return found


def attributes(module: Module) -> dict[str, Any]:
    """What `__init__` has set; not what Python has kept since, such as cached properties."""
    found = form(module)
    known = {*found.content.children, *found.settings}
    return {name: value for name, value in vars(module).items() if name in known}


def _freeze(module: Module, like: Content | None = None) -> None:
    """Say which attributes are children, and let nobody change any from now on.

    What is a buffer of a module `like` this one, or frozen there, is so here.
    """
    own = vars(module)
    marked = own.pop(MARKED, ())
    children = tuple([name for name, value in own.items() if _is_child(value)])
    settings = tuple([(name, value) for name, value in own.items() if name not in children])
    buffers, frozen = frozenset[str](marked), frozenset[str]()
    if like is not None:
        buffers, frozen = buffers | like.buffers, like.frozen
    for name in buffers.difference(children):
        if own[name] is not None:
            problem = f"the buffer {name} is no tensor"
            fail(ArgumentError, type(module).__name__, problem, own[name])
    for name in marked:
        if any(parts_of(own[name])):
            problem = f"the buffer {name} is a module, or has such"
            hint = "`module.freeze()` is a module whose parameters are not trained"
            fail(ArgumentError, type(module).__name__, problem, hint=hint)
    for name, value in settings:
        if _hides(value):
            problem = f"the attribute {name} is no module, and has tensors or modules inside"
            hint = (
                "keep these as attributes, and bind or wrap them in `forward`; else no change of "
            )
            hint += "the model would reach them"
            fail(ArgumentError, type(module).__name__, problem, hint=hint)
    own[FORM] = form_of(Content(type(module), children, settings, buffers, frozen))


def _hides(value: Any) -> bool:
    """Whether there are tensors or modules in a set, or in a function bound to or made of them."""
    if isinstance(value, Handle | Module):
        return True
    inside: Sequence[Any] = ()
    if isinstance(value, frozenset | tuple):
        inside = [*value]
    elif isinstance(value, partial):
        inside = [value.func, *value.args, *value.keywords.values()]
    elif callable(value) and not isinstance(value, type):
        inside = [getattr(value, "__self__", None), getattr(value, "__wrapped__", None)]
    return any([_hides(each) for each in inside])


def _is_child(value: Any) -> bool:
    """Whether a value is a tensor, a module, or a container of these."""
    if isinstance(value, _Marked):
        problem = "a buffer is an attribute of a module, and no part of one"
        fail(ArgumentError, "Buffer", problem, hint="mark the whole: `nn.Buffer([x, y])`")
    if isinstance(value, Module) and FORM not in vars(value):
        problem = "a part of the model is still being made, so it would be a part of itself"
        hint = "a model is a tree: give parts what they need of the whole when they are called"
        fail(ArgumentError, type(value).__name__, problem, hint=hint)
    if value is None or isinstance(value, Handle | Module):
        return value is not None
    container = container_of(type(value))
    if container is None:
        return False
    children = container.open(value)[0]
    is_empty = isinstance(value, list | dict) and not children
    return is_empty or any([_is_child(each) for each in children])


def _moved(value: Any, target: Any) -> Any:
    """A tensor on a device, or a float in a dtype; what is neither stays."""
    if not isinstance(value, Handle):
        return value
    tensor: Any = value
    if isinstance(target, DType) and not isdtype(tensor.dtype, "real floating"):
        return tensor
    return tensor.to(target)


def _marks(module: Module, name: str) -> set[str]:
    """Which attributes of a module that is being made are buffers; refused once it is made."""
    own = vars(module)
    if FORM in own:
        _refuse_change(module, name)
    return own.setdefault(MARKED, set[str]())


def _refuse_name(module: Module, operation: str, name: str, known: Sequence[str]) -> None:
    problem = f"a {type(module).__name__} has no {name}; it has {', '.join(known) or 'nothing'}"
    fail(ArgumentError, operation, problem)


def _refuse_change(module: Module, name: str) -> None:
    problem = f"modules are frozen, and {name} of this one cannot be changed"
    hint = f"`module.replace({name}=...)` makes another one; `update` is for running means"
    fail(FrozenError, type(module).__name__, problem, hint=hint)


class FrozenError(BrimstoneError, AttributeError):
    """Somebody changes a module that is made."""


def _open(module: Module) -> tuple[Sequence[Any], Form]:
    found = form(module)
    own = vars(module)
    return [own[name] for name in found.content.children], found


def _close(found: Form, children: Sequence[Any]) -> Module:
    made = object.__new__(found.content.cls)
    own = vars(made)
    own.update(zip(found.content.children, children, strict=True))
    own.update(_settings(found))
    return made


def _settings(found: Form) -> Mapping[str, Any]:
    return found.settings | {FORM: found}


register_container(
    Module,
    Container(
        _open,
        _close,
        lambda found, _: found.content.children,
        _settings,  # pyright: ignore[reportArgumentType]
        lambda found: found.constants,
    ),
)
