"""`brimstone trace`: one HTML page that shows what every pass did.

In: a file of IR, and passes by name. Out: a page for a browser; its path, on standard output. If a
pass fails, the page shows the passes up to it and why it failed, and the exit code is 1.
"""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from ..passes.context import Context, Settings
from ..passes.manager import PassError, run_pipeline
from ..passes.trace import Recorder, describe, page
from .programs import pipeline_of, read_program, readable_errors, write_file


def trace(  # long: a parameter for each option of the command
    file: Annotated[str, typer.Argument(help="The IR to read; - for standard input.")],
    passes: Annotated[
        str | None, typer.Option(help="Such as 'simplify,cse,dead'; else the file's // RUN: lines.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the page here.")] = Path(
        "trace.html"
    ),
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    sources: Annotated[
        bool, typer.Option(help="Put the lines of source files that ops come from in the page.")
    ] = True,
    verify: Annotated[bool, typer.Option(help="Check the IR before and after each pass.")] = True,
    fuel: Annotated[
        int | None, typer.Option(min=0, help="Stop changing the IR after this many changes.")
    ] = None,
) -> None:
    """Run passes over a file of IR and write a page that shows each of them, side by side."""
    program = read_program(file, verified=verify)
    steps, asked_fuel = pipeline_of(passes, program.text)
    if not steps:
        raise typer.BadParameter("no passes are named", param_hint="'--passes'")
    recorder = Recorder(program.module)
    context = Context(asked_fuel if fuel is None else fuel, Settings(verify), [recorder])
    known = {program.name: program.text}
    failure: PassError | None = None
    try:
        run_pipeline(program.module, steps, context)
    except PassError as error:
        recorder.fail(error, context)
        failure = error
    write_file(output, page(describe(recorder, program.name, known, sources=sources)))
    typer.echo(output)
    if show:
        webbrowser.open(output.absolute().as_uri())
    if failure is not None:
        with readable_errors(known):
            raise failure
