"""`brimstone opt`: text to passes to text.

In: a file of IR, or standard input; passes by name. Out: the IR after them, on standard output;
diffs, times and errors on standard error, so that the text can go into a pipe.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..ir.printer import print_module
from ..passes.context import Context, Observer, Settings
from ..passes.manager import run_pipeline
from ..passes.pipelines import PASSES, PIPELINES
from ..passes.report import chrome_trace, coloured, stage_diff, timing_table
from .programs import emit, pipeline_of, read_program, readable_errors, write_file

if TYPE_CHECKING:
    from rich.console import Console


def list_passes(asked: bool) -> None:
    """Print every pass with its options and summary, every pipeline with its passes; then exit."""
    if asked:
        rows = [(str(each), each.summary) for each in PASSES.values()]
        rows += [(name, " → ".join(map(str, steps))) for name, steps in PIPELINES.items()]
        width = max(len(name) for name, _ in rows)
        for name, summary in rows:
            typer.echo(f"{name:{width}}  {summary}")
        raise typer.Exit


def opt(  # noqa: PLR0913, PLR0917 # long: a parameter for each option of the command
    file: Annotated[str, typer.Argument(help="The IR to read; - for standard input.")],
    passes: Annotated[
        str | None, typer.Option(help="Such as 'simplify,cse,dead'; else the file's // RUN: lines.")
    ] = None,
    verify: Annotated[bool, typer.Option(help="Check the IR before and after each pass.")] = True,
    diff: Annotated[bool, typer.Option("--diff", help="Show what each pass changes.")] = False,
    timing: Annotated[bool, typer.Option("--timing", help="Show the time of each pass.")] = False,
    trace_json: Annotated[
        Path | None, typer.Option(help="Write the times for Perfetto (Chrome's format).")
    ] = None,
    locations: Annotated[
        bool, typer.Option("--locations", help="Print each op's line of the source.")
    ] = False,
    fuel: Annotated[
        int | None, typer.Option(min=0, help="Stop changing the IR after this many changes.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the IR here instead of printing.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", callback=list_passes, is_eager=True, help="Show every pass.")
    ] = False,
) -> None:
    """Run passes over a file of IR and print what becomes of it."""
    program = read_program(file, verified=verify)
    steps, asked_fuel = pipeline_of(passes, program.text)
    settings = Settings(verify=verify, texts=diff, locations=locations)
    observers = [show_diff()] if diff else []
    context = Context(asked_fuel if fuel is None else fuel, settings, observers)
    with readable_errors({program.name: program.text}):
        stages = run_pipeline(program.module, steps, context)
    text = print_module(program.module, locations=locations)
    if output is not None:
        write_file(output, text)
    else:
        emit(text)
    if timing:
        console().print(timing_table(stages))
    if trace_json is not None:
        write_file(trace_json, json.dumps(chrome_trace(stages), indent=1) + "\n")


def show_diff() -> Observer:
    """An observer that prints what each stage changed, in colour at a terminal."""
    to = console()
    return lambda stage, module: to.print(coloured(stage_diff(stage)), end="", soft_wrap=True)


def console() -> "Console":
    """Standard error, with colours where it is a terminal."""
    from rich.console import Console

    return Console(stderr=True)
