"""`brimstone reduce`: a smaller program that still goes wrong.

In: a file of IR, and either passes that do something wrong with it or a command that fails on it.
Out: the smaller program, below a `// RUN:` line with the passes; what was done, on standard error.
"""

import shlex
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from ..ir.func import Module
from ..ir.printer import print_module
from ..passes.declare import Step
from ..passes.examine import Oracle, examine
from ..passes.manager import count_ops
from ..passes.notation import pipeline_text
from ..passes.reduce import Predicate, Reducer, fails_like
from .programs import emit, fail, nothing_is_wrong, pipeline_of, read_program, write_file

PLACE_OF_FILE = "{}"


def reduce(  # long: a parameter for each option of the command
    file: Annotated[str, typer.Argument(help="The IR to read; - for standard input.")],
    passes: Annotated[
        str | None,
        typer.Option(help="Keep what these passes do wrong; else the file's // RUN: lines."),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(help="Keep the exit code of this command; {} in it stands for the file."),
    ] = None,
    error: Annotated[str, typer.Option(help="Keep this text in the error or the output.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Which random arguments to run on.")] = 0,
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="How far floats may differ, relative to max(1, |x|).")
    ] = 0.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the IR here instead of printing.")
    ] = None,
) -> None:
    """Shrink a program for as long as a pass, or a command, still fails on it in the same way."""
    program = read_program(file)
    steps: tuple[Step, ...] = ()
    with TemporaryDirectory() as folder:
        if command is not None:
            interesting = exits_alike(command, Path(folder) / "candidate.ir", program.module, error)
        else:
            steps, _ = pipeline_of(passes, program.text)
            interesting = goes_wrong(steps, program.module, error, Oracle(seed, tolerance))
        if not interesting(program.module):
            fail(f"it does not say {error!r} to begin with")
        reducer = Reducer(program.module, interesting)
        try:
            reducer.run()
        except KeyboardInterrupt:
            typer.echo("interrupted: this is the smallest so far", err=True)
    text = (f"// RUN: {pipeline_text(steps)}\n" if steps else "") + print_module(reducer.current)
    was, now = count_ops(program.module), count_ops(reducer.current)
    typer.echo(f"{was} ops became {now}, after {reducer.attempts} attempts", err=True)
    hand_over(text, output)


def hand_over(text: str, output: Path | None) -> None:
    """Write the program, and print it if that fails: it may have taken hours to find."""
    if output is None:
        emit(text)
        return
    try:
        write_file(output, text)
    except typer.Exit:
        emit(text)
        raise


def goes_wrong(steps: tuple[Step, ...], module: Module, error: str, oracle: Oracle) -> Predicate:
    """Whether the passes do what they do wrong with `module`."""
    failure = examine(module, steps, oracle=oracle).failure
    if failure is None:
        nothing_is_wrong(module)
    typer.echo(failure.message, err=True)
    return fails_like(failure, steps, error, oracle)


def exits_alike(command: str, candidate: Path, module: Module, error: str) -> Predicate:
    """Whether a command exits as it does on `module`, and prints `error`."""
    words = words_of(command, candidate)

    def run(module: Module) -> tuple[int, bool]:
        candidate.write_text(print_module(module), encoding="utf-8")
        done = subprocess.run(
            words, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
        return done.returncode, error in done.stdout + done.stderr

    try:
        expected, _ = run(module)
    except OSError as problem:
        raise typer.BadParameter(f"{words[0]}: {problem.strerror}") from None
    if expected == 0 and not error:
        fail("nothing is wrong: the command exits with 0, and no --error is given")
    return lambda module: run(module) == (expected, True)


def words_of(command: str, candidate: Path) -> list[str]:
    """The words of a command line; the file stands last unless one of them names its place."""
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise typer.BadParameter(f"{command}: {problem}", param_hint="'--command'") from None
    if not words or not words[0]:
        raise typer.BadParameter("the command is empty", param_hint="'--command'")
    if not any(PLACE_OF_FILE in word for word in words):
        words.append(PLACE_OF_FILE)
    return [word.replace(PLACE_OF_FILE, str(candidate)) for word in words]
