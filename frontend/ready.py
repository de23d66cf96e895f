"""Recordings made ready to run: as they are, or so that a derivative may follow.

Comes in: a recording, a device, and whether something is to be kept for a derivative. Goes out: a
`Piece` of work: the recording, and the compiled `Step` that all equal recordings share.
Never: a computation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..ir.func import Func
from ..ir.shared.cache import Weighed
from ..passes.differentiate import NotDifferentiable, linearise
from ..runtime.device import Device
from ..runtime.hanging import Table
from ..runtime.passing import Reading
from ..runtime.steps import Plan, plan
from . import alike
from .caller import user_line
from .errors import refuse_derivative
from .node import Node
from .recording import Recording, gather, gathering, keep, passing_func_of

Flags = tuple[bool, ...] | None
ENTRIES_AT_MOST = 1 << 17
"""So many entries the keys of all steps may have together, of some 2 KiB each."""


class Step(NamedTuple):
    """What has been compiled for recordings with this key.

    With `flags`, which say for each input whether it is tracked, the plan returns residuals after
    the outputs, and `linear` is the linear function that takes them. One that only has numbers of
    its own has no `func`, and is found for what nobody differentiates alone.
    """

    key: tuple[Any, ...]
    device: Device
    flags: Flags
    func: Func | None
    plan: Plan
    residuals: tuple[Any, ...] = ()
    linear: Func | None = None


class Piece(NamedTuple):
    """A recording and its step; `places` says which output is the value of which node."""

    recording: Recording
    step: Step
    places: dict[Node, int]


def _entries(step: Step) -> int:
    return len(step.key[0])


def _table() -> Weighed[Any, Step]:
    return Weighed(4096, ENTRIES_AT_MOST, _entries)


_STEPS: Table[Any, Step] = Table(_table)
_ALIKE: Table[Any, Step] = Table(_table)
"""Those without a func."""


def flags_of(inputs: Sequence[Node], outputs: Iterable[Node], recompute: bool) -> Flags:
    """Which inputs are tracked; None where nothing is to be kept for a derivative."""
    if recompute or not any([node.tracked for node in outputs]):
        return None
    return tuple([node.tracked for node in inputs])


def find(recording: Recording, device: Device, recompute: bool) -> Piece | None:
    """The whole of a recording, if an equal one has been compiled."""
    flags = flags_of(recording.inputs, recording.outputs, recompute)
    key = device, recording.key, flags
    step = _STEPS.get(key)
    if step is None and not any([node.tracked for node in recording.outputs]):
        step = _ALIKE.get(key) or _alike(recording, key)
    return None if step is None else _whole(recording, step)


def make(nodes: Sequence[Node], device: Device, recompute: bool) -> Piece | None:
    """The recording that computes nodes, compiled as one step; None if another thread has computed
    all of them."""
    with gathering():
        recording = gather([node for node in nodes if node.buffer is None])
        if not recording.nodes:
            return None
        known = find(recording, device, recompute)
        if known is not None:
            return known
        func = passing_func_of(recording)
    flags = flags_of(recording.inputs, recording.outputs, recompute)
    step = _compiled(recording, func, device, flags)
    if not step.plan.passes:
        keep(recording, func)
        step = _STEPS.put((device, recording.key, flags), step)
    return _whole(recording, step)


def _alike(recording: Recording, key: tuple[Device, Any, Flags]) -> Step | None:
    """The step of an equal recording but for its numbers, with those of this one."""
    plan = alike.find(recording, key[0])
    return None if plan is None else _ALIKE.put(key, Step(recording.key, key[0], None, None, plan))


def _whole(recording: Recording, step: Step) -> Piece:
    return Piece(recording, step, {node: place for place, node in enumerate(recording.outputs)})


def _compiled(recording: Recording, func: Func, device: Device, flags: Flags) -> Step:
    nodes = recording.nodes
    reading = Reading(user_line(), nodes[0].serial, nodes[-1].serial)
    if flags is None:
        made = plan(func, device, reading=reading)
        if not made.passes:
            alike.learn(recording, func, made)
        return Step(recording.key, device, flags, func, made)
    try:
        parts = linearise(func, flags)
    except NotDifferentiable as problem:
        refuse_derivative("read", problem)
    compiled = plan(parts.forward, device, reading=reading)
    residuals = [value.type for value in parts.forward.results[len(recording.outputs) :]]
    return Step(recording.key, device, flags, func, compiled, tuple(residuals), parts.linear)
