"""Finding out what there is to say of a function.

Comes in: a traced function, its arguments, its device, and the plans made for it so far. Goes out:
an `Explanation`.
Never: a computation, or a step compiled: the function is lowered once more, with its own lines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from ..ir.func import Func
from ..passes.recognise import missed
from ..runtime.device import Device
from ..runtime.outlook import Outlook, foresee
from ..runtime.steps import Plan
from ..targets import Executable
from .arguments import Arguments
from .caller import user_line
from .explanation import Explanation, Part
from .explanation.kernels import Sizes, array_text, explained_kernels, source_lines
from .explanation.labels import argument_labels
from .explanation.steps import compiled_steps, open_sizes
from .function import Traced
from .stages import Stage, funcs_of

KEY = "the key"
"""What the argument is called that a function which draws random numbers takes besides."""


def explain_traced(
    function: Callable[..., Any],
    traced: Traced,
    func: Func,
    given: Arguments,
    device: Device,
    plans: Iterable[tuple[Plan, ...]],
    donated: Sequence[int],
) -> Explanation:
    """The explanation of a function, which is `func` for these arguments; `plans` are those of each
    kind of arguments so far, and `donated` are those of its nodes which are."""
    names = _names(function, traced, given)
    kinds = [*plans]
    made = [plan for each in kinds for plan in each]
    own = [plan.executable for plan in made]
    outlooks = _outlooks(traced, names, device, own, donated)
    parts = [_part(outlook, reads, given.sizes, ends) for outlook, reads, ends in outlooks]
    types = [value.type for value in traced.func.arguments]
    pairs = zip(names, types, strict=True)
    return Explanation(
        name=str(getattr(function, "__qualname__", function)).rpartition("<locals>.")[2],
        device=str(device),
        func=func,
        takes={name: array_text(type_, given.sizes) for name, type_ in pairs if name != KEY},
        returns=tuple([array_text(each, given.sizes) for each in traced.results]),
        parts=tuple(parts),
        steps=compiled_steps(made),
        kinds=len(kinds),
        no_attention=tuple(_no_attention(traced)),
    )


def _no_attention(traced: Traced) -> Iterator[str]:
    """What looks like attention and is none: its lines, and the reason."""
    for miss in missed(traced.func):
        lines = ", ".join([each.place for each in source_lines(miss.location)])
        yield f"{lines}: {miss.reason}"


def _names(function: Callable[..., Any], traced: Traced, given: Arguments) -> list[str]:
    """What people call all that the traced func takes."""
    labels = argument_labels(function, given.structure)
    outside = [f"outside[{place}]" for place in range(len(traced.captures))]
    hidden = len(traced.func.arguments) - len(given.places) - len(outside)
    return [*[labels[place] for place in given.places], *[KEY] * hidden, *outside]


def _outlooks(
    traced: Traced,
    names: list[str],
    device: Device,
    own: Collection[Executable],
    donated: Sequence[int],
) -> Iterator[tuple[Outlook, list[str], tuple[str, ...]]]:
    """The outlook for the one step, or each stage, with what it takes and what ends it."""
    if traced.stages is None:
        yield foresee(traced.func, device, names, own, donated), names, ()
        return
    known = dict(enumerate(names))
    for stage, func in zip(traced.stages.steps, funcs_of(traced.stages), strict=True):
        reads = [known.get(each, f"value {each}") for each in stage.reads]
        yield foresee(func, device, reads, own), reads, tuple(_ends(stage))


def _part(outlook: Outlook, names: list[str], given: Sizes, ends: tuple[str, ...]) -> Part:
    sizes = {**given, **outlook.sizes}
    return Part(
        outlook.account.runs,
        outlook.is_compiled,
        open_sizes(outlook.func, names, sizes),
        tuple(map(str, outlook.kept)),
        explained_kernels(outlook.account.kernels, sizes, user_line()),
        ends,
        outlook.account.memory(sizes),
    )


def _ends(stage: Stage) -> Iterator[str]:
    """For which lines the function is split after a stage, and why."""
    for bound in stage.ends:
        lines = ", ".join([each.place for each in source_lines(bound.location)])
        yield (
            f"`{bound.operation}` at {lines} gives as many elements as its data say; "
            f"the host reads {bound.symbol} (0..{bound.symbol.maximum})"
        )
