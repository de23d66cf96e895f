"""Reading and writing programs, and saying what is wrong, for the subcommands that take IR.

In: the name of a file, or `-`. Out: its text and module; or an error on stderr, with the line, the
column and a caret, and exit code 1 (the program is wrong, or a file cannot be written) or 2 (the
command was called wrongly).
"""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import typer

from ..ir import loop, step, tensor, tile  # noqa: F401 # declares the ops that a text may name
from ..ir.errors import IRError, ParseError
from ..ir.func import Module
from ..ir.parser import parse
from ..ir.verifier import verify
from ..passes.declare import Step
from ..passes.manager import PassError
from ..passes.notation import parse_pipeline, run_line
from ..passes.oracle import left_out
from ..passes.reproducer import write_aside

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Program:
    """A program and the text that it was read from."""

    name: str
    text: str
    module: Module


def read_program(file: str, *, verified: bool = True) -> Program:
    """Read and check the IR of a file, or end the process with what is wrong with it."""
    name = "<stdin>" if file == STANDARD_INPUT else file
    text = read_text(file)
    with readable_errors({name: text}):
        program = Program(name, text, parse(text, name))
        if verified:
            verify(program.module)
        return program


def read_text(file: str) -> str:
    """The text of a file; a file that cannot be read is a wrong call."""
    try:
        if file == STANDARD_INPUT:
            return read_standard_input()
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        fail(f"{file}: this is not text: {error}")
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror or error}") from None


def read_standard_input() -> str:
    """All of it, decoded as strictly as a file is: Python's own stdin would let bad bytes pass."""
    if sys.stdin is None:
        raise OSError("standard input is closed")
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        return sys.stdin.read()
    return io.TextIOWrapper(io.BytesIO(buffer.read()), encoding="utf-8").read()


def emit(text: str) -> None:
    """Print a program byte for byte: `echo` would strip what looks like a terminal's colours."""
    if sys.stdout is None:
        raise OSError("standard output is closed")
    sys.stdout.write(text)


def write_file(path: Path, text: str) -> None:
    """Write the file that an option names, or end the process with why that cannot be."""
    try:
        write_aside(path, text)
    except OSError as error:
        fail(f"{path}: this cannot be written: {error.strerror or error}")
    except ValueError as error:  # such as a text or a name that cannot be encoded
        fail(f"{path}: this cannot be written: {error}")


def pipeline_of(passes: str | None, text: str) -> tuple[tuple[Step, ...], int | None]:
    """The steps and the fuel that `--passes` or else the RUN lines of the text ask for."""
    try:
        if passes is not None:
            return parse_pipeline(passes), None
        asked, fuel = run_line(text) or ("", None)
        return parse_pipeline(asked, "RUN"), fuel
    except ParseError as error:
        raise typer.BadParameter(f"\n{error}", param_hint="'--passes'") from None
    except ValueError as error:  # from a whole command: quotes or a number
        raise typer.BadParameter(f"the RUN line: {error}") from None


@contextmanager
def readable_errors(sources: dict[str, str]) -> Iterator[None]:
    """Show errors of the IR beside the line of the source that they speak of, and exit."""
    try:
        yield
    except IRError as error:
        fail(shown(error, sources))


def fail(message: str) -> NoReturn:
    """Say what went wrong, and exit."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(1)


def nothing_is_wrong(module: Module) -> NoReturn:
    """Say that passes do nothing wrong with a module, as far as it could be run, and exit."""
    reasons = "".join(f", but {reason}" for reason in left_out(module))
    found = "no pass fails, and the results before and after agree"
    fail(f"nothing is wrong: {found}{reasons}")


def shown(error: IRError, sources: dict[str, str]) -> str:
    """`file:line:column: message`, the line with a caret below it, and what else is known."""
    if isinstance(error, ParseError):
        return str(error)
    first, *rest = error.message.split("\n")
    if isinstance(error, PassError):
        rest.append(f"  reproducer: {error.reproducer}")
    for file, line in error.location or ():
        lines = sources.get(file, "").splitlines()
        if 0 < line <= len(lines):
            source = lines[line - 1].rstrip()
            column = len(source) - len(source.lstrip())
            pointed = ["  " + source, f"  {' ' * column}^"]
            return "\n".join([f"{file}:{line}:{column + 1}: {first}", *pointed, *rest])
    return "\n".join([f"{error.location}: {first}" if error.location else first, *rest])
