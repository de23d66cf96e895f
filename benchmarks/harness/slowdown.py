"""What a neighbour on one core costs: times beside it over times while it is at rest.

Comes in: rows that were taken beside one. Goes out: a table.
Both times of a round lie side by side, so it does not matter that a machine is now quick, now slow.
Never: a verdict; the fair share of the cores stands beside what each library made of it.
"""

from collections.abc import Sequence
from math import exp, log

from rich.console import Console
from rich.table import Table

from benchmarks.harness.results import WIDTH, Row


def fair(threads: int) -> float:
    """What takes its fair share of so many cores is this many times slower: it has all of them
    but half a core."""
    return threads / (threads - 0.5)


def show(rows: Sequence[Row], console: Console | None = None) -> None:
    """A table of all works, and the geometric mean of each library."""
    names = list(dict.fromkeys(name for each in rows for name in each["slower"]))
    table = Table("times slower beside a neighbour", "threads", "fair share", *names, "")
    for each in rows:
        row = [each["name"], str(each["threads"]), f"{fair(each['threads']):.2f}"]
        ratios = each["slower"]
        cells = [f"{ratios[name]:.2f}" if name in ratios else "" for name in names]
        table.add_row(*row, *cells, "" if each["trusted"] else "loaded")
    console = console or Console(width=WIDTH)
    console.print(table)
    for name in names:
        found = [each["slower"][name] for each in rows if name in each["slower"]]
        mean = exp(sum(map(log, found)) / len(found))
        console.print(f"{name}: {mean:.2f} times slower in the mean, {max(found):.2f} at most")
