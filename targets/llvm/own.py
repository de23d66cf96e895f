"""Results of a step, some of whose ops Python does, that are memory of their own.

Comes in: a step, where sizes are known. Goes out: which of its results are all of an array that it
makes: these are given back as they are, where others are lent.
Never: an array that two results show, or that somebody else has.
"""

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ...ir import step
from ...ir.values import AnyValue
from ..script import Form
from .whole import memory_of

if TYPE_CHECKING:
    from .preparation import Preparation


class Own(NamedTuple):
    """The number of a result, and its form; where the array is kept, and what that one's is."""

    number: int
    form: Form
    place: int
    kept: Form


def own_results(preparation: "Preparation") -> dict[AnyValue, Own]:
    """By the arrays, which are there before anything is done."""
    ops = preparation.flat(preparation.main.body)
    made = {op.array for op in ops if isinstance(op, step.Allocate)}
    roots = [memory_of(value) for value in preparation.main.results]
    shown = Counter(roots)
    found: dict[AnyValue, Own] = {}
    for number, (value, root) in enumerate(zip(preparation.main.results, roots, strict=True)):
        if root not in made or shown[root] > 1:
            continue
        form, kept = preparation.form(value), preparation.form(root)
        if form.size == kept.size:  # all of it
            found[root] = Own(number, form, preparation.place(root), kept)
    return found
