"""Which modules are being called, and where each is in the model.

Comes in: calls, as they begin and end. Goes out: the path of a module in the outermost one that is
being called, for messages and for random numbers.
Never: a walk through a model unless somebody asks for a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING, Any

from ..frontend.errors import BrimstoneError
from ..frontend.tree import container_of

if TYPE_CHECKING:
    from .module import Module


Manner = Callable[["Module"], Callable[..., Any]]
"""What runs in the place of a module's `forward`, with the same arguments."""


class _Calls(local):
    def __init__(self) -> None:
        self.running: list[Any] = []
        self.paths: dict[int, str] = {}
        self.watcher: Callable[[str, Any], None] | None = None
        self.manner: Manner | None = None


_CALLS = _Calls()


@contextmanager
def called(module: Module) -> Iterator[None]:
    """While the block runs, the module is being called."""
    _CALLS.running.append(module)
    try:
        yield
    finally:
        _CALLS.running.pop()
        if not _CALLS.running:
            _CALLS.paths = {}


@contextmanager
def watching(watcher: Callable[[str, Any], None]) -> Iterator[None]:
    """While the block runs, the watcher is told the path of each module that returns, and what."""
    before, _CALLS.watcher = _CALLS.watcher, watcher
    try:
        yield
    finally:
        _CALLS.watcher = before


@contextmanager
def calling(manner: Manner | None) -> Iterator[None]:
    """While the block runs, modules are called in this manner, or as they are."""
    before, _CALLS.manner = _CALLS.manner, manner
    try:
        yield
    finally:
        _CALLS.manner = before


def forward_of(module: Module) -> Callable[..., Any]:
    """What a call of a module runs."""
    return module.forward if _CALLS.manner is None else _CALLS.manner(module)


def returned(module: Module, result: Any) -> Any:
    """The result of a module's call, of which a watcher is told."""
    if _CALLS.watcher is not None:
        _CALLS.watcher(path_of(module), result)
    return result


def running_module() -> Module | None:
    """The innermost module that this thread is calling."""
    return _CALLS.running[-1] if _CALLS.running else None


def path_of(module: Module) -> str:
    """Where a module is in the outermost one that is being called.

    One that is no part of it, such as one made on the way, is beneath the one that calls it. Of
    several places of one module the first counts.
    """
    running = _CALLS.running
    if not running or module is running[0]:
        return ""
    if not _CALLS.paths:
        _CALLS.paths = {id(part): path for path, part in reversed([*parts_of(running[0])])}
    found = _CALLS.paths.get(id(module))
    if found is not None:
        return found
    places = [place for place, each in enumerate(running) if each is module]
    caller = running[places[0] - 1 if places else -1]
    inside = [path for path, part in parts_of(caller) if part is module]
    above, own = path_of(caller), inside[0] if inside else type(module).__name__
    return f"{above}.{own}" if above else own


def parts_of(tree: Any, path: str = "") -> Iterator[tuple[str, Module]]:
    """The modules in a tree, outer ones first, with their paths."""
    from .module import Module

    if isinstance(tree, Module):
        yield path, tree
    container = container_of(type(tree))
    if container is None:
        return
    children, static = container.open(tree)
    for name, child in zip(container.names(static, len(children)), children, strict=True):
        yield from parts_of(child, f"{path}.{name}" if path else name)


def located(error: BrimstoneError, module: Module) -> None:
    """Say in an error's message in which module it happened: the innermost one."""
    if getattr(error, "module_path", None) is not None:
        return
    path = path_of(module)
    name = type(module).__name__
    error.module_path = path  # pyright: ignore[reportAttributeAccessIssue]
    where = f"{path} ({name})" if path else f"{name}"
    error.args = (f"{error}\n  in: {where}",)
