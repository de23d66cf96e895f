"""What a func says about its sizes: which parts the shapes of its values and its attributes have.

Comes in: a func. Goes out: a `Recording`, which op after op fills: a relation of the op's class
says which sizes it wants equal, and which parts its results have.
Never: a change to the func.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from ...ir.attributes import SIZE, SIZES, Shape
from ...ir.declare import Op, declared_class, operand_groups
from ...ir.dims import DimError, Size
from ...ir.errors import Unmet
from ...ir.func import Func
from ...ir.payloads import Payload
from ...ir.types import Tensor
from ...ir.values import AnyValue
from ...ir.values import Op as BareOp
from .classes import Classes, Part, Parts

Relation = Callable[[Any, "Recording"], None]
Setting = Part | Parts

UNKNOWN_OP = "what it asks of sizes is not known"


class Recording:
    """`parts` of the shape of each tensor, and `settings` of the sizes among an op's attributes.

    `data` are the parts of arrays that become arguments, each of which may stand in several places.
    """

    def __init__(self, func: Func) -> None:
        self.classes = Classes(func.symbols)
        self.parts: dict[AnyValue, Parts] = {}
        self.settings: dict[BareOp, tuple[Setting, ...]] = {}
        self.data: dict[Payload, Parts] = {}
        for argument in func.arguments:
            self.add(argument)
        self._given = self.classes.count

    def is_given(self, part: Part) -> bool:
        """Whether the size of an argument's axis is among what a part is made of."""
        return any(each.number <= self._given for each in self.classes.inside(part))

    def add(self, value: AnyValue) -> None:
        """A value whose sizes follow from nothing."""
        type_ = value.type
        self.parts[value] = self.classes.shape(type_.shape) if isinstance(type_, Tensor) else ()

    def state(self, value: AnyValue) -> None:
        """A value whose sizes stay as they are."""
        self.parts[value] = value.type.shape if isinstance(value.type, Tensor) else ()

    def derive(self, op: Op) -> None:
        """Let the op's own shape rule say what the sizes of its first result are made of."""
        cls, dim = declared_class(op), self.classes.dim
        given: dict[str, Any] = {
            name: tuple(map(dim, setting)) if isinstance(setting, tuple) else dim(setting)
            for name, setting in zip(_size_names(cls), self.settings.get(op, ()), strict=False)
        }
        for field, (operand, *_) in operand_groups(op):
            shape = tuple(map(dim, self.parts[operand]))
            given[field.name] = operand.type.with_shape(shape)
        rule = cls.shape_rule
        assert rule is not None
        wanted = _wanted_names(cls)
        made = rule(*[given[name] if name in given else getattr(op, name) for name in wanted])
        result = op.results[0]
        pairs = zip(made.shape, result.type.shape, strict=True)
        self.parts[result] = tuple([self.classes.derived(*pair) for pair in pairs])

    def parts_of(self, op: BareOp) -> Iterable[Part]:
        """All parts that an op has to do with."""
        values = [*op.operands, *op.results]
        for region in op.regions:
            values += [*region.arguments, *region.terminator.operands]
        for value in values:
            yield from self.parts[value]
        for setting in self.settings.get(op, ()):
            yield from setting if isinstance(setting, tuple) else (setting,)


def keep_op(op: BareOp, recording: Recording, reason: str = UNKNOWN_OP) -> None:
    """The sizes of what the op reads, makes and hands to its regions stay as they are."""
    recording.settings.pop(op, None)
    for operand in op.operands:
        recording.classes.keep(recording.parts[operand], reason)
    for made in (*op.results, *(each for region in op.regions for each in region.arguments)):
        recording.state(made)


def by_own_rule(op: BareOp, recording: Recording) -> None:
    """The op's own shape rule says all, if it has one that does; else its sizes stay.

    That is enough for an op of one operand. One that wants sizes of several to be equal refuses
    them as long as they are classes apart.
    """
    sizes: list[Shape | Size | None] = [
        op.attributes[place] for place in size_places(declared_class(op))
    ]
    if not isinstance(op, Op) or not _is_plain(op) or None in sizes:
        keep_op(op, recording)
        return
    shape, size = recording.classes.shape, recording.classes.size
    stated = [shape(each) if isinstance(each, tuple) else size(each or 0) for each in sizes]
    recording.settings[op] = tuple(stated)
    recording.derive(op)


def _is_plain(op: Op) -> bool:
    """Whether an op makes one tensor of single ones, by a shape rule."""
    values = (*op.operands, *op.results)
    tensors = len(op.results) == 1 and all(isinstance(value.type, Tensor) for value in values)
    lists = any(field.many for field in op.operand_fields)
    return tensors and not lists and not op.regions and op.__class__.shape_rule is not None


def record(func: Func, relations: Mapping[type[BareOp], Relation]) -> Recording:
    """What all ops of a func say, by the relations of their classes or of the nearest bases."""
    recording = Recording(func)
    found: dict[type[BareOp], Relation] = {}
    for op in func.walk():
        cls = op.__class__
        relation = found.get(cls)
        if relation is None:
            related = (relations[base] for base in cls.__mro__ if base in relations)
            relation = found[cls] = next(related, by_own_rule)
        recording.classes.op = op
        try:
            relation(op, recording)
        except (Unmet, DimError) as problem:
            keep_op(op, recording, str(problem))
    return recording


@cache
def size_places(cls: type[Op]) -> tuple[int, ...]:
    """Which attributes of an op are sizes or lists of sizes."""
    fields = enumerate(cls.attribute_fields)
    return tuple(place for place, field in fields if field.kind in (SIZE, SIZES))


@cache
def _size_names(cls: type[Op]) -> tuple[str, ...]:
    return tuple(cls.attribute_fields[place].name for place in size_places(cls))


@cache
def _wanted_names(cls: type[Op]) -> tuple[str, ...]:
    return cls.infer_arguments
