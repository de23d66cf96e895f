"""What a compiled function is: its IR, and what it does in words.

Comes in: a traced function. Goes out: things to print.
Never: a computation.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..ir.func import Module
from ..ir.printer import print_module
from .arguments import Arguments
from .function import Traced


class Lowered:
    """A function as IR: `ir` is the module; printed, it is the text with the user's lines.

    It is one func, or where sizes depend on values one for each stage, in order.
    """

    def __init__(self, traced: Traced) -> None:
        steps = () if traced.stages is None else traced.stages.steps
        self.ir = Module([stage.func for stage in steps] or [traced.func])

    def __str__(self) -> str:
        return print_module(self.ir, locations=True)

    def __repr__(self) -> str:
        return f"<lowered function of {sum(1 for func in self.ir for _ in func.walk())} ops>"


class Explanation:
    """What a compiled function does with one kind of arguments."""

    def __init__(self, traced: Traced, given: Arguments, kinds: int) -> None:
        self.func, self.kinds = traced.func, kinds
        self.results, self.stages = traced.results, traced.stages
        self.captures = [node.type for node in traced.captures]
        self.arguments = [like.type for like in given.like]

    @property
    def ops(self) -> Counter[str]:
        """How often each op occurs."""
        return Counter(op.name for op in self.func.walk() if not op.terminator)

    def lines(self) -> list[tuple[str, int]]:
        """The user's lines, with the number of ops that each recorded."""
        found: Counter[Any] = Counter(
            str(op.location) or "unknown" for op in self.func.walk() if not op.terminator
        )
        return list(found.items())

    def splits(self) -> list[str]:
        """Where the function is split into stages, for which line, and why."""
        steps = () if self.stages is None else self.stages.steps
        text = [f"runs in {len(steps)} stages"] if steps else []
        for place, stage in enumerate(steps):
            text += [
                f"  split after stage {place}: `{bound.operation}` at {bound.location} "
                "gives as many elements as its data say; the host reads "
                f"{bound.symbol} (0..{bound.symbol.maximum})"
                for bound in stage.ends
            ]
        return text

    def __str__(self) -> str:
        results = ", ".join(map(str, self.results))
        taken = ", ".join(map(str, self.arguments)) or "nothing"
        text = [f"takes {taken}; returns {results or 'nothing'}"]
        if self.captures:
            text.append(f"reads from outside: {', '.join(map(str, self.captures))}")
        text.append(f"kinds of arguments compiled so far: {self.kinds}")
        text += self.splits()
        text.append(f"{sum(self.ops.values())} ops: {_counted(self.ops)}")
        text += [f"  {line}: {count}" for line, count in self.lines()]
        return "\n".join(text)

    __repr__ = __str__


def _counted(ops: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in ops.most_common())
