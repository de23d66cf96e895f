"""The command `brimstone`: a table of subcommands, each of which is imported when it is used.

In: the command line. Out: an exit code: 0, 1 (it failed), 2 (it was called wrongly), 130 (it was
interrupted). This module never imports what a subcommand needs, so `brimstone --help` is quick.

To add a subcommand, write a function with typer's annotations in a file of this folder, and give
it a line in `SUBCOMMANDS`.
"""

import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

# name: (the function, as "module:function" in this folder; what `brimstone --help` says of it)
SUBCOMMANDS = {
    "demo": ("demo:demo", "Train a network to read digits, check it, and show what became of it."),
    "new": ("new:new", "Make a small project that trains, as a place to begin."),
    "train": ("train:train", "Train a project with the settings of a config."),
    "opt": ("opt:opt", "Run passes over a file of IR and print what becomes of it."),
    "reduce": ("reduce:reduce", "Shrink a program while a pass still fails on it."),
    "bisect": ("bisect:bisect", "Find the single change of a pass that makes a program wrong."),
    "trace": ("trace:trace", "Write a page that shows what every pass did, side by side."),
    "profile": ("profile:profile", "Run a script and show what its kernels took."),
    "plot": ("plot:plot", "Plot the metrics of a training run."),
    "ops": ("ops:ops", "Print the grammar of the IR and the table of its ops."),
    "doctor": ("doctor:doctor", "Check that everything works here, and say what helps."),
    "info": ("info:info", "Show versions, the platform and the native library."),
}


def main() -> None:
    """Run the command line that this process was started with."""
    try:
        try:
            application()(prog_name="brimstone")
        finally:
            flush()  # while a full disk can still be told of
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # whoever read the output has seen enough
        sys.exit(1)
    except (OSError, UnicodeEncodeError) as error:
        with suppress(OSError):
            typer.echo(f"error: {error}", err=True)
        sys.exit(1)
    finally:
        close_broken_streams()


def flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def close_broken_streams() -> None:
    """Close what cannot be written, or the interpreter would complain of it as it ends."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):
            try:
                stream.flush()
            except OSError:
                stream.close()


def application() -> typer.Typer:
    """The command with a stand-in for each subcommand: enough for help, completion and typos."""
    app = typer.Typer(
        cls=LazyGroup,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=markup_mode(),
    )
    app.callback()(brimstone)
    for name, (_, summary) in SUBCOMMANDS.items():
        app.command(name, help=summary)(stand_in)
    return app


class LazyGroup(TyperGroup):
    """A group whose stand-ins give way to the real subcommand when one is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, found, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in SUBCOMMANDS else found, rest


def load(name: str) -> Any:
    """The real subcommand, its module imported; its own help is its function's docstring."""
    module, function = SUBCOMMANDS[name][0].split(":")
    app = typer.Typer(add_completion=False, rich_markup_mode=markup_mode())
    app.command(name)(vars(import_module(f".{module}", __name__))[function])
    return get_command(app)


def markup_mode() -> Any:
    """Coloured boxes for a person at a terminal, plain text for everything else."""
    return "rich" if sys.stdout is not None and sys.stdout.isatty() else None


def stand_in() -> None:
    """Keeps a subcommand's place in the table; it never runs."""


def show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"brimstone {import_module('importlib.metadata').version('brimstone')}")
        raise typer.Exit


def brimstone(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """A deep-learning library whose every operation is compiled."""
