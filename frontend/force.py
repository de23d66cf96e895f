"""Running what has been recorded, when a value is needed.

Comes in: nodes whose values are wanted now. Goes out: the same nodes, holding buffers. What this
thread has recorded and somebody still holds is computed along, so nothing is computed twice; and
an equal recording runs the step compiled for the first one, or several, one after another.
Never: a traced function's stand-in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from ..ir.dtypes import INEXACT
from ..ir.errors import IRError
from ..ir.func import Func, Module
from ..ir.locations import UNKNOWN, Location
from ..ir.payloads import Array as HostArray
from ..ir.payloads import Number
from ..runtime.device import Device, current_device, wait_for_all
from ..runtime.steps import Plan
from ..runtime.streams import INTERRUPTIBLE
from ..targets.script import Donated
from .cuts import cut
from .elements import Element, sources_of
from .errors import (
    DeadTensorError,
    DeviceError,
    DifferentiationError,
    OperationFailed,
    OutOfMemory,
    PlaceError,
    fail,
)
from .handle import Handle
from .history import segment_of
from .lazy import bundle_of
from .node import Leaf, Node
from .outside import line_of_call, step_failure
from .pending import take
from .prefixes import COMPILED
from .ready import Piece, find, make
from .recording import Recording, gather, gathering, lower
from .rounds import is_long, rounds
from .shortage import out_of_memory, step_out_of_memory
from .trace import untraced
from .tree import leaves_of

Pieces = Sequence[Sequence[Any]]
"""The buffers that a step takes: one after the other those of each, whole bundles among them."""


def force(*wanted: Node, recompute: bool = False) -> None:
    """Give each node its buffer, and with them whatever this thread has pending.

    What depends on tensors that ask for gradients keeps what its derivative needs; with
    `recompute`, only what it takes to compute that again.
    """
    # Who finds all computed takes no lock: threads that meet at one in each step of theirs would go
    # on in turns from then on.
    if all([node.buffer is not None for node in wanted]):
        return
    with gathering():
        missing = [node for node in wanted if node.buffer is None]
        if not missing:
            return
        together = dict.fromkeys([*missing, *take()])
    groups: dict[Device, list[Node]] = {}
    for node in together:
        groups.setdefault(node.device or current_device(), []).append(node)
    with untraced(), INTERRUPTIBLE:
        for device, nodes in groups.items():
            _compute_most(nodes, missing, device, recompute)


def _compute_most(
    together: list[Node], wanted: Sequence[Node], device: Device, recompute: bool
) -> None:
    """Compute nodes together; where that fails, those that are wanted on their own; and where an
    input has failed before, or another thread has it computed, each of them on its own: who needs
    it fails, or waits, and nobody else. What another thread has computed meanwhile, before it gave
    an input away, is there."""
    try:
        _compute(together, device, recompute, apart=len(together) > 1)
    except _Unsound:
        for node in together:
            if node in wanted and node.buffer is None:
                _compute([node], device, recompute)
    except (DeadTensorError, DifferentiationError, OperationFailed, OutOfMemory, PlaceError):
        alone = [node for node in together if node in wanted and node.buffer is None]
        if len(alone) == len(together):
            raise
        if alone:
            _compute(alone, device, recompute)


def sync(*tensors: Any) -> None:
    """Compute tensors, or trees of them; without any, whatever is pending in this thread."""
    if not tensors:
        force(*take())
        wait_for_all()
        return
    for tree in tensors:
        if issubclass(type(tree), Handle):  # `isinstance` would look into a lazy tree
            tree.sync()
            continue
        bundle = bundle_of(tree)
        if bundle is not None and bundle.buffers is not None:
            _wait(bundle.kind.device or current_device(), bundle.buffers)
            continue
        leaves = [leaf.node for leaf in leaves_of(tree) if isinstance(leaf, Handle)]
        given = [node for node in leaves if node.trace is None]
        force(*given)
        for node in given:
            wait_for(node)


class _Unsound(Exception):
    """An input of a step has failed before, and all its results would; or may take long."""


def _compute(nodes: Sequence[Node], device: Device, recompute: bool, apart: bool = False) -> None:
    """Compute nodes: as one step where that is compiled, else in pieces that are, then the rest, if
    it is a loop in rounds; `apart` from what has failed before, or may take long."""
    pieces, may_be_loop = _compiled(nodes, device, recompute)
    while pieces:  # each is let go when it is done, with the nodes that nobody reads any more
        _run_piece(pieces.popleft(), apart)
    parts = _rounds(nodes, device) if may_be_loop else deque[list[Node]]()
    while parts:
        _compute(parts.popleft(), device, recompute, apart)
    rest = [node for node in nodes if node.buffer is None]
    if rest:
        piece = make(rest, device, recompute)
        if piece is None:
            return
        if piece.step.func is not None and not piece.step.plan.passes:
            COMPILED.add(piece.step)
        _run_piece(piece, apart)


def _compiled(nodes: Sequence[Node], device: Device, recompute: bool) -> tuple[deque[Piece], bool]:
    """The pieces that are compiled already, and whether all together are long."""
    with gathering():
        recording = gather(nodes)
        for node in recording.inputs:
            buffer_of(node)
        whole = find(recording, device, recompute)
        if whole is not None:
            return deque([whole]), False
        return cut(recording, device, recompute), is_long(recording)


def _rounds(nodes: Sequence[Node], device: Device) -> deque[list[Node]]:
    """What is to be computed in turn, of what is not yet."""
    rest = [node for node in nodes if node.buffer is None]
    if not rest:
        return deque()
    with gathering():
        return rounds(gather(rest), device)


def _run_piece(piece: Piece, apart: bool) -> None:
    recording, step, places = piece
    with gathering():
        inputs = [buffer_of(node) for node in recording.inputs]
    if apart and not step.device.target.are_sound(inputs):
        raise _Unsound
    buffers = run(recording, step.plan, step.device, inputs)
    tracked = any([node.tracked for node in places])
    segment = segment_of(recording, step, buffers) if tracked else None
    with gathering():
        for node, place in places.items():
            node.tracked = node.tracked and node.type.dtype in INEXACT  # else without a derivative
            if segment is not None and node.tracked:
                node.history = (segment, place)
            settle(node, buffers[place], step.device)


def settle(node: Node, buffer: Any, device: Device) -> None:
    """Put a buffer in the place of a node's operands; who sees it sees what belongs to it, too."""
    node.device = device
    node.buffer = buffer
    node.cls, node.operands, node.attributes, node.regions = Leaf, (), (), ()


def run(recording: Recording, compiled: Plan, device: Device, inputs: Sequence[Any]) -> Any:
    """The buffers of the results; a failure names the line that recorded what failed."""
    try:
        made = compiled.run([inputs])
        if compiled.refuses:  # now, since later nobody knows which lines recorded it
            device.target.wait(made)
        return made
    except IRError as problem:
        func = _func_of(recording)
        if func is not None and line_of_call(problem, func) is None:
            problem = _precise(func, device, inputs) or problem
        _raise_failure(problem, func)
    except Donated:
        _refuse_donated("read")
    except MemoryError as problem:
        raise step_out_of_memory(problem, partial(_func_of, recording), None) from None


def run_plan(
    compiled: Plan,
    pieces: Pieces,
    sizes: Mapping[str, int] | None,
    counts: tuple[int, ...] | None = None,
) -> Sequence[Any]:
    """The buffers of the results, or pieces that have so many each; a failure names the line of the
    op that failed."""
    try:
        return compiled.run(pieces, sizes, counts)
    except Exception as problem:
        retell(problem, compiled, sizes)
        raise


def retell(problem: Exception, compiled: Plan, sizes: Mapping[str, int] | None) -> None:
    """Raise what a user is told of a problem with a step, if he is told of such ones."""
    if isinstance(problem, IRError):
        _raise_failure(problem, compiled.func)
    if isinstance(problem, Donated):
        _refuse_donated("jit")
    if isinstance(problem, MemoryError):
        known = {**compiled.sizes, **(sizes or {})}
        raise step_out_of_memory(problem, lambda: compiled.func, known) from None


def _raise_failure(problem: IRError, func: Func | None = None) -> NoReturn:
    """Raise what a user is told of a step that failed, with the cause that his function gave."""
    error = step_failure(problem, func)
    try:
        raise error from error.__cause__
    finally:
        del error  # in whose frames it would be, and keep what is there until garbage is collected


def _precise(func: Func, device: Device, inputs: Sequence[Any]) -> IRError | None:
    """The error of this very func: the step may have been compiled for another's lines."""
    step = device.target.compile(Module([func]))  # which is there until its error is known
    try:
        device.target.wait(step([inputs], {}))
    except IRError as error:
        return error
    return None


def _func_of(recording: Recording) -> Func | None:
    """The func of a recording with its own lines; None where another thread has computed a part of
    it meanwhile."""
    with gathering():
        done = any([node.buffer is not None for node in recording.nodes])
        return None if done else lower(recording)


def contents_of(node: Node) -> HostArray:
    """What a computed node holds, as a host array that nobody may change."""
    assert node.device is not None
    buffer = buffer_of(node)
    try:
        return node.device.target.download(buffer)
    except (IRError, Donated, MemoryError) as problem:
        _refuse_reading(node, problem)


def number_of(node: Node) -> Any:
    """The only element of a computed node, as a Python number."""
    assert node.device is not None
    buffer = node.buffer
    if buffer is None:  # hardly ever: it spares a call
        buffer = buffer_of(node)
    try:
        return node.device.target.number(buffer)
    except (IRError, Donated, MemoryError) as problem:
        _refuse_reading(node, problem)


def value_of(node: Node) -> Any:
    """The only element of a node that is not computed: where it is one of something that is, or two
    of these compared, nothing need be."""
    with gathering():
        known = sources_of(node)
    if known is None:
        force(node)
        return number_of(node)
    compare, sources = known
    values = [each.value if isinstance(each, Number) else _read(each) for each in sources]
    return compare(*values) if compare else values[0]


def _read(element: Element) -> Any:
    """An element of a computed node, as a Python number."""
    node, place = element
    assert node.device is not None
    try:
        return node.device.target.element(buffer_of(node), place)
    except (IRError, Donated, MemoryError) as problem:
        _refuse_reading(node, problem)


def _refuse_reading(node: Node, problem: Exception) -> NoReturn:
    """Say why a node cannot be read; an error names the type and the line of its tensor."""
    if isinstance(problem, IRError):
        _raise_failure(problem)
    if isinstance(problem, MemoryError):
        raise out_of_memory(problem, "read", node.type, node.location) from None
    _refuse_donated("read")


def wait_for(node: Node) -> None:
    """Return when a node is computed; nobody looks at its memory."""
    if node.buffer is None:
        force(node)
    _wait(node.device or current_device(), [buffer_of(node)], node.type, node.location)


def _wait(
    device: Device, buffers: Sequence[Any], type_: Any = None, location: Location = UNKNOWN
) -> None:
    """Return when buffers are computed; an error names the type and the line of a tensor."""
    try:
        device.target.wait(buffers)
    except IRError as problem:
        _raise_failure(problem)
    except MemoryError as problem:
        raise out_of_memory(problem, "sync", type_, location) from None


def buffers_on(device: Device, nodes: Sequence[Node]) -> list[Any]:
    """The buffers of nodes, all of one device; what belongs to none yet is computed there."""
    found = [node.buffer for node in nodes if node.device is device and node.buffer is not None]
    if len(found) == len(nodes):
        return found
    force(*[node for node in nodes if node.buffer is None and node.device is None])
    refuse_elsewhere(device, nodes)
    return [*map(buffer_of, nodes)]


def refuse_elsewhere(device: Device, nodes: Sequence[Node]) -> None:
    """Refuse what is on another device; what is on none yet may be computed there."""
    for node in nodes:
        if node.device not in (None, device):
            problem = f"the tensors are on different devices: {device}, {node.device}"
            fail(DeviceError, "jit", problem, hint="move one with `.to(device)` first")


def buffer_of(node: Node) -> Any:
    """The buffer of a leaf that has not been donated."""
    if node.buffer is None:
        _refuse_donated("read", f" at {node.location}")
    return node.buffer


def _refuse_donated(operation: str, where: str = "") -> NoReturn:
    """Refuse a tensor whose memory another one has; by now, or since another thread gave it."""
    fail(
        DeadTensorError,
        operation,
        f"the tensor was donated{where}, and its memory is another's now",
        hint="use what the function returned in its place, or do not donate it",
    )
