"""Files that `torch.save` wrote, read without PyTorch.

Comes in: a path. Goes out: what was saved, with our tensors in it, or a reader of a table of them.
Never: anything run that the file says; what it may say is in `allowed.py`.
"""

from typing import Any

from ...frontend.tensor import Tensor
from ..errors import About, Refused
from ..mapped import mapped
from ..stored import Reader, float_dtype
from .allowed import View
from .contents import contents_of
from .tree import with_tensors


def load(path: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """What was saved: tables, lists and plain values with tensors in them.

    Floats become `dtype`, where one is given. Tensors that were one are one again; every other
    tensor has memory of its own, also where stored elements were shared.
    """
    with About("pytorch", path) as about:
        return tree_of(mapped(about.path), dtype=dtype, device=device)


def open(path: Any) -> Reader:
    """The tensors of a file that holds a table of them, as of a `state_dict`, each of which is read
    when it is asked for."""
    with About("pytorch", path) as about:
        return reader_of(about.path, mapped(about.path))


def tree_of(memory: memoryview, *, dtype: Any = None, device: Any = None) -> Any:
    """What was saved, out of mapped memory."""
    wanted = float_dtype(dtype, "read")
    contents = contents_of(memory, check=True)
    tensors: dict[View, Tensor] = {
        view: contents.stored(view).read(dtype=wanted, device=device) for view in contents.views
    }
    return with_tensors(contents.tree, tensors.__getitem__)


def reader_of(path: str, memory: memoryview, *, check: bool = False) -> Reader:
    """The tensors of a table that lies in mapped memory; `check` reads all of it."""
    contents = contents_of(memory, check=check)
    tree = contents.tree
    if not isinstance(tree, dict) or not all(
        isinstance(name, str) and isinstance(view, View) for name, view in tree.items()
    ):
        raise Refused("it holds more than a table of tensors", "load it, and take what you need")
    return Reader(path, {name: contents.stored(view) for name, view in tree.items()})
