"""`brimstone profile`: run a script, and say what its kernels took.

In: a Python file, and its arguments. Out: a table on standard output, after what the script itself
prints; and a trace for a browser. If the script fails, so does this, once both are written.
"""

import runpy
import sys
from pathlib import Path
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

    sys.argv = [str(script), *(arguments or ())]
    sys.path.insert(0, str(script.resolve().parent))
    recorded = Profile(output)
    try:
        with recorded:
            runpy.run_path(str(script), run_name="__main__")
    finally:
        typer.echo(recorded)
        typer.echo(output)
