"""`brimstone plot`: a picture of how a training run went.

In: the folder of a run, or its log. Out: a PNG with a panel a metric, training and validation in
each; the name of the file on standard output. Nothing is read but the log, so a run may go on.
"""

from pathlib import Path
from typing import Annotated

import typer

from .programs import fail


def plot(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or a log in it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here, not to plot.png in RUN.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="Plot this alone; or several such.")
    ] = None,
    smoothing: Annotated[
        float, typer.Option(min=0.0, max=0.999, help="How smooth noisy curves get; 0: not at all.")
    ] = 0.9,
) -> None:
    """Plot the metrics of a training run."""
    from ..train.log import read_log
    from ..train.plot import curves_of, figure, png

    try:
        curves = curves_of(read_log(run))
    except (OSError, ValueError) as problem:
        fail(str(problem))
    if not curves:
        fail(f"the log of {run} has no values yet")
    missing = [name for name in metric or () if name not in curves]
    if missing:
        fail(f"{run} has no metric {', '.join(missing)}; it has {', '.join(curves)}")
    picture = png(figure({name: curves[name] for name in metric or curves}, smoothing))
    output = output or (run if run.is_dir() else run.parent) / "plot.png"
    try:
        output.write_bytes(picture)
    except OSError as problem:
        fail(f"{output}: this cannot be written: {problem.strerror}")
    typer.echo(output)
