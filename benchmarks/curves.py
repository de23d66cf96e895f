"""Curves of losses in Brimstone and in PyTorch, from the same weights and the same batches.

    python -m benchmarks.curves [gpt cnn mlp] [--steps 300] [--draws 4] [--small]
                                [--json F] [--picture F.png]

Two programs that round otherwise go apart as training goes on, whichever is right. How far that is
for reasons of rounding alone, PyTorch says of itself: it also computes in f64, and begins with
weights that are one unit in the last place off, up or down as chance has it. Which ones are off
which way decides how far a curve goes, ten times further or less, so there are several draws. Ours
is within noise if it is no further from PyTorch's curve than `AT_MOST` times what these are, where
they are furthest apart and in the mean. Fails if one of the curves is not.
"""

import argparse
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from benchmarks.learning import CASES, cases
from benchmarks.learning.case import Batch, Case
from benchmarks.learning.trainers import Trainer, ours, peers

OURS, PEER, SHIFTED, WIDE = "brimstone", "torch", "torch, 1 ulp off", "torch in f64"
DRAWS = 4
AT_MOST = 4.0
"""As wherever floats are to agree (docs/agreement.md)."""
Curves = dict[str, list[float]]


class Distance(NamedTuple):
    """How far one curve is from another, where they are furthest apart and in the mean."""

    largest: float
    mean: float


def curves(case: Case, steps: int, device: str = "cpu", draws: int = DRAWS) -> Curves:
    """The losses of each way to train."""
    begin: dict[str, Callable[[], Trainer]] = {
        OURS: partial(ours, case, device),
        PEER: partial(peers, case),
        WIDE: partial(peers, case, dtype="float64"),
    }
    for draw in range(draws):
        weights = shifted(case.weights, seed=draw)
        begin[f"{SHIFTED} ({draw + 1})"] = partial(peers, case, weights=weights)
    return {name: _losses(make(), islice(case.batches(), steps)) for name, make in begin.items()}


def _losses(trainer: Trainer, batches: Iterable[Batch]) -> list[float]:
    return [trainer.step(trainer.put(batch)) for batch in batches]


def shifted(weights: Mapping[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """Each number one unit in the last place up or down."""
    draws = np.random.default_rng(seed)
    ends = np.array([-np.inf, np.inf], np.float32)
    return {
        name: np.nextafter(each, draws.choice(ends, each.shape)) for name, each in weights.items()
    }


def distance(one: Sequence[float], other: Sequence[float]) -> Distance:
    """That of two curves; infinite where one of them is no number."""
    apart = np.abs(np.subtract(one, other, dtype=np.float64))
    apart = np.where(np.isfinite(apart), apart, np.inf)
    return Distance(float(apart.max()), float(apart.mean()))


def judged(found: Curves) -> tuple[dict[str, Distance], bool]:
    """How far each curve is from PyTorch's, and whether ours is within noise."""
    apart = {name: distance(each, found[PEER]) for name, each in found.items() if name != PEER}
    mine, noise = apart[OURS], furthest([far for name, far in apart.items() if name != OURS])
    return apart, all([each <= AT_MOST * most for each, most in zip(mine, noise, strict=True)])


def furthest(apart: Iterable[Distance]) -> Distance:
    """The largest distances of several curves."""
    largest, mean = zip(*apart, strict=True)
    return Distance(max(largest), max(mean))


def table(all_curves: Mapping[str, Curves]) -> Table:
    """A row for each model."""
    title = "distance from PyTorch's curve, where it is largest and in the mean"
    made = Table("model", title=title, title_justify="left", box=SIMPLE)
    for column in ("steps", "first loss", "last loss", OURS, WIDE, f"{SHIFTED}, at most", ""):
        made.add_column(column, justify="right")
    for name, found in all_curves.items():
        apart, within = judged(found)
        mine = found[OURS]
        draws = furthest([far for way, far in apart.items() if way.startswith(SHIFTED)])
        shown = (apart[OURS], apart[WIDE], draws)
        cells = [f"{each.largest:.1e}, {each.mean:.1e}" for each in shown]
        verdict = "within noise" if within else "beyond noise"
        made.add_row(name, str(len(mine)), f"{mine[0]:.4f}", f"{mine[-1]:.4f}", *cells, verdict)
    return made


def save(all_curves: Mapping[str, Curves], path: Path) -> None:
    """Keep losses, distances and verdicts."""
    kept: dict[str, Any] = {}
    for name, found in all_curves.items():
        apart, within = judged(found)
        distances = {each: far._asdict() for each, far in apart.items()}
        kept[name] = {"within noise": within, "distances": distances, "losses": found}
    path.write_text(json.dumps(kept, indent=1) + "\n")


def draw(all_curves: Mapping[str, Curves], path: Path) -> None:
    """A picture: losses above, and below how far each curve is from PyTorch's."""
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(
        2, len(all_curves), figsize=(6 * len(all_curves), 7), squeeze=False, layout="constrained"
    )
    for (above, below), (name, found) in zip(axes.T, all_curves.items(), strict=True):
        above.set(title=name, ylabel="loss")
        below.set(xlabel="step", ylabel="distance from PyTorch's", yscale="log")
        for way, losses in found.items():
            above.plot(losses, label=way, linewidth=1)
            if way != PEER:
                below.plot(np.abs(np.subtract(losses, found[PEER])), label=way, linewidth=1)
        above.legend()
        below.legend()
    figure.savefig(path, dpi=120)


def main() -> int:
    """Read the command line, and train."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curves", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *CASES], default=[])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--draws", type=int, default=DRAWS, help="starts that are one unit off")
    parser.add_argument("--small", action="store_true", help="models of a few weights, for trials")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path, help="needs matplotlib")
    options = parser.parse_args()
    # Nothing is timed here: threads of PyTorch that wait leave the cores to who has work.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if options.draws < 1:
        parser.error("--draws is at least 1: they tell what noise is")
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib, which is not installed")
    found: dict[str, Curves] = {}
    for name, case in cases(options.names, options.small).items():
        print(f"{case.name}: {options.steps} steps", file=sys.stderr, flush=True)
        found[name] = curves(case, options.steps, draws=options.draws)
    Console(width=120).print(table(found))
    if options.json:
        save(found, options.json)
    if options.picture:
        draw(found, options.picture)
    return int(not all(judged(each)[1] for each in found.values()))


if __name__ == "__main__":
    sys.exit(main())
