"""Recording: what an operation on tensors leaves behind, until a value is needed.

Comes in: an op class of the tensor floor, nodes and canonical attributes. Goes out: a `Node`, whose
type the op's own rules gave: they run once for each distinct list of types and attributes.
Never: a computation, or a change to a node, but that its buffer comes to take its operands' place.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ..ir.builder import Builder
from ..ir.declare import Op
from ..ir.errors import IRError, Unmet
from ..ir.func import Func
from ..ir.locations import UNKNOWN, Location
from ..ir.payloads import Number, PythonNumber
from ..ir.shared.cache import Cache
from ..ir.tensor import Constant
from ..ir.types import Tensor as TensorType
from .caller import called, user_line
from .dtypes import OF_IR
from .errors import ArgumentError, DeviceError, DTypeError, TracedValueError, fail, shown
from .symbolic import is_open
from .unseen import current_unseen, unseen_by

if TYPE_CHECKING:
    from ..ir.dtypes import DType
    from ..runtime.device import Device
    from .history import History
    from .trace import Trace


class Leaf:
    """A node that holds a buffer: nothing is left to compute."""


class Argument:
    """A node that stands for an argument of a function being traced; its attribute says which."""


class Part:
    """One result of a node with several; its attribute says which."""


class Called:
    """The results of a func, its attribute, on operands."""


class Node:
    """One recorded operation, or a leaf.

    `cls` is an op class or one of the classes above; `type` is a tuple for an op with several
    results. `regions` are funcs that take, after the region's own arguments, the last `captures`
    operands. `trace` is the innermost function being traced whose arguments, or symbolic sizes, the
    node depends on; `tracked` says whether it depends on a tensor that asks for gradients.
    """

    __slots__ = (
        "attributes", "buffer", "captures", "cls", "device", "history", "location",
        "operands", "regions", "serial", "trace", "tracked", "type",
    )  # fmt: skip

    cls: Any
    operands: tuple[Node, ...]
    attributes: tuple[Any, ...]
    type: Any
    regions: tuple[Func, ...]
    captures: int
    location: Location
    device: Device | None
    trace: Trace | None
    tracked: bool
    history: History | None
    buffer: Any
    serial: int

    def __reduce__(self) -> tuple[Any, ...]:
        """As a leaf of the elements that it holds: so tensors of one node have one again."""
        from .force import contents_of

        return _restored, (contents_of(self), str(self.device), self.tracked)


_serials = count(1)
next_serial = _serials.__next__
_make = object.__new__
_KNOWN: dict[tuple[Any, ...], tuple[Any, tuple[Any, ...], bool, bool]] = {}
_KNOWN_AT_MOST = 1 << 16
_CONSTANTS: Cache[Number, Node] = Cache(4096)


def record(
    cls: Any,
    operands: tuple[Node, ...],
    attributes: tuple[Any, ...] = (),
    regions: tuple[Func, ...] = (),
    captures: int = 0,
    types: Any = None,
) -> Node:
    """The node of an operation; its results' types are stated where regions or `cls` need it."""
    unseen = None
    if types is None:
        types, kept, has_symbols, is_symbolic = _known(cls, operands, attributes)
        if is_symbolic and (unseen := unseen_by(operands)) is not None:
            attributes = unseen.asked(cls, operands, attributes, types)
            types, kept, has_symbols, _ = _known(cls, operands, attributes)
        attributes = kept
    else:
        has_symbols = False
        if (unseen := unseen_by(operands)) is not None:
            attributes, regions, types = unseen.stated(cls, operands, attributes, regions, types)
    trace, device, tracked = _home(cls, operands, _running_trace(cls) if has_symbols else None)
    node = _make(Node)
    node.cls, node.operands, node.attributes, node.type = cls, operands, attributes, types
    node.regions, node.captures = regions, captures
    node.location, node.serial = user_line(), next_serial()
    node.trace, node.device, node.tracked = trace, device, tracked
    node.history = node.buffer = None
    if unseen is not None:
        unseen.nodes.append(node)
    return node


def _home(cls: Any, operands: tuple[Node, ...], trace: Trace | None) -> Any:
    """The innermost trace of an operation, `trace` or one inside; its device; if it is tracked."""
    device = None
    tracked = False
    for operand in operands:
        above = operand.trace
        if above is not None:
            if above.ended:
                above.refuse()
            if trace is None or above.depth > trace.depth:
                trace = above
        if operand.tracked:
            tracked = True
        if operand.device is not device and operand.device is not None:
            if device is not None:
                _two_devices(cls, operands)
            device = operand.device
    return trace, device, tracked


def record_parts(cls: Any, operands: tuple[Node, ...], *rest: Any, **named: Any) -> list[Node]:
    """A node for each result of an operation that has several."""
    whole = record(cls, operands, *rest, **named)
    types = whole.type if isinstance(whole.type, tuple) else (whole.type,)
    whole.type = types
    return [record(Part, (whole,), (index,), types=type_) for index, type_ in enumerate(types)]


def leaf(
    buffer: Any,
    type_: TensorType,
    device: Device | None,
    tracked: bool = False,
    location: Location = UNKNOWN,
) -> Node:
    """A node that holds a buffer of `device`, which was made at `location`."""
    node = _make(Node)
    node.cls, node.operands, node.attributes, node.type = Leaf, (), (), type_
    node.regions, node.captures, node.location, node.serial = (), 0, location, next_serial()
    node.trace, node.device, node.tracked = None, device, tracked
    node.history, node.buffer = None, buffer
    return node


def _restored(array: Any, device: str, tracked: bool) -> Node:
    """A node out of a pickle."""
    from ..runtime.device import device_named
    from .functions.common import upload

    node = upload(array, device_named(device), "pickle")
    node.tracked = tracked
    return node


def argument(
    index: int, type_: TensorType, trace: Trace, device: Device | None, number: type | None
) -> Node:
    """A node that stands for an argument, perhaps a Python number, of a function being traced."""
    node = _plain(Argument, (index, number), type_, device)
    node.trace, node.serial = trace, trace.serial  # also one that is added late came first
    return node


def number_type(node: Node) -> type | None:
    """The type of the Python number that an argument stands for: it promotes like one."""
    return node.attributes[1] if node.cls is Argument else None


def constant(value: PythonNumber, dtype: DType, operation: str = "") -> Node:
    """The node of one number, the same for all who ask; the operation is that which the user called
    if none is named."""
    try:
        number = Number(value, dtype)
    except Unmet:
        refuse_number(value, dtype, operation)
    return _CONSTANTS.get(number) or _CONSTANTS.put(
        number, _plain(Constant, (number,), TensorType((), dtype), None)
    )


def refuse_number(value: Any, dtype: DType, operation: str) -> NoReturn:
    """Say that a dtype has no such value."""
    problem = f"{shown(value, 40)} is not a value of {OF_IR[dtype]}"
    fail(DTypeError, operation or called(), problem, hint="cast the tensor to a wider dtype")


def own_constant(shared: Node) -> Node:
    """A constant of its own, which a buffer may come to take the place of."""
    return _plain(Constant, shared.attributes, shared.type, shared.device)


def _plain(cls: Any, attributes: tuple[Any, ...], type_: TensorType, device: Device | None) -> Node:
    """A node without operands or a buffer."""
    node = leaf(None, type_, device)
    node.cls, node.attributes = cls, attributes
    return node


def robbed(node: Node, location: Location) -> None:
    """Take the buffer of a node, which is another one from then on: first its number changes."""
    node.serial, node.location = next_serial(), location
    node.buffer = None


def _known(cls: Any, operands: tuple[Node, ...], attributes: tuple[Any, ...]) -> Any:
    """The result types and canonical attributes of an operation; whether they have symbols, and
    whether it has to do with any."""
    types = tuple([operand.type for operand in operands])
    known = _KNOWN.get((cls, types, attributes))
    if known is None:
        unseen = current_unseen()
        known = _learn(cls, types, attributes if unseen is None else unseen.known(attributes))
    return known


def _learn(cls: type[Op], types: tuple[Any, ...], attributes: tuple[Any, ...]) -> Any:
    """The same, as the op's own rules give it."""
    func = Func("one", types)
    try:
        given = _grouped(cls, func.arguments, attributes)
        results: Any = cast(Any, cls.build)(Builder(func.body), *given, **_named(cls, attributes))
    except (IRError, Unmet, ValueError) as problem:
        fail(ArgumentError, cls.name, str(problem))
    made = results[0].owner
    found = [result.type for result in results]
    kept = made.attributes if isinstance(made, cls) else attributes  # else it was folded
    has_symbols = is_open((kept, *found))
    types_made = tuple(found) if len(found) > 1 else found[0]
    entry = types_made, kept, has_symbols, has_symbols or is_open((attributes, *types))
    if len(_KNOWN) >= _KNOWN_AT_MOST:
        _KNOWN.clear()
    return _KNOWN.setdefault((cls, types, attributes), entry)


def _running_trace(cls: Any) -> Trace:
    """What is being traced: a symbolic size belongs to it, or to what is around it."""
    from .trace import current_trace

    trace = current_trace()
    if trace is None:
        problem = (
            "a size is open here, which only the thread that traces a function may compute with"
        )
        fail(TracedValueError, getattr(cls, "name", "call"), problem)
    return trace


def _grouped(cls: type[Op], values: tuple[Any, ...], attributes: tuple[Any, ...]) -> list[Any]:
    """The operands as the op's constructor takes them: each list of operands as one."""
    fields, grouped, start = cls.operand_fields, list[Any](), 0
    loose = len(values) - sum(not field.many for field in fields)
    lengths = iter(attributes[-1] if cls.segmented else (loose,))
    for field in fields:
        single = not field.many
        length = 1 if single else next(lengths)
        grouped.append(values[start] if single else values[start : start + length])
        start += length
    return grouped


def _named(cls: type[Op], attributes: tuple[Any, ...]) -> dict[str, Any]:
    names = [field.name for field in cls.attribute_fields]
    return dict(zip(names, attributes, strict=False))


def _two_devices(cls: type[Op], operands: tuple[Node, ...]) -> None:
    devices = [str(operand.device) for operand in operands if operand.device is not None]
    fail(
        DeviceError,
        getattr(cls, "name", "call"),
        f"the tensors are on different devices: {', '.join(devices)}",
        hint="move one with `.to(device)` first",
    )
