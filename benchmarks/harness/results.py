"""Figures: kept as JSON, shown as tables, and compared with earlier ones.

Comes in: timings. Goes out: rows with medians, spreads and ratios. A ratio is a peer's time over
ours: above 1 we are faster.
Never: a ratio to a peer of another run.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from benchmarks.harness.rounds import ROOF
from benchmarks.harness.work import Timing, Work

OURS = "brimstone"
WIDTH = 120
Row = dict[str, Any]


def row(work: Work, timings: Sequence[Timing], trusted: bool, threads: int) -> Row:
    """The figures of one work."""
    medians = {each.name: each.median for each in timings}
    mine = medians.get(OURS)
    ratios = {name: time / mine for name, time in medians.items() if mine and name != OURS}
    return {
        "group": work.group,
        "name": work.name,
        "threads": threads,
        "trusted": trusted,
        "seconds": medians,
        "spreads": {each.name: each.spread for each in timings},
        "slower": {each.name: each.slower for each in timings if each.at_rest},
        "ratios": ratios,
        "bytes": work.bytes,
        "operations": work.operations,
    }


def best_ratio(each: Row) -> float | None:
    """The ratio to the fastest peer."""
    peers = [ratio for name, ratio in each["ratios"].items() if name != ROOF]
    return min(peers) if peers else None


def show(rows: Iterable[Row], console: Console | None = None) -> None:
    """A table for each group, with the geometric mean and the least of its ratios."""
    console = console or Console(width=WIDTH)
    groups: dict[str, list[Row]] = {}
    for each in rows:
        groups.setdefault(_title(each), []).append(each)
    for title, members in groups.items():
        console.print(_table(title, members))
        ratios = [ratio for each in members if (ratio := best_ratio(each)) is not None]
        if ratios:
            mean = exp(sum(map(log, ratios)) / len(ratios))
            console.print(f"against the best peer: mean {mean:.2f}, least {min(ratios):.2f}\n")


def beside_neighbour(each: Row) -> bool:
    """Whether a row was taken beside a neighbour; older figures do not say, and were not."""
    return each.get("neighbour", False)


def key(each: Row) -> tuple[Any, ...]:
    """What two rows of different runs have in common if they are about the same."""
    return each["group"], each["name"], each["threads"], each.get("target")


def _title(each: Row) -> str:
    threads = each["threads"]
    beside = ", beside a neighbour on one core" if beside_neighbour(each) else ""
    return f"{each['group']}, {threads} thread{'s' * (threads > 1)}{beside}"


def _table(title: str, members: Sequence[Row]) -> Table:
    names = list(dict.fromkeys(name for each in members for name in each["seconds"]))
    rates = {name: what for name, what in RATES.items() if any(each[what] for each in members)}
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1))
    table.add_column("work, ms", no_wrap=True)
    for heading in (*names, *rates, "ratio", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in members:
        ratio, mine = best_ratio(each), each["seconds"].get(OURS)
        times = [_milliseconds(each, name) for name in names]
        per_second = [f"{each[what] / mine / 1e9:.1f}" if mine else "" for what in rates.values()]
        trusted = "" if each["trusted"] else "loaded"
        table.add_row(each["name"], *times, *per_second, f"{ratio:.2f}" if ratio else "", trusted)
    return table


RATES = {"GB/s": "bytes", "GFLOP/s": "operations"}


def _milliseconds(each: Row, name: str) -> str:
    seconds = each["seconds"].get(name)
    return "" if seconds is None else f"{seconds * 1e3:.3f} ±{each['spreads'][name] * 50:.0f}%"


def save(rows: Sequence[Row], path: Path, about: Mapping[str, Any]) -> None:
    """Keep the figures."""
    path.write_text(json.dumps({"about": about, "rows": rows}, indent=1) + "\n")


def load(path: Path) -> list[Row]:
    """Figures that were kept."""
    return json.loads(path.read_text())["rows"]


def compare(before: Sequence[Row], after: Sequence[Row], console: Console | None = None) -> None:
    """How the ratios to the best peer have changed; times of two runs are not comparable."""
    old = {key(each): each for each in before}
    table = Table("work", "threads", "ratio before", "ratio after", "change")
    for each in after:
        earlier = old.get(key(each))
        now, then = best_ratio(each), best_ratio(earlier) if earlier else None
        if now and then:
            change = f"{(now / then - 1) * 100:+.0f} %"
            table.add_row(each["name"], str(each["threads"]), f"{then:.2f}", f"{now:.2f}", change)
    (console or Console(width=WIDTH)).print(table)
