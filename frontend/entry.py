"""What a function was compiled to for one kind of arguments, and how that is run.

Comes in: plans, and what was traced. Goes out: for each tuple of open sizes what runs them on
buffers, and makes the tree of the results.
Never: an argument looked at; what is known of its kind is decided once, before the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..ir.locations import Location
from ..runtime.device import Device
from ..runtime.steps import Beside, Plan
from ..targets import dealt
from .bundle import Kind, Maker, kind_of, maker
from .dynamic import plain_types
from .force import Pieces, run_plan
from .function import Traced
from .handle import wrap
from .hidden import hidden_buffers
from .node import leaf
from .stages import run_stages

Runner = Callable[[Pieces, Device], Any]
"""Makes the tree of the results of buffers, which are on a device."""
Sizes = Mapping[str, int] | None


class Entry(NamedTuple):
    """A function compiled for one kind of arguments; `kind` if all it returns are tensors.

    There is one plan, or one for each stage. The location is where the function begins.
    """

    traced: Traced
    captures: tuple[Any, ...]
    plans: tuple[Plan, ...]
    types: tuple[Any, ...]
    kind: Kind | None
    location: Location

    def at(self, sizes: Mapping[str, int]) -> Entry:
        """The same, where sizes at which the function never looked are these."""
        types, kind = plain_types(self.types, sizes), self.kind
        return self._replace(
            plans=tuple([plan.at(sizes) for plan in self.plans]),
            types=types,
            kind=None if kind is None else kind_of(kind.structure, types, kind.device),
        )

    @property
    def home(self) -> Device | None:
        """The device of what it takes from outside, if there is any."""
        return self.plans[0].device if self.captures else None

    def runner(self, sizes: Sizes) -> Runner:
        """What runs it, where the sizes that are open are these."""
        if self.traced.stages is not None or self.kind is None:
            return partial(self._run, sizes)
        return self._straight(self.kind, sizes)

    def straight(self, sizes: Sizes, device: Device) -> Straight | None:
        """The one plan, if it makes tensors and nothing else, what a run of it takes beside
        buffers, and the kind of the results on a device."""
        if self.traced.stages is not None or self.kind is None:
            return None
        (plan,) = self.plans
        return Straight(plan, _kind_at(self.kind, sizes, device), plan.beside(sizes))

    def _straight(self, kind: Kind, sizes: Sizes) -> Runner:
        """What runs one plan, which makes tensors and nothing else."""
        (plan,), line, own = self.plans, self.location, kind.device
        own_maker, takes_more = _made_by(kind, sizes, own), self.takes_more

        def run(pieces: Pieces, device: Device) -> Any:
            counts, make = own_maker if device is own else _made_by(kind, sizes, device)
            inputs = self.inputs(pieces, device) if takes_more else pieces
            return make(run_plan(plan, inputs, sizes, counts), line)

        return run

    @property
    def takes_more(self) -> bool:
        """Whether it takes more than it is given."""
        return bool(self.traced.drawers or self.captures)

    def inputs(self, pieces: Pieces, device: Device) -> Pieces:
        """What is given, and behind it what random numbers come from, and what is from outside."""
        drawers = self.traced.drawers
        if drawers:
            pieces = (*pieces, hidden_buffers(drawers, device))
        return (*pieces, self.captures) if self.captures else pieces

    def _run(self, sizes: Sizes, pieces: Pieces, device: Device) -> Any:
        """The tree of the results, where they come in stages, or not all are tensors."""
        stages, line, inputs = self.traced.stages, self.location, self.inputs(pieces, device)
        if stages is None:
            made = run_plan(self.plans[0], inputs, sizes)
        else:
            made, sizes = run_stages(stages, self.plans, inputs, device, run_plan, sizes)
        if self.kind is not None:
            counts, make = _made_by(self.kind, sizes, device)
            return make(dealt(made, counts), line)
        types = plain_types(self.types, sizes) if sizes else self.types
        pairs = zip(made, types, strict=True)
        leaves = [wrap(leaf(each, type_, device, False, line)) for each, type_ in pairs]
        return self.traced.rebuild(leaves, sizes)


class Straight(NamedTuple):
    """One plan, what kind of tree it makes, and what it takes beside buffers."""

    plan: Plan
    kind: Kind
    beside: Beside


def _made_by(kind: Kind, sizes: Sizes, device: Device | None) -> Maker:
    """How a call at these sizes, on this device, makes what it returns."""
    return maker(_kind_at(kind, sizes, device))


def _kind_at(kind: Kind, sizes: Sizes, device: Device | None) -> Kind:
    """A kind of results, where sizes are these, on a device."""
    if not sizes and kind.device is device:
        return kind
    key, others = (tuple((sizes or {}).items()), device), kind.others
    return others.get(key) or others.put(key, _new_kind(kind, sizes or {}, device))


def _new_kind(kind: Kind, sizes: Mapping[str, int], device: Device | None) -> Kind:
    return kind_of(kind.structure, plain_types(kind.types, sizes), device)
