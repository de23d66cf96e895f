"""`brimstone bisect`: which single change of which pass made a program wrong.

In: a file of IR and the passes that do something wrong with it. Out: the change, the user's lines,
the fuel that includes it, and its diff. Exit code 0 if there is one, 1 if nothing is wrong.
"""

from typing import Annotated

import typer

from ..passes.bisect import Culprit
from ..passes.bisect import bisect as search
from ..passes.examine import Oracle
from ..passes.notation import pipeline_text
from ..passes.report import coloured
from .programs import nothing_is_wrong, pipeline_of, read_program, readable_errors


def bisect(
    file: Annotated[str, typer.Argument(help="The IR to read; - for standard input.")],
    passes: Annotated[
        str | None, typer.Option(help="Such as 'simplify,cse,dead'; else the file's // RUN: lines.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which random arguments to run on.")] = 0,
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="How far floats may differ, relative to max(1, |x|).")
    ] = 0.0,
) -> None:
    """Find the first change of a pass that makes results wrong, or a pass fail."""
    from rich.console import Console

    program = read_program(file)
    steps, _ = pipeline_of(passes, program.text)
    with readable_errors({program.name: program.text}):
        culprit = search(program.module, steps, Oracle(seed, tolerance))
    if culprit is None:
        nothing_is_wrong(program.module)
    for line in lines(culprit, file, pipeline_text(steps)):
        typer.echo(line)
    Console().print(coloured(culprit.diff), end="", soft_wrap=True)


def lines(culprit: Culprit, file: str, passes: str) -> list[str]:
    """What was found, without the diff."""
    if culprit.fuel == 0:
        return ["it is wrong without any change that a pass notes", culprit.failure.message]
    what = culprit.application or "a change that it had not noted when it failed"
    return [
        f"{culprit.step}: {what}",
        f"change {culprit.fuel} of {culprit.total}: {culprit.failure.message}",
        f"replay: brimstone opt {file} --passes '{passes}' --fuel {culprit.fuel}",
    ]
