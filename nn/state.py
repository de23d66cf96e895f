"""Weights of a model as a flat dict from paths to tensors, and back.

Comes in: a module, or a module and such a dict. Goes out: the dict, or another module.
Never: a model that is half loaded: all that does not fit is told at once, and nothing is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..frontend.errors import ArgumentError, described, fail
from ..frontend.functions.creation import asarray
from ..frontend.handle import Handle
from .module import Module
from .parameters import by_path, leaves, rebuilt

LISTED = 20
"""How many problems a message lists."""


def state_dict(module: Module) -> dict[str, Any]:
    """All tensors by path, parameters and buffers."""
    return by_path("state_dict", leaves(module))


def loaded(module: Module, tensors: Mapping[str, Any], strict: bool = True) -> Any:
    """The module with these tensors, cast to the dtypes that its own have.

    Unless it is `strict`, tensors that the module lacks are left out, and those that are missing
    stay as they are; shapes must fit in any case.
    """
    if not isinstance(tensors, Mapping):
        problem = f"expected a dict from paths to tensors, got {type(tensors).__name__}"
        fail(ArgumentError, "load_state_dict", problem, tensors)
    own = state_dict(module)
    wrong = [
        f"{path}: {described(tensors[path])} instead of {described(tensor)}"
        for path, tensor in own.items()
        if path in tensors and _shape_of(tensors[path]) != tensor.shape
    ]
    if strict:
        wrong += [f"{path} is missing" for path in own if path not in tensors]
        wrong += [f"{path} is unexpected" for path in tensors if path not in own]
    if wrong:
        listed = "\n    ".join(wrong[:LISTED])
        more = f"\n    and {len(wrong) - LISTED} more" if len(wrong) > LISTED else ""
        problem = f"{len(wrong)} tensors do not fit a {type(module).__name__}:\n    {listed}{more}"
        hint = "strict=False loads what fits by name" if strict else "shapes must be equal"
        fail(ArgumentError, "load_state_dict", problem, hint=hint)
    return _with(
        module, "", {path: _like(tensors[path], own[path]) for path in own if path in tensors}
    )


def _shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of a tensor, of whatever library, or of a number; None of what is neither."""
    if isinstance(value, bool | int | float | complex):
        return ()
    shape = getattr(value, "shape", None)
    return None if shape is None else tuple(shape)


def _like(value: Any, tensor: Any) -> Any:
    """A value as a tensor of the dtype and on the device of another."""
    return asarray(value).astype(tensor.dtype).to(tensor.device)


def _with(tree: Any, path: str, tensors: Mapping[str, Any]) -> Any:
    if isinstance(tree, Handle):
        return tensors.get(path, tree)
    return rebuilt(
        tree, lambda name, child: _with(child, f"{path}.{name}" if path else name, tensors)
    )
