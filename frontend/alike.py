"""Steps that differ in their numbers alone: a rate that falls, a correction of each step.

Comes in: a recording for which nothing is compiled. Goes out: the plan of one that is equal but for
numbers, with these in their place.
Never: another program. A number that rules look for tells recordings apart, and so does any where
there is a region, a called function or an array, which may be the same number. That each number is
an argument of the plan, known by its own array, says that nothing has been made of it: recordings
become funcs op by op, and what is recognised in them has a region.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..ir.dims import Dim
from ..ir.func import Func
from ..ir.payloads import Array, Number
from ..ir.shared.cache import Cache
from ..ir.tensor import Constant
from ..passes.generalise.numbers import becomes_argument
from ..runtime.device import Device
from ..runtime.hanging import name_in
from ..runtime.steps import Plan
from .node import Called
from .recording import Recording

NUMBER = "a number"


class Form(NamedTuple):
    """The key of a recording but for its numbers, and what these are."""

    key: tuple[Any, ...]
    numbers: tuple[Array, ...]


class _Known(NamedTuple):
    """A plan; `places` says which of a form's numbers each of its own is, None for a size."""

    plan: Plan
    places: tuple[int | None, ...]


_KNOWN: Cache[Any, _Known] = Cache(4096)


def form_of(recording: Recording) -> Form | None:
    """The form of a recording; None where it has no numbers, or they may not be others."""
    entries, wanted = recording.key
    kept, numbers = list[Any](), list[Array]()
    for entry in entries:
        if isinstance(entry, tuple):
            cls, _, attributes, type_, regions = entry
            is_array = cls is Constant and not isinstance(attributes[0], Number)
            if cls is Called or regions or is_array or name_in(attributes) is not None:
                return None
            if cls is Constant and becomes_argument(attributes[0]):
                numbers.append(attributes[0].array)
                kept.append((NUMBER, type_))
                continue
        kept.append(entry)
    return Form((tuple(kept), wanted), tuple(numbers)) if numbers else None


def find(recording: Recording, device: Device) -> Plan | None:
    """The plan of an equal recording, with the numbers of this one."""
    form = form_of(recording)
    known = None if form is None else _KNOWN.get((device, form.key))
    if form is None or known is None:
        return None
    own = zip(known.plan.numbers, known.places, strict=True)
    return known.plan.with_numbers([old if at is None else form.numbers[at] for old, at in own])


def learn(recording: Recording, func: Func, plan: Plan) -> None:
    """Remember a plan, if it takes each number of the recording as it is, and no other."""
    form = form_of(recording)
    if form is None or any(op.regions for op in func.body):
        return
    at = {id(number): place for place, number in enumerate(form.numbers)}
    places = [None if isinstance(each, Dim) else at.get(id(each), -1) for each in plan.numbers]
    if sorted([each for each in places if each is not None]) == [*range(len(form.numbers))]:
        _KNOWN.put((plan.device, form.key), _Known(plan, tuple(places)))
