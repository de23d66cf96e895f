"""Names that other libraries have for what is called something else here, or is made of it.

Comes in: a name that there is not, and who was asked for it. Goes out: an `AttributeError`, which
says what to write instead, or leaves Python to find a name that looks like it.
Never: a name of tensors: classes that are asked so find all other names more slowly, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

CALLED: Mapping[str, str] = {
    "absolute": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh",
    "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "array": "asarray", "bitwise_not": "bitwise_invert", "cat": "concat",
    "concatenate": "concat", "conjugate": "conj", "cummax": "cumulative_max",
    "cummin": "cumulative_min", "cumprod": "cumulative_prod", "cumsum": "cumulative_sum",
    "deg2rad": "radians", "gather": "take_along_axis", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "map": "vmap", "mod": "remainder",
    "permute": "permute_dims", "power": "pow", "rad2deg": "degrees", "ravel": "flatten",
    "right_shift": "bitwise_right_shift", "rint": "round", "select": "where", "switch": "cond",
    "true_divide": "divide", "unique": "unique_values", "unsqueeze": "expand_dims",
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
    "nan_to_num": "`bs.where(bs.isnan(x), 0, x)`",
    "nanmean": "`bs.where(bs.isnan(x), 0, x)` and the mean of what is left",
    "nansum": "`bs.sum(bs.where(bs.isnan(x), 0, x))`",
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
    "brimstone.random": {
        "PRNGKey": "`bs.random.key(seed)`",
        "rand": "`bs.rand`",
        "randn": "`bs.randn`",
        "seed": "`bs.manual_seed(seed)`",
    },
}
"""By who is asked."""


def refuse_name(owner: str, name: str, asked: Any) -> NoReturn:
    """Say that there is no such name, and what there is."""
    called = CALLED.get(name)
    instead = f"`bs.{called}`" if called else _ELSEWHERE[owner].get(name)
    hint = f"; here it is {instead}" if instead else ""
    raise AttributeError(f"module {owner!r} has no attribute {name!r}{hint}", name=name, obj=asked)
