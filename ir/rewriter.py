"""Rewrites: plain functions indexed by op class, and the one loop that applies them.

Comes in: a func, rules, and a journal that says how many applications may still happen. Goes out:
the func at its fixed point, and in the journal each application: which rule, on which op, where.
Never: a replacement of another type, an endless loop, or a change that the journal does not show.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

from .builder import Builder
from .declare import BareOp, Op
from .errors import RewriteError
from .func import Func
from .locations import Location
from .values import AnyValue, replace, walk

Rewriter = Builder
"""What a rewrite builds its replacement with: it stands before the op being rewritten."""

Values = AnyValue | tuple[AnyValue, ...]
Replacement = Values | None
Function = Callable[[Any, Any], Any]
Entry = tuple[str, str, Location]
Worklist = dict[BareOp, None]
Rewritten = TypeVar("Rewritten", bound=Op)
APPLICATIONS_PER_OP = 64


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
        self.entries: list[Entry] = []

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
        if self.spent:
            return False
        self.entries.append((rule, op.name, op.location))
        return True


class Rewrite:
    """One rule, for ops of some classes: a function whose docstring says `before -> after`."""

    def __init__(self, classes: tuple[type[BareOp], ...], function: Function) -> None:
        self.classes, self.function, self.name = classes, function, function.__name__
        self.summary = (function.__doc__ or "").strip().split("\n")[0]
        if "->" not in self.summary:
            raise TypeError(f"the docstring of the rewrite {self.name} lacks 'a -> b'")


def rewrite(
    *classes: type[Rewritten],
) -> Callable[[Callable[[Rewritten, Rewriter], Replacement]], Rewrite]:
    """Make a function a rewrite of ops of `classes`: it returns what takes the place of the op's
    results, `()` to erase an op without results, or None to leave the op alone."""
    return partial(Rewrite, classes)


class Rules:
    """A set of rewrites, indexed by class; for one op they are tried in the order given."""

    def __init__(self, *parts: "Rewrite | Rules") -> None:
        self.rewrites: tuple[Rewrite, ...] = ()
        for part in parts:
            self.rewrites += part.rewrites if isinstance(part, Rules) else (part,)
        self.of = cache(self._of)

    def _of(self, cls: type[BareOp]) -> tuple[tuple[str, Function], ...]:
        """The names and functions of the rewrites for ops of `cls`, and of folding them."""
        matching = [each for each in self.rewrites if issubclass(cls, each.classes)]
        folding = [("fold", fold)] if cls.foldable else []
        return (*[(each.name, each.function) for each in matching], *folding)


def fold(op: Op, rewriter: Rewriter) -> Replacement:
    """f(constants) -> constants"""
    payloads = op.fold() if all([each.owner.is_constant for each in op.operands]) else None
    return None if payloads is None else rewriter.constants(op.__class__, payloads)


def apply(rules: Rules, func: Func, journal: Journal) -> None:
    """Rewrite, fold and drop dead ops until nothing changes or the fuel is spent."""
    entries = journal.entries
    worklist = dict.fromkeys(reversed(list(func.walk())))
    limit = len(entries) + APPLICATIONS_PER_OP * (len(worklist) + 64)
    stop_at = limit if journal.fuel is None else min(limit, journal.fuel)
    _work_off(worklist, rules, func, entries, stop_at)
    if len(entries) >= limit:
        last = ", ".join(dict.fromkeys([rule for rule, _, _ in reversed(entries[-6:])]))
        raise RewriteError(f"rewriting does not end; the last rules: {last}", entries[-1][2])


def _work_off(worklist: Worklist, rules: Rules, func: Func, entries: list[Entry], end: int) -> None:
    """Look at the ops of the worklist, the last one first, and at all that changes meanwhile."""
    rewriter = Rewriter(func.body)
    created = rewriter.log = list[BareOp]()
    while worklist and len(entries) < end:
        op, _ = worklist.popitem()
        block = op.block
        if block is None:
            continue
        if op.pure and op.unused:
            worklist |= dict.fromkeys(op.detach())
            continue
        if rewriter.block is not block:
            rewriter.move_to(block)
        for rule, function in rules.of(op.__class__):
            rewriter.before, rewriter.location = op, op.location
            new = function(op, rewriter)
            if new is not None and _replace(rule, op, new, worklist):
                entries.append((rule, op.name, op.location))
                break
        if created:
            worklist |= dict.fromkeys(walk(created))
            created.clear()


def _replace(rule: str, op: BareOp, new: Values, worklist: Worklist) -> bool:
    """Put `new` in the place of the op's results; whatever this touches is to be looked at."""
    results = op.results
    values = new if isinstance(new, tuple) else (new,)
    if len(values) != len(results):
        raise _refusal(rule, op, values)
    for result in results:
        value = values[result.index]
        if value is result:
            return False
        if value.type is not result.type:
            raise _refusal(rule, op, values)
        value.name = value.name or result.name
        worklist |= replace(result, value)
    worklist |= dict.fromkeys(op.detach())
    return True


def _refusal(rule: str, op: BareOp, new: tuple[AnyValue, ...]) -> RewriteError:
    was, now = (", ".join([value.type.text for value in values]) for values in (op.results, new))
    return RewriteError(f"the rewrite {rule} replaces {op.name} : {was} by {now}", op.location)
