"""`brimstone demo`: a network learns before your eyes, and Brimstone shows what it made of it.

In: nothing. Out: the training of a small network (`spirals.py`), a step of it checked against the
interpreter, what its operations were fused to, and its speed beside other libraries that are
installed. Exit code 1 if the check fails. Nothing is written to disk but the compiler's cache.
"""

import os
import time
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..programs import fail
from .peers import installed
from .race import ENOUGH, ROUNDS, medians, share, warm_up
from .report import kernel_table, sentences
from .spirals import HIDDEN, POINTS, first_weights
from .training import TOLERANCE, Training, difference
from .view import view_for

STEPS = 600
OURS = "Brimstone"


def demo(
    full: Annotated[
        bool, typer.Option("--full", help="Tell all of what became of a step, not just a table.")
    ] = False,
    steps: Annotated[int, typer.Option(min=1, hidden=True, help="How long to train.")] = STEPS,
    rounds: Annotated[int, typer.Option(min=1, hidden=True, help="How often to time.")] = ROUNDS,
) -> None:
    """Train a network on two spirals, check it, and show what was compiled and how fast it is."""
    console = Console(highlight=False)
    began = time.perf_counter()
    training = Training()
    learn(console, training, steps)
    check(console, training)
    explain(console, training, full)
    compare(console, rounds)
    console.print(f"\nAll that took {time.perf_counter() - began:.1f} s.")


def learn(console: Console, training: Training, steps: int) -> None:
    """Train, watched."""
    head(console, f"A network of 2, {HIDDEN} and 1 learns {POINTS} points of two spirals")
    compiled = begun = time.perf_counter()
    with view_for(console, training, steps) as view:
        for step in range(1, steps + 1):
            loss = training.advance()
            if step == 1:
                training.right()  # so that what the picture needs is compiled too
                compiled = time.perf_counter()
            view.update(step, loss)
    ended = time.perf_counter()
    console.print(f"{compiled - begun:.1f} s to compile, {ended - compiled:.1f} s to train")


def check(console: Console, training: Training) -> None:
    """Hold a step against the interpreter's."""
    head(console, "The next step, by machine code and by the interpreter")
    count, apart = difference(training)
    if not apart <= TOLERANCE:
        fail(f"of {count} tensors, one differs by {apart:.1e}: this is a bug of Brimstone")
    console.print(f"{count} tensors agree; the greatest difference is {apart:.1e}")


def explain(console: Console, training: Training, full: bool) -> None:
    """Say what became of the operations of a step; in `full`, or a line for each kernel."""
    head(console, "What a step became")
    told = training.step.explain(training.state, *training.batch)
    if full:
        told.show(console)
        return
    for each in sentences(told):
        console.print(each)
    console.print(kernel_table(told, console))


def compare(console: Console, rounds: int) -> None:
    """Time a step in each library."""
    head(console, "How long a step takes")
    ours = Training()
    contestants = {OURS: ours.advance}
    failed: dict[str, Exception] = {}
    for name, prepare in installed().items():
        try:
            contestants[name] = prepare(first_weights(), ours.points, ours.sides)
        except Exception as problem:  # whatever a broken installation may raise
            failed[name] = problem
    failed |= warm_up(contestants)
    timed = {name: advance for name, advance in contestants.items() if name not in failed}
    console.print(table(medians(timed, rounds)))
    for name, problem in failed.items():
        console.print(Text(f"{name} is left out: {type(problem).__name__}: {problem}"))
    busy = "" if share() > ENOUGH else "; other programs are running, so these are rough"
    cores = os.cpu_count()
    told = f"median of {rounds} rounds on {cores} core{'s' * (cores != 1)}{busy}"
    console.print(told, style="dim")


def table(seconds: dict[str, float]) -> Table:
    """What each library takes, and how many times our time that is."""
    shown = Table(box=None, padding=(0, 2, 0, 0))
    shown.add_column("library")
    shown.add_column("ms", justify="right")
    shown.add_column("times ours", justify="right")
    for name, each in seconds.items():
        ratio = f"{each / seconds[OURS]:.2f}" if OURS in seconds else ""
        shown.add_row(name, f"{each * 1e3:.3f}", ratio, style="bold" if name == OURS else "")
    return shown


def head(console: Console, text: str) -> None:
    """Begin a part of the show."""
    console.print(f"\n{text}", style="bold")
