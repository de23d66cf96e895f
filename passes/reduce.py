"""Shrinks a module while it stays interesting, such as while a pass still fails on it.

Comes in: a module and a predicate. Goes out: a module for which the predicate holds too and to
which no reduction of `reductions` can be applied any more. It is the same in every run.
Never: a change to the module that came in, nor a candidate that is not valid IR.
"""

from collections.abc import Callable, Iterable

from ..ir.errors import IRError, Unmet
from ..ir.func import Module
from ..ir.printer import print_module
from ..ir.types import Shaped
from ..ir.verifier import verify
from .copying import copy_module
from .dead import swept
from .examine import DIFFERS, Failure, Oracle, examine
from .notation import Pipeline, steps_of
from .reductions import KINDS, Change, complexity

Predicate = Callable[[Module], bool]
Weight = tuple[int, ...]

SYMBOL_WEIGHT = 10_000


def reduce_module(module: Module, interesting: Predicate) -> Module:
    """The smallest module that can be reached and for which `interesting` still holds.

    The predicate gets a module of its own each time, which it may change.
    """
    return Reducer(module, interesting).run()


def differs_after(pipeline: Pipeline, oracle: Oracle | None = None) -> Predicate:
    """Whether the interpreter's results before and after some passes differ."""
    steps = steps_of(pipeline)

    def interesting(module: Module) -> bool:
        failure = examine(module, steps, oracle=oracle).failure
        return failure is not None and failure.kind == DIFFERS

    return interesting


def fails_in(pipeline: Pipeline, text: str = "") -> Predicate:
    """Whether a pass raises, or leaves broken IR, and says `text`."""
    steps = steps_of(pipeline)

    def interesting(module: Module) -> bool:
        failure = examine(module, steps).failure
        return failure is not None and failure.step is not None and text in failure.message

    return interesting


def fails_like(
    failure: Failure, pipeline: Pipeline, text: str = "", oracle: Oracle | None = None
) -> Predicate:
    """Whether some passes fail in the way that was found, and say `text`."""
    steps = steps_of(pipeline)

    def interesting(module: Module) -> bool:
        found = examine(module, steps, oracle=oracle).failure
        return found is not None and found.kind == failure.kind and text in found.message

    return interesting


class Reducer:
    """One search; `current` is the smallest module so far, `attempts` how often it was asked."""

    def __init__(self, module: Module, interesting: Predicate) -> None:
        self.interesting = interesting
        self.current = copy_module(module)
        self.weight = weigh(self.current)
        self.attempts = 0
        self.sweeping = False
        self.boring: set[str] = set()
        if not interesting(copy_module(module)):
            raise ValueError("the module is not interesting to begin with")

    def run(self) -> Module:
        """Apply every kind of reduction until none makes the module smaller."""
        # Dead code goes with each change, unless what is interesting is the dead code.
        self.sweeping = self._try(swept) or weigh(swept(self.current)) == self.weight
        before = None
        while before != self.weight:
            before = self.weight
            for kind in KINDS:
                self._exhaust(kind)
        return self.current

    def _exhaust(self, kind: Callable[[Module], Iterable[Change]]) -> None:
        """Try every change of a kind; after one that works, go on from the same place."""
        changes, place = list(kind(self.current)), 0
        while place < len(changes):
            if self._try(changes[place]):
                changes = list(kind(self.current))
            else:
                place += 1

    def _try(self, change: Change) -> bool:
        """Take the changed module if it is smaller, valid and interesting."""
        candidate = self._candidate(change)
        if candidate is None:
            return False
        text = print_module(candidate)
        if text in self.boring:
            return False
        self.attempts += 1
        if not self.interesting(copy_module(candidate)):
            self.boring.add(text)
            return False
        self.current, self.weight = candidate, weigh(candidate)
        return True

    def _candidate(self, change: Change) -> Module | None:
        try:
            candidate = change(self.current)
            if self.sweeping:
                candidate = swept(candidate)
            if weigh(candidate) >= self.weight:
                return None
            verify(candidate)
        except (IRError, Unmet, ValueError):
            return None  # not every change makes sense everywhere
        return candidate


def weigh(module: Module) -> Weight:
    """What must fall with every step: ops, then results, arguments, sizes, constants, settings."""
    ops = [op for func in module for op in func.walk() if not op.terminator]
    values = [value for func in module for value in func.arguments]
    values += [result for op in ops for result in op.results]
    values += [value for op in ops for region in op.regions for value in region.arguments]
    return (
        len(module) + sum(2 - op.is_constant + len(op.regions) for op in ops),
        sum(len(func.results) for func in module),
        sum(len(func.arguments) for func in module),
        sum(
            size if isinstance(size, int) else SYMBOL_WEIGHT
            for value in values
            if isinstance(value.type, Shaped)
            for size in value.type.shape
        ),
        sum(complexity(op.attributes[0]) for op in ops if op.is_constant),
        sum(len(func.attributes) + len(func.symbols) for func in module),
    )
