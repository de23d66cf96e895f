"""`brimstone demo`: a network learns to read digits, and Brimstone shows what it made of it.

In: a seed, and how long to train. Out: the training of a small network (`digits.py`), watched; what
it reads and misreads; a step of it checked against the interpreter, what its operations were fused
to, and its speed beside other libraries that are installed. Exit code 1 if the check fails or the
digits are not there, 130 if somebody stopped it. Nothing is written to disk but the compiler's
cache.
"""

import time
from typing import Annotated

import typer
from rich.console import Console

from ... import asarray, device, random, tree_map
from ...train import Run
from ...train.metrics import Confusion
from ...train.render import Bars, Dashboard, Renderer, chosen_renderer
from ..programs import fail
from .digits import CLASSES, Network, handwritten
from .drawing import confusion_table, misread_images
from .race import ROUNDS, compare
from .report import MOST, kernel_table, sentences
from .training import EPOCHS, TOLERANCE, Training, difference, fingerprint, read
from .words import head, waiting

PLACE = "cpu"
LARGEST_SEED, MOST_EPOCHS = 2**63 - 1, 10_000
INTERRUPTED = 130


def demo(
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="What decides all that is random.")
    ] = 0,
    epochs: Annotated[
        int, typer.Option(min=1, max=MOST_EPOCHS, help="How often each digit is looked at.")
    ] = EPOCHS,
    plain: Annotated[
        bool, typer.Option("--no-dashboard", help="Show bars or lines instead of a dashboard.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Tell all of what became of a step, not just a table.")
    ] = False,
    rounds: Annotated[int, typer.Option(min=1, hidden=True, help="How often to time.")] = ROUNDS,
) -> None:
    """Train a network to read digits, and show what it reads, what was compiled, how fast it is."""
    console = Console(highlight=False)
    began = time.perf_counter()
    try:
        with device(PLACE):
            show(console, seed, epochs, plain, full, rounds)
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    console.print(f"\nAll that took {time.perf_counter() - began:.1f} s.")


def show(console: Console, seed: int, epochs: int, plain: bool, full: bool, rounds: int) -> None:
    """All parts, one after the other."""
    training = begin(console, seed, epochs)
    run = training.run(renderer(plain))
    if run.reason == "interrupted":  # and said so
        raise typer.Exit(INTERRUPTED)
    judge(console, training, run)
    check(console, training, run)
    explain(console, training, run, full)
    head(console, "How long a step takes")
    compare(console, Network(random.key(seed)), training.batch, rounds)


def begin(console: Console, seed: int, epochs: int) -> Training:
    """Say what is to come, and find the digits."""
    head(console, "A convolutional network learns to read digits of 8 by 8 pixels")
    try:
        with waiting(console, "reading them"):
            learned, held = handwritten()
    except ImportError as problem:
        fail(f"the digits come with scikit-learn ({problem}): pip install scikit-learn")
    console.print(f"{len(learned.label)} to learn from, {len(held.label)} to be judged by")
    return Training(learned, held, seed, epochs)


def renderer(plain: bool) -> Renderer:
    """What suits the terminal, or the best of that which needs no screen of its own."""
    chosen = chosen_renderer()
    return Bars() if plain and isinstance(chosen, Dashboard) else chosen


def judge(console: Console, training: Training, run: Run) -> None:
    """Say how well the network reads what it has never seen, and show what it takes for what."""
    head(console, "What it reads, of digits that it has never seen")
    held, found = training.held, read(run.model, training.held.input)
    right = int((found == held.label).sum())
    told = f"{right} of {len(found)} right: {right / len(found):.1%}"
    console.print(f"{told}; a row for each digit, a column for what it was read as")
    console.print(confusion_table(Confusion(CLASSES).count(found, held.label)))
    images = misread_images(console, held, found)
    if images is not None:
        console.print("\nSome that it misreads:", images, sep="\n")
    told = f"\nweights {fingerprint(run.model)}: the same on every run on this device"
    console.print(told, soft_wrap=True)


def check(console: Console, training: Training, run: Run) -> None:
    """Hold a step against the interpreter's."""
    head(console, "The next step, by machine code and by the interpreter")
    with waiting(console, "both compute it"):
        count, apart = difference(training.learner, run.state, training.batch)
    if not apart <= TOLERANCE:
        fail(f"of {count} tensors, one differs by {apart:.1e}: this is a bug of Brimstone")
    console.print(f"{count} tensors agree; the greatest difference is {apart:.1e}")


def explain(console: Console, training: Training, run: Run, full: bool) -> None:
    """Say what became of the operations of a step; in `full`, or of the largest kernels."""
    head(console, "What a step became")
    with waiting(console, "compiling it once more, to tell of it"):
        told = training.learner.explain(run.state, tree_map(asarray, training.batch))
    if full:
        told.show(console)
        return
    for each in sentences(told):
        console.print(each)
    console.print(kernel_table(told, console))
    if len(told.kernels) > MOST:
        console.print(f"and {len(told.kernels) - MOST} that move less", style="dim")
