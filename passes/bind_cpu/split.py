"""Where the interior of a loop ends: the rounds in which no block sticks out of its view.

Comes in: a `tile.for` that is about to be bound. Goes out: the checks that hold in its first
rounds, and the index at which those rounds end.
Never: a round left out or run twice; those after the end are bound with masks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...ir import loop, tile
from ...ir.dims import Size, symbols
from ...ir.loop import BinaryKind, CompareKind
from ...ir.values import AnyValue
from .binding import Binding
from .checks import Check, not_negative, open_checks
from .emitter import Index


@dataclass(frozen=True)
class Split:
    """The checks of a loop whose offset is its index plus what does not change in it."""

    binding: Binding
    op: tile.For
    step: int
    checks: Sequence[Check]

    @classmethod
    def of(cls, binding: Binding, op: tile.For) -> "Split | None":
        """The split of a loop, if it has any such checks that are open."""
        step = binding.ranges.of(op.step)
        if not isinstance(step, int) or step < 1:
            return None
        split = cls(binding, op, step, [])
        found = [check for check in open_checks(op.body, binding.ranges) if split.takes(check)]
        return cls(binding, op, step, found) if found else None

    @property
    def index(self) -> AnyValue:
        """The index of the loop."""
        return self.op.body.arguments[0]

    def takes(self, check: Check) -> bool:
        """Whether a check fails only from some round on, which can be told before the loop."""
        binding, ranges = self.binding, self.binding.ranges
        if check.key in binding.known or check.key in binding.tails.keys:
            return False
        if check.source not in binding.values:
            return False
        turn, at, place = ranges.turn_of(self.index), ranges.of(self.index), check.place
        if turn is None or at is None or place is None:
            return False
        moves = turn in symbols(place) and turn not in symbols(place - at)
        return moves and self.start(check) is not None

    def start(self, check: Check) -> Index | None:
        """The offset of a check in the first round."""
        lower = self.binding.scalar(self.op.lower)
        return evaluate(self.binding, check.offset, {self.index: lower})

    def end(self) -> Index:
        """lower + step * (the number of rounds in which all checks hold)"""
        emitter = self.binding.emitter
        lower, upper = (self.binding.scalar(each) for each in (self.op.lower, self.op.upper))
        room = self._room(self.checks[0])
        for check in self.checks[1:]:
            room = emitter.least(room, self._room(check))
        if not all(self._asks_no_less(check) for check in self.checks):
            room = emitter.least(room, emitter.sum(emitter.difference(upper, lower), self.step - 1))
        if not all(self._lacks_nothing(check) for check in self.checks):
            room = emitter.greatest(room, 0)
        for check in self.checks:
            room = self._unless_before(check, room)
        return emitter.sum(lower, self._whole_rounds(room))

    def _room(self, check: Check) -> Index:
        """How far the rounds reach that pass a check: extent - start - count + step."""
        start = self.start(check)
        assert start is not None
        emitter = self.binding.emitter
        left = emitter.difference(self.binding.extent(check), start)
        return emitter.sum(left, self.step - check.count)

    def _room_dim(self, check: Check) -> Size | None:
        """The same as a dim."""
        ranges = self.binding.ranges
        at, lower = ranges.of(self.index), ranges.of(self.op.lower)
        if check.place is None or check.size is None or at is None or lower is None:
            return None
        return check.size - (check.place - at + lower) - check.count + self.step

    def _asks_no_less(self, check: Check) -> bool:
        """Whether the loop certainly asks for as many rounds as a check has room for."""
        ranges = self.binding.ranges
        room, lower, upper = (
            self._room_dim(check),
            ranges.of(self.op.lower),
            ranges.of(self.op.upper),
        )
        if room is None or lower is None or upper is None:
            return False
        return ranges.proves(room, upper - lower + self.step - 1)

    def _lacks_nothing(self, check: Check) -> bool:
        """Whether the room of a check is certainly not negative."""
        room = self._room_dim(check)
        return room is not None and self.binding.ranges.proves(0, room)

    def _unless_before(self, check: Check, room: Index) -> Index:
        """No room at all, where the first round begins before the view does."""
        if not_negative(check, self.binding.ranges):
            return room
        emitter = self.binding.emitter
        start = emitter.value(self.start(check) or 0)
        inside = emitter.compare(CompareKind.LESS_EQUAL, emitter.number(0), start)
        return emitter.emit(loop.Select, inside, emitter.value(room), emitter.number(0))

    def _whole_rounds(self, room: Index) -> Index:
        """The greatest multiple of the step within the room."""
        emitter, step = self.binding.emitter, self.step
        room = emitter.known(room)
        if isinstance(room, int):
            return room // step * step
        if step == 1:
            return room
        if step & (step - 1) == 0:
            return emitter.binary(BinaryKind.BIT_AND, room, emitter.number(-step))
        rounds = emitter.binary(BinaryKind.DIVIDE, room, emitter.number(step))
        return emitter.product(rounds, step)


def evaluate(binding: Binding, value: AnyValue, given: Mapping[AnyValue, AnyValue]) -> Index | None:
    """A scalar of sums, differences and products, from values that are given, or bound and not
    computed of these."""
    emitter = binding.emitter
    found = given.get(value)
    if found is None and not _reads(value, given):
        found = binding.values.get(value)
    if found is not None:
        return emitter.known(found)
    op = value.owner
    if isinstance(op, tile.Constant):
        return emitter.known(emitter.emit(loop.Constant, op.value))
    if not isinstance(op, tile.Binary):
        return None
    left, right = (evaluate(binding, each, given) for each in op.operands)
    if left is None or right is None:
        return None
    return emitter.arithmetic(op.kind, left, right)


def _reads(value: AnyValue, given: Mapping[AnyValue, AnyValue]) -> bool:
    """Whether a scalar is computed of what is given."""
    op = value.owner
    if not given or not isinstance(op, tile.Binary):
        return False
    return any([each in given or _reads(each, given) for each in op.operands])
