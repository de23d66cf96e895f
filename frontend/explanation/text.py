"""An explanation as text that `rich` colours; without colours it is plain.

Comes in: an `Explanation`. Goes out: one `Text`.
Never: a width of a screen; lines are as long as what they say.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from . import words
from .explanation import Explanation, Part
from .kernels import CODE, ExplainedKernel

INDENT = "   "
LABEL = 10
"""How wide the column is that says what a line is about."""

Piece = str | tuple[str, str]
"""Text, or text with a style."""


def explanation_text(told: Explanation, tiles: bool) -> Text:
    """All of it; without `tiles`, only what is so on every machine."""
    lines = [*_head(told), *_compiled(told)]
    number = 0
    for place, part in enumerate(told.parts):
        if len(told.parts) > 1:
            lines += [_line(), _line((f"stage {place}", "bold"))]
        lines += _part(part, tiles)
        for kernel in part.kernels:
            number += 1
            lines += [_line(), *_kernel(number, kernel, tiles)]
        lines += [_line(f"split after stage {place}: {each}") for each in part.ends]
    if not told.kernels:
        lines += [_line(f"  {line}: {count}") for line, count in told.lines()]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def _line(*pieces: Piece) -> Text:
    return Text.assemble(*pieces)


def _head(told: Explanation) -> Iterable[Text]:
    takes = ", ".join(f"{name} {type_}" for name, type_ in told.takes.items()) or "nothing"
    returns = ", ".join(told.returns) or "nothing"
    yield _line((told.name, "bold"), f" on {told.device} takes {takes}; returns {returns}")
    yield _line(
        f"{words.counted(told.ops.total(), 'op')}: {words.ops_text(told, words.OPS_AT_MOST)}"
    )
    yield from [_line(f"no attention at {each}") for each in told.no_attention]
    if len(told.parts) > 1:
        yield _line(f"runs in {len(told.parts)} stages")
    yield _line(words.summary(told))
    if told.kernels:
        yield _line(words.traffic(told))


def _compiled(told: Explanation) -> Iterable[Text]:
    yield _line((words.readiness(told), "yellow" if told.new_steps else "green"))
    for step in told.steps:
        yield _line(f"  {words.facts(step)}")
        yield from [_line((f"    {each}", "dim")) for each in words.kinds_of(step)]


def _part(part: Part, tiles: bool) -> Iterable[Text]:
    if part.sizes:
        yield _line("sizes, which may be others without compiling again:")
    yield from [_line(f"  {words.size_text(each)}") for each in part.sizes]
    yield from [_line(f"  stays {each}") for each in part.kept]
    if tiles and part.memory is not None:
        yield _line(words.memory(part.memory))
        yield from [_line(f"  {each}") for each in words.held(part.memory)]


def _kernel(number: int, kernel: ExplainedKernel, tiles: bool) -> Iterable[Text]:
    color = "green" if kernel.does == CODE else "yellow"
    does = ", ".join(filter(None, (kernel.does, words.times_text(kernel))))
    yield _line((f"{number}  {kernel.name}", "bold"), "  ", (does, color))
    yield from _sources(kernel)
    yield _labelled("ops", words.short(kernel.ops))
    yield from _arrays(kernel)
    if kernel.saved.formula != 0:
        saved = str(kernel.saved)
        yield _labelled("saved", (saved, "green"), (f"  {words.formula_of(kernel.saved)}", "dim"))
    if tiles:
        yield from _stages(kernel)
    for reason in kernel.reasons:
        yield _labelled("why", (f"no machine code: {reason}", "yellow"))
    for place, (name, why) in enumerate(kernel.apart.items()):
        yield _labelled("" if place else "apart", "from ", (name, "bold"), f": {why}")


def _sources(kernel: ExplainedKernel) -> Iterable[Text]:
    lines, more = words.shown_lines(kernel)
    width = max([LABEL, *[len(line.place) + 1 for line in lines]])
    for line in lines:
        yield _line(INDENT, (line.place.ljust(width), "cyan"), " ", (line.text, "italic"))
    if more:
        yield _line(INDENT, (f"and {words.counted(more, 'line')} more", "dim"))


def _arrays(kernel: ExplainedKernel) -> Iterable[Text]:
    arrays = (*kernel.reads, *kernel.writes)
    names = [f"{words.array_text(each)}: {each.type}" for each in arrays]
    amounts = [str(each.bytes) for each in arrays]
    widths = max(map(len, names)), max(map(len, amounts))
    labels = {0: "reads", len(kernel.reads): "writes"} if kernel.reads else {0: "writes"}
    for place, each in enumerate(arrays):
        text = f"{names[place].ljust(widths[0])}  {amounts[place].rjust(widths[1])}"
        formula = (f"  {words.formula_of(each.bytes)}", "dim")
        yield _labelled(labels.get(place, ""), text, formula)


def _stages(kernel: ExplainedKernel) -> Iterable[Text]:
    """What is launched at these sizes, what at others, and the tiles."""
    here = [each for each in kernel.stages if each.is_made is not False and each.grid]
    for place, each in enumerate(here):
        yield _labelled("" if place else "launches", words.launched(each))
    for each in words.launched_else(kernel):
        yield _labelled("", (f"else {each}", "dim"))
    for place, each in enumerate(words.tile_texts(kernel)):
        yield _labelled("" if place else "tiles", each)


def _labelled(label: str, *pieces: Piece) -> Text:
    """A line about one thing."""
    return _line(INDENT, (label.ljust(LABEL + 1), "dim"), *pieces)
