"""Rewrites: plain functions indexed by op class, and the one driver that applies them.

Comes in: a func, a rule set, and a journal that says how many applications may still happen.
Goes out: the func at its fixed point, and in the journal one entry for each application: which
rule, on which op, at which user's line.
Never: a replacement of another type, an endless loop, or a change that the journal does not show.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, NoReturn, TypeVar

from .builder import Builder
from .declare import Op
from .errors import RewriteError
from .func import Func
from .locations import Location
from .values import AnyValue, Block, replace
from .values import Op as BareOp

Named = tuple[str, Callable[[Any, "Rewriter"], Any]]
Replacement = AnyValue | tuple[AnyValue, ...] | None
Rewritten = TypeVar("Rewritten", bound=Op)

APPLICATIONS_PER_OP = 64
APPLICATIONS_AT_LEAST = 4096
NAMED_WHEN_ENDLESS = 6


class Application(NamedTuple):
    """One change: the rule, the name of the op it changed, and the op's lines."""

    rule: str
    op: str
    location: Location

    def __str__(self) -> str:
        return f"{self.rule} on {self.op} at {self.location or 'an unknown line'}"


class Journal:
    """What changes may still happen (`fuel`, None for any number), and which have."""

    def __init__(self, fuel: int | None = None) -> None:
        self.fuel = fuel
        self.entries: list[tuple[str, str, Location]] = []

    @property
    def applications(self) -> list[Application]:
        """The changes that have happened, in order."""
        return [Application(*entry) for entry in self.entries]

    @property
    def spent(self) -> bool:
        """Whether no change may happen any more."""
        return self.fuel is not None and len(self.entries) >= self.fuel

    def allow(self, rule: str, op: BareOp) -> bool:
        """Note the change that `rule` is about to make to `op`; False when the fuel is spent."""
        if self.fuel is not None and len(self.entries) >= self.fuel:
            return False
        self.entries.append((rule, op.name, op.location))
        return True


class Rewriter(Builder):
    """What a rewrite builds its replacement with: it stands before the op being rewritten."""

    __slots__ = ()

    def covers(self, *others: BareOp) -> None:
        """Say that the replacement stands for these ops too, so that it keeps their lines."""
        for other in others:
            self.location = self.location.union(other.location)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One rule: `before -> after`, for ops of some classes."""

    name: str
    summary: str
    classes: tuple[type[BareOp], ...]
    function: Callable[[Any, Rewriter], Replacement]


def rewrite(
    *classes: type[Rewritten],
) -> Callable[[Callable[[Rewritten, Rewriter], Replacement]], Rewrite]:
    """Make a function a rewrite of ops of `classes`; its docstring says `before -> after`.

    It returns what takes the place of the op's results, `()` to erase an op without results, or
    None to leave the op alone.
    """

    def declare(function: Callable[[Rewritten, Rewriter], Replacement]) -> Rewrite:
        summary = (function.__doc__ or "").strip().split("\n")[0]
        if "->" not in summary:
            raise TypeError(f"the docstring of the rewrite {function.__name__} lacks 'a -> b'")
        return Rewrite(function.__name__, summary, classes, function)

    return declare


class Rules:
    """A set of rewrites, indexed by class; for one op they are tried in the order given."""

    def __init__(self, *parts: "Rewrite | Rules") -> None:
        self.rewrites: tuple[Rewrite, ...] = ()
        for part in parts:
            self.rewrites += part.rewrites if isinstance(part, Rules) else (part,)
        self.of = cache(self._of)

    def _of(self, cls: type[BareOp]) -> tuple[Named, ...]:
        """The names and functions of the rewrites for ops of `cls`."""
        matching = (each for each in self.rewrites if issubclass(cls, each.classes))
        return tuple((each.name, each.function) for each in matching)

    def without(self, name: str) -> "Rules":
        """The same set but for one rewrite."""
        return Rules(*(each for each in self.rewrites if each.name != name))


def apply(rules: Rules, func: Func, journal: Journal) -> None:
    """Rewrite, fold and drop dead ops until nothing changes or the fuel is spent."""
    _Driver(rules, func, journal).run()


class _Driver:
    """The worklist: ops still to look at, the last one first."""

    def __init__(self, rules: Rules, func: Func, journal: Journal) -> None:
        self.rules = rules
        self.entries = journal.entries
        self.worklist = [] if journal.spent else list(func.walk())
        self.worklist.reverse()
        self.queued = set(self.worklist)
        extra = APPLICATIONS_AT_LEAST + APPLICATIONS_PER_OP * len(self.worklist)
        self.limit = extra + len(self.entries)
        self.stop_at = self.limit if journal.fuel is None else min(self.limit, journal.fuel)
        self.created: list[BareOp] = []
        self.rewriter = Rewriter(func.body)
        self.rewriter.log = self.created

    def run(self) -> None:
        """Look at every op until none is left."""
        worklist, queued, of, rewriter = self.worklist, self.queued, self.rules.of, self.rewriter
        while worklist:
            op = worklist.pop()
            queued.discard(op)
            block = op.block
            if block is None:
                continue
            for result in op.results:
                if result.uses:
                    break
            else:
                if op.pure:
                    self._push_makers(op.detach())
                    continue
            for name, function in of(op.__class__):
                if rewriter.block is not block:
                    rewriter.move_to(block)
                rewriter.before, rewriter.location = op, op.location
                replacement = function(op, rewriter)
                if replacement is not None and self._replace(name, op, replacement):
                    break
            else:
                self._leave(op)

    def _leave(self, op: BareOp) -> None:
        """No rule matches; but rules may have built ops meanwhile, and the op may fold."""
        if self.created:
            self._push_created()
        if not op.foldable or not all([each.owner.is_constant for each in op.operands]):
            return
        assert isinstance(op, Op) and op.block is not None
        payloads = op.fold()
        if payloads is not None:
            self.rewriter.move_to(op.block, op)
            self.rewriter.location = op.location
            self._replace("fold", op, self.rewriter.constants(op.__class__, payloads))

    def _replace(self, rule: str, op: BareOp, new: AnyValue | tuple[AnyValue, ...]) -> bool:
        """Put `new` in the place of the op's results, and look again at all that this touches."""
        results = op.results
        if isinstance(new, tuple):
            touched = self._replace_all(rule, op, new)
            if touched is None:
                return False
        else:
            result = results[0]
            if new is result:
                return False
            if new.type is not result.type or len(results) != 1:
                self._refuse(rule, op, (new,))
            if result.name is not None and new.name is None:
                new.name = result.name
            touched = replace(result, new)
        entries = self.entries
        entries.append((rule, op.name, op.location))
        unread = op.detach()
        if unread:
            self._push_makers(unread)
        if self.created:
            self._push_created()
        if not self.queued.issuperset(touched):
            self._push(touched)
        if len(entries) >= self.stop_at:
            self._stop(op)
        return True

    def _replace_all(self, rule: str, op: BareOp, new: tuple[AnyValue, ...]) -> list[BareOp] | None:
        """Replace each result by its own value; None when they are the same already."""
        if new and new == op.results:
            return None
        if [value.type for value in new] != [result.type for result in op.results]:
            self._refuse(rule, op, new)
        touched: list[BareOp] = []
        for result, value in zip(op.results, new, strict=True):
            value.name = value.name or result.name
            touched += replace(result, value)
        return touched

    def _stop(self, op: BareOp) -> None:
        """Stop because the fuel is spent, or complain that rewriting does not end."""
        self.worklist.clear()
        entries = self.entries
        if len(entries) >= self.limit:
            recent = [rule for rule, _, _ in reversed(entries[-200:])]
            last = ", ".join(list(dict.fromkeys(recent))[:NAMED_WHEN_ENDLESS])
            raise RewriteError(f"rewriting does not end; the last rules: {last}", op.location)

    def _push_makers(self, unread: list[AnyValue]) -> None:
        """Look at the ops that made values which nobody reads any more."""
        self._push([value.owner for value in unread if not isinstance(value.owner, Block)])

    def _push_created(self) -> None:
        """Look at what a rule has built, and at what stands in its regions."""
        for op in self.created:
            self._push(list(op.walk()))
        self.created.clear()

    def _push(self, ops: list[BareOp]) -> None:
        queued = self.queued
        for op in ops:
            if op not in queued and op.block is not None:
                queued.add(op)
                self.worklist.append(op)

    def _refuse(self, rule: str, op: BareOp, new: tuple[AnyValue, ...]) -> NoReturn:
        was, now = (", ".join([v.type.text for v in values]) for values in (op.results, new))
        raise RewriteError(f"the rewrite {rule} replaces {op.name} : {was} by {now}", op.location)
