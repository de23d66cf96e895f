"""Names that other libraries have for what is called something else here, or is made of it.

Comes in: a name that there is not, and who was asked for it. Goes out: an `AttributeError`, which
says what to write instead, or leaves Python to find a name that looks like it.
Never: a `__getattr__` of a class: with one it finds all other names more slowly, too. What classes
are told of are attributes of theirs, each of which only ever says that it is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import getattr_static
from typing import Any, NoReturn

CALLED: Mapping[str, str] = {
    "absolute": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh",
    "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "array": "asarray", "bitwise_not": "bitwise_invert", "bmm": "matmul",
    "cat": "concat", "clamp": "clip", "concatenate": "concat", "conjugate": "conj",
    "cummax": "cumulative_max", "cummin": "cumulative_min", "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum", "deg2rad": "radians", "div": "divide", "eq": "equal",
    "gather": "take_along_axis", "ge": "greater_equal", "gt": "greater", "index_select": "take",
    "invert": "bitwise_invert", "le": "less_equal", "left_shift": "bitwise_left_shift",
    "lt": "less", "map": "vmap", "mm": "matmul", "mod": "remainder", "movedim": "moveaxis",
    "mul": "multiply", "ne": "not_equal", "neg": "negative", "permute": "permute_dims",
    "power": "pow", "rad2deg": "degrees", "ravel": "flatten", "repeat_interleave": "repeat",
    "right_shift": "bitwise_right_shift", "rint": "round", "select": "where", "sub": "subtract",
    "swapdims": "swapaxes", "switch": "cond", "true_divide": "divide", "unbind": "unstack",
    "unique": "unique_values", "unsqueeze": "expand_dims",
}  # fmt: skip
_MADE: Mapping[str, str] = {
    "associative_scan": "`bs.cumulative_sum`, `cumulative_prod`, `cumulative_max`, or `bs.scan`",
    "average": "`bs.sum(w * x) / bs.sum(w)`",
    "bincount": "`bs.zeros(n).at[x].add(1)`",
    "digitize": "`bs.searchsorted(bins, x, side='right')`",
    "dot": "`x @ y`, or `bs.vecdot`",
    "dstack": "`bs.concat(tensors, axis=2)`",
    "fabs": "`bs.abs`",
    "gradient": "`bs.diff`, or `bs.grad` for derivatives",
    "histogram": "`bs.searchsorted(edges, x)` and `bs.zeros(n).at[places].add(1)`",
    "hstack": "`bs.concat(tensors, axis=1)`",
    "inner": "`bs.vecdot`, or `bs.tensordot`",
    "interp": "`bs.searchsorted` and `bs.lerp`",
    "ix_": "`x[i[:, None], j]`",
    "lax": "`bs` itself: `bs.scan`, `bs.cond`, `bs.while_loop`",
    "masked_fill": "`bs.where(mask, value, x)`",
    "nan_to_num": "`bs.where(bs.isnan(x), 0, x)`",
    "nanmean": "`bs.where(bs.isnan(x), 0, x)` and the mean of what is left",
    "nansum": "`bs.sum(bs.where(bs.isnan(x), 0, x))`",
    "norm": "`bs.linalg.norm`",
    "no_grad": "`x.detach()`: a history is kept of what asks for gradients alone",
    "partition": "`bs.topk`, or `bs.sort`",
    "put_along_axis": "`x.at[...].set(values)`",
    "ravel_multi_index": "`i * n + j`",
    "rot90": "`bs.flip(bs.swapaxes(x, 0, 1), axis=0)`",
    "row_stack": "`bs.concat(tensors, axis=0)`",
    "segment_sum": "`bs.zeros(n).at[segments].add(x)`",
    "trapezoid": "`bs.sum((x[1:] + x[:-1]) / 2) * step`",
    "tril_indices": "`bs.nonzero(bs.tril(bs.ones((n, n))))`",
    "triu_indices": "`bs.nonzero(bs.triu(bs.ones((n, n))))`",
    "unravel_index": "`i // n` and `i % n`",
    "vstack": "`bs.concat(tensors, axis=0)`",
}
_ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "brimstone": _MADE,
    "brimstone.linalg": {
        "cho_solve": "`bs.linalg.solve_triangular` twice",
        "eigsh": "`bs.linalg.eigh`",
        "lstsq": "`bs.linalg.pinv(a) @ b`, or `bs.linalg.qr` and `solve_triangular`",
    },
    "brimstone.nn": {
        "Dense": "`nn.Linear`",
        "ModuleDict": "a dict, which is an attribute",
        "ModuleList": "a list, which is an attribute",
        "Parameter": "a tensor, which is an attribute; what is none is an `nn.Buffer`",
        "functional": "`nn` itself",
    },
    "brimstone.random": {
        "PRNGKey": "`bs.random.key(seed)`",
        "rand": "`bs.rand`",
        "randn": "`bs.randn`",
        "seed": "`bs.manual_seed(seed)`",
    },
}
"""By who is asked."""
OF_TENSORS: Mapping[str, str] = {
    "bmm": "`x @ y`",
    "bool": "`x.astype(bs.bool)`",
    "clamp": "`bs.clip(x, low, high)`",
    "clone": "the tensor itself: none ever changes",
    "contiguous": "the tensor itself",
    "cpu": '`x.to("cpu")`',
    "cuda": "`x.to(device)`; `bs.devices()` are those that there are",
    "cumsum": "`bs.cumulative_sum(x)`",
    "dim": "`x.ndim`",
    "div": "`x / y`",
    "double": "`x.astype(bs.float64)`",
    "eq": "`x == y`",
    "expand_as": "`x.expand(*y.shape)`",
    "float": "`x.astype(bs.float32)`",
    "gather": "`bs.take_along_axis(x, places)`",
    "grad": "`gradients[x]`, where `gradients = loss.backward()`",
    "half": "`x.astype(bs.float16)`",
    "index_select": "`bs.take(x, places, axis=axis)`",
    "int": "`x.astype(bs.int32)`",
    "long": "`x.astype(bs.int64)`",
    "masked_fill": "`bs.where(mask, value, x)`",
    "masked_select": "`x[mask]`",
    "mm": "`x @ y`",
    "mul": "`x * y`",
    "ne": "`x != y`",
    "neg": "`-x`",
    "new_ones": "`bs.ones(shape, dtype=x.dtype)`",
    "new_zeros": "`bs.zeros(shape, dtype=x.dtype)`",
    "norm": "`bs.linalg.norm(x)`",
    "numel": "`x.size`",
    "repeat_interleave": "`bs.repeat(x, times, axis=axis)`",
    "reshape_as": "`x.reshape(y.shape)`",
    "scatter": "`x.at[places].set(values)`",
    "scatter_add": "`x.at[places].add(values)`",
    "sub": "`x - y`",
    "t": "`x.T`",
    "tril": "`bs.tril(x)`",
    "triu": "`bs.triu(x)`",
    "type": "`x.astype(dtype)`",
    "type_as": "`x.astype(y.dtype)`",
    "unbind": "`x.unstack()`",
    "view_as": "`x.reshape(y.shape)`",
}
OF_CUSTOM_VJP: Mapping[str, str] = {"defvjp": "`f.define(forward, backward)`"}
OF_MODULES: Mapping[str, str] = {
    "cuda": "`model.to(device)`",
    "eval": "nothing: outside of `with nn.training():` models are not trained",
    "named_parameters": "`model.params()`, a dict by path",
    "parameters": "`model.params()`, a dict by path",
    "train": "`with nn.training():`; a `train.Learner` does it in its steps",
    "zero_grad": "nothing: gradients are returned, and kept nowhere",
}
OF_OPTIMISERS: Mapping[str, str] = {
    "step": "`model, state = optimiser.update(model, gradients, state)`, or a `train.Learner`",
    "zero_grad": "nothing: gradients are returned, and kept nowhere",
}


class Elsewhere:
    """A name that a class has not: who asks for it is told what to write instead."""

    def __init__(self, name: str, instead: str) -> None:
        self.name, self.instead = name, instead

    def __get__(self, asked: Any, cls: type) -> NoReturn:
        text = f"{cls.__name__!r} object has no attribute {self.name!r}; here it is {self.instead}"
        raise AttributeError(text, name=self.name, obj=cls if asked is None else asked)


def tell(cls: Any, names: Mapping[str, str]) -> None:
    """Have a class say what these names of other libraries are here; `dir` lists none of them."""
    for name, instead in names.items():
        setattr(cls, name, Elsewhere(name, instead))
    cls.__dir__ = _own_names


def _own_names(asked: Any) -> list[str]:
    names = object.__dir__(asked)
    return [each for each in names if not isinstance(getattr_static(asked, each, None), Elsewhere)]


def refuse_name(owner: str, name: str, asked: Any) -> NoReturn:
    """Say that there is no such name, and what there is."""
    called = f"`bs.{CALLED[name]}`" if name in CALLED else None
    instead = called or _ELSEWHERE.get(owner, {}).get(name) or _like(name, owner, asked)
    hint = f"; here it is {instead}" if instead else ""
    raise AttributeError(f"module {owner!r} has no attribute {name!r}{hint}", name=name, obj=asked)


def _like(name: str, owner: str, asked: Any) -> str | None:
    """A name of a module that differs in capitals alone, or not at all."""
    found = [each for each in dir(asked) if each.lower() == name.lower()]
    if not found:
        return None
    above = owner.removesuffix(".functions")
    where = above.replace("brimstone.nn", "nn").replace("brimstone", "bs")
    return f"`{where}.{name if name in found else found[0]}`"
