"""Names of kernels that say what they do and where they come from.

Comes in: the ops of a kernel and its lines. Goes out: `softmax_model_12`: the ops that matter most,
the file and the first line.
Never: two kernels of one name.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePath

from ...ir import tensor
from ...ir.func import Func
from ...ir.locations import Location
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.reduce import Reduction
from ...ir.values import Op
from .cost import effort

MOST_NAMED = 3
UNTOLD = (tensor.Broadcast, tensor.Reshape, tensor.Constant, tensor.Cast, tensor.Iota)

# What a set of ops is called, the most telling first.
KNOWN: tuple[tuple[str, frozenset[str]], ...] = (
    ("log_softmax", frozenset({"reduce_maximum", "exp", "reduce_sum", "log"})),
    ("softmax", frozenset({"reduce_maximum", "exp", "reduce_sum", "divide"})),
    ("normalise", frozenset({"reduce_sum", "reciprocal_square_root", "multiply"})),
)


class Names:
    """The names that are taken."""

    def __init__(self, func: Func) -> None:
        self._taken = {func.name}
        self._latest: dict[str, int] = {}

    def new(self, ops: Iterable[Op], location: Location) -> str:
        """A name that no kernel has yet."""
        stem = "_".join([_deed([*ops]), *_place(location)])
        number = self._latest.get(stem, 1)
        name = stem if number == 1 else f"{stem}_{number}"
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._latest[stem] = number
        self._taken.add(name)
        return name


def _deed(ops: list[Op]) -> str:
    """What is done: by a known name, or by the weightiest ops in their order."""
    told = [op for op in ops if not isinstance(op, UNTOLD)]
    words = dict.fromkeys(_word(op) for op in told)
    for name, needed in KNOWN:
        if needed <= {*words}:
            return name
    weight: dict[str, float] = {}
    for op in told:
        reduces = isinstance(op, Reduction | ArgReduction)
        weight[_word(op)] = 10.0 if reduces else effort(op.__class__) or 20.0
    chosen = sorted(weight, key=lambda word: -weight[word])[:MOST_NAMED]
    return "_".join(word for word in words if word in chosen) or "copy"


def _word(op: Op) -> str:
    own = op.settings.get("name") if isinstance(op, tensor.Custom) else None
    return own if isinstance(own, str) and own.isidentifier() else op.name.partition(".")[2]


def _place(location: Location) -> list[str]:
    """The file's name and the first line, as far as they are known."""
    if not location:
        return []
    file, line = location[0]
    stem = _stem(file)
    return [stem, str(line)] if stem else [str(line)]


@lru_cache(256)
def _stem(file: str) -> str:
    return re.sub(r"\W+", "_", PurePath(file).stem, flags=re.ASCII).strip("_")
