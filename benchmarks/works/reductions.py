"""Sums, means, places of the greatest, cumulative sums: along each axis of a large matrix."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.harness.work import Prepare, Work, compiled, eager_torch, jitted_jax, plain_numpy
from benchmarks.shapes import normal

SIDE = 4096
FUNCTIONS = ("sum", "mean", "argmax", "cumsum")
OURS = {"cumsum": "cumulative_sum"}
"""What we, as the standard does, call otherwise than numpy."""


def works(device: str) -> Iterator[Work]:
    """Each function along each axis; sums and means also of everything."""
    for name in FUNCTIONS:
        for axis in (0, 1, None):
            if axis is None and name not in ("sum", "mean"):
                continue
            whole = "everything" if axis is None else f"axis {axis}"
            written = SIDE * SIDE if name == "cumsum" else SIDE
            yield Work(
                group="reductions",
                name=f"{name} of {SIDE}x{SIDE}, {whole}",
                inputs=partial(normal, (SIDE, SIDE)),
                sides=_sides(name, axis, device),
                bytes=4 * (SIDE * SIDE + written),
                tolerance=1e-4,
            )


def _sides(name: str, axis: int | None, device: str) -> dict[str, Prepare]:
    along = () if axis is None else (axis,)

    def function(np_like: Any, x: Any) -> Any:
        return getattr(np_like, name)(x, *along)

    def ours(np_like: Any, x: Any) -> Any:
        return getattr(np_like, OURS.get(name, name))(x, axis=axis)

    return {
        "brimstone": compiled(ours, device),
        "numpy": plain_numpy(function),
        "torch": eager_torch(function),
        "jax": jitted_jax(function),
    }
