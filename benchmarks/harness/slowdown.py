"""What a neighbour on one core costs: times beside it over times on a quiet machine.

Comes in: rows of a quiet run, and rows of the same works beside a neighbour. Goes out: a table.
Times of two runs are compared here, as a neighbour costs far more than two runs differ by.
Never: a verdict; the fair share of the cores stands beside what each library made of it.
"""

from collections.abc import Sequence
from math import exp, log

from rich.console import Console
from rich.table import Table

from benchmarks.harness.results import WIDTH, Row, key


def fair(threads: int) -> float:
    """What takes its fair share of so many cores is this many times slower: it has all of them
    but half a core."""
    return threads / (threads - 0.5)


def slowdowns(quiet: Row, beside: Row) -> dict[str, float]:
    """How many times slower each contestant was beside the neighbour."""
    before, after = quiet["seconds"], beside["seconds"]
    return {name: after[name] / before[name] for name in after if name in before}


def show(quiet: Sequence[Row], beside: Sequence[Row], console: Console | None = None) -> None:
    """A table of all works in both runs, and the geometric mean of each library."""
    earlier = {key(each): each for each in quiet}
    found = [(each, slowdowns(earlier[key(each)], each)) for each in beside if key(each) in earlier]
    names = list(dict.fromkeys(name for _, ratios in found for name in ratios))
    table = Table("times slower beside a neighbour", "threads", "fair share", *names, "")
    for each, ratios in found:
        row = [each["name"], str(each["threads"]), f"{fair(each['threads']):.2f}"]
        trusted = each["trusted"] and earlier[key(each)]["trusted"]
        cells = [f"{ratios[name]:.2f}" if name in ratios else "" for name in names]
        table.add_row(*row, *cells, "" if trusted else "loaded")
    console = console or Console(width=WIDTH)
    console.print(table)
    for name in names:
        logs = [log(ratios[name]) for _, ratios in found if name in ratios]
        console.print(f"{name}: {exp(sum(logs) / len(logs)):.2f} times slower in the mean")
