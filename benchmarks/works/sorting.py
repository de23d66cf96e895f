"""Sorting, and the greatest few, of many numbers."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.harness.work import Prepare, Work, compiled, eager_torch, jitted_jax, plain_numpy
from benchmarks.shapes import counted, normal

SIZE = 16 << 20
GREATEST = 64


def works(device: str) -> Iterator[Work]:
    """A sort, and a top-k."""
    for name, sides in (("sort", _sort(device)), (f"top {GREATEST}", _top(device))):
        yield Work(
            group="sorting",
            name=f"{name} of {counted(SIZE)}",
            inputs=partial(normal, (SIZE,)),
            sides=sides,
            bytes=8 * SIZE,
            tolerance=0.0,
        )


def _sort(device: str) -> dict[str, Prepare]:
    def function(np_like: Any, x: Any) -> Any:
        return np_like.sort(x)

    return {
        "brimstone": compiled(function, device),
        "numpy": plain_numpy(function),
        "torch": eager_torch(lambda torch, x: torch.sort(x).values),
        "jax": jitted_jax(function),
    }


def _top(device: str) -> dict[str, Prepare]:
    def partitioned(np_like: Any, x: Any) -> Any:
        return np_like.sort(np_like.partition(x, -GREATEST)[-GREATEST:])[::-1]

    def of_jax(_: Any, x: Any) -> Any:
        jax = import_module("jax")
        return jax.lax.top_k(x, GREATEST)[0]

    return {
        "brimstone": compiled(lambda bs, x: bs.topk(x, GREATEST)[0], device),
        "numpy": plain_numpy(partitioned),
        "torch": eager_torch(lambda torch, x: torch.topk(x, GREATEST).values),
        "jax": jitted_jax(of_jax),
    }
