"""The words in which an explanation is told, the same as text and on a page.

Comes in: an `Explanation`, or something in it. Goes out: phrases.
Never: where they stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from ...targets.account import Memory
from .explanation import Explanation
from .kernels import Amount, ExplainedArray, ExplainedKernel, ExplainedStage, SourceLine, readable
from .steps import CompiledStep, OpenSize

LINES_AT_MOST = 8
KINDS_AT_MOST = 4
OPS_AT_MOST = 6
HELD_AT_MOST = 5


def counted(count: int, thing: str) -> str:
    """`1 kernel`, `2 kernels`."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def summary(told: Explanation) -> str:
    """How many kernels there are, and how many are machine code."""
    kernels = told.kernels
    if not kernels:
        return told.runs
    found = Counter(kernel.does for kernel in kernels)
    each = ", ".join(f"{count} {does}" for does, count in found.items())
    return f"{counted(len(kernels), 'kernel')}: {each if len(found) > 1 else kernels[0].does}"


def ops_text(told: Explanation, most: int | None = None) -> str:
    """How often each op was recorded, or those that were most often."""
    found = told.ops.most_common(most)
    others = len(told.ops) - len(found)
    text = ", ".join(f"{count} {name.removeprefix('tensor.')}" for name, count in found)
    return f"{text} and {counted(others, 'other')}" if others else text


def traffic(told: Explanation) -> str:
    """How much memory is moved, and what fusion saved."""
    if told.moved is None or told.saved is None:
        return "how much memory is moved depends on values"
    apart = told.moved + told.saved
    kept = f"{100 * told.saved / apart:.0f} % less than" if told.saved else "as much as"
    return f"moves {readable(told.moved)}, {kept} op by op ({readable(apart)})"


def memory(taken: Memory) -> str:
    """How much memory a step takes in all, and for what."""
    amounts = {"given": taken.given, "made": taken.makes, "in between": taken.between}
    parts = [f"{readable(size)} {what}" for what, size in amounts.items() if size]
    return f"takes {readable(taken.total)}{': ' if parts else ''}{', '.join(parts)}"


def held(taken: Memory) -> list[str]:
    """The largest arrays in between that are alive where most is."""
    shown, rest = taken.alive[:HELD_AT_MOST], taken.alive[HELD_AT_MOST:]
    found = [f"{readable(each.bytes)} {each.type} of {each.kernel}" for each in shown]
    if rest:
        found.append(f"{readable(sum([each.bytes for each in rest]))} in {len(rest)} more")
    return found


def readiness(told: Explanation) -> str:
    """What is compiled, and whether a call would compile more."""
    steps, kinds = counted(len(told.steps), "step"), counted(told.kinds, "kind")
    done = f"{steps} compiled for {kinds} of arguments so far" if told.kinds else "not called yet"
    new = counted(told.new_steps, "step") if told.new_steps else "nothing"
    return f"{done}; a call with these arguments compiles {new}"


def facts(step: CompiledStep) -> str:
    """What a compiled step takes."""
    where = f" where {', '.join(step.bounds)}" if step.bounds else ""
    return f"takes {', '.join(step.takes) or 'nothing'}{where}"


def kinds_of(step: CompiledStep) -> list[str]:
    """The sizes of the first kinds of arguments that a step serves."""
    shown = [each for each in step.kinds if each][:KINDS_AT_MOST]
    more = len(step.kinds) - KINDS_AT_MOST
    return [*shown, f"and {more} more"] if more > 0 else shown


def size_text(size: OpenSize) -> str:
    """A size, what it is, where it is met, and what else it may be."""
    now = ", known when the data are" if size.number is None else f" = {size.number}"
    place = f", {size.place}" if size.place else ""
    return f"{size.name}{now}{place}; may be {size.bounds}"


def tile_texts(kernel: ExplainedKernel) -> list[str]:
    """The schedules of a kernel; stages mostly have one together."""
    found = [
        ", ".join(f"{name} {size}" for name, size in each.tile.items()) for each in kernel.stages
    ]
    return [*dict.fromkeys(filter(None, found))]


def launched(stage: ExplainedStage) -> str:
    """A launch that is made, or may be."""
    unless = "" if stage.is_made else f", if {stage.conditions}"
    together = f", in one launch of {stage.together}" if stage.together > 1 else ""
    version = f"; another version {stage.version}" if stage.version else ""
    programs = f"{stage.grid} program{'' if stage.grid == '1' else 's'}"
    return f"{stage.name}, {programs}{together}{unless}{version}"


def launched_else(kernel: ExplainedKernel) -> list[str]:
    """What is launched at other sizes, and at which."""
    found: dict[str, list[str]] = {}
    for each in kernel.stages:
        if each.is_made is False:
            found.setdefault(each.conditions, []).append(each.name)
    return [f"{', '.join(names)}, if {conditions}" for conditions, names in found.items()]


def formula_of(amount: Amount) -> str:
    """The formula of an amount that is another one at other sizes."""
    return str(amount.formula) if amount.is_formula else ""


def times_text(kernel: ExplainedKernel) -> str:
    """How often a kernel runs, if not once."""
    times = kernel.times
    if times.formula == 1:
        return ""
    return f"{times.formula if times.number is None else times.number} times"


def shown_lines(kernel: ExplainedKernel) -> tuple[Sequence[SourceLine], int]:
    """The first lines of a kernel, and how many more there are."""
    return kernel.lines[:LINES_AT_MOST], max(0, len(kernel.lines) - LINES_AT_MOST)


def short(ops: Sequence[str]) -> str:
    """Ops in order; the same one again and again is counted."""
    runs = [(name, sum(1 for _ in run)) for name, run in groupby(ops)]
    return ", ".join(name if count == 1 else f"{count}× {name}" for name, count in runs)


def array_text(array: ExplainedArray) -> str:
    """What an array is called, and which kernel made it."""
    return f"{array.name} of {array.source}" if array.source else array.name
