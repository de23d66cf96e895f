"""`brimstone profile`: run a script, and say what its kernels took.

In: a Python file, and its arguments. Out: a table on standard output, after what the script itself
prints; and a trace for a browser. If the script fails, so does this, once both are written.
"""

import runpy
import sys
from pathlib import Path
from traceback import print_exception
from typing import Annotated

import typer


def profile(
    script: Annotated[Path, typer.Argument(help="A Python file.", exists=True, dir_okay=False)],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="What the script is given; after -- any options.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the trace here; Perfetto shows it.")
    ] = Path("trace.json"),
) -> None:
    """Run a script as python does, and show what its kernels took."""
    from ..frontend.profile import Profile

    _check(script, output)
    sys.argv = [str(script), *(arguments or ())]
    sys.path.insert(0, str(script.resolve().parent))
    recorded = Profile(output)
    try:
        with recorded:
            runpy.run_path(str(script), run_name="__main__")
    except Exception as problem:
        _show(problem, str(script))
        raise typer.Exit(1) from None
    finally:
        typer.echo(recorded)
        typer.echo(output)


def _check(script: Path, output: Path) -> None:
    """Refuse what is no Python, or cannot be written, before anything runs."""
    from ..frontend.profile import writable

    try:
        compile(script.read_bytes(), str(script), "exec")
    except (SyntaxError, ValueError) as problem:
        _show(problem, str(script))
        raise typer.Exit(1) from None
    if output.exists() and output.samefile(script):
        raise typer.BadParameter(f"{output} is the script itself", param_hint="--output")
    writable(output)


def _show(problem: Exception, script: str) -> None:
    """Print an error as python does, from the script's own lines on."""
    frames = problem.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != script:
        frames = frames.tb_next
    print_exception(type(problem), problem, frames)
