"""Chains of elementwise ops: a GELU by hand, SwiGLU, the update of Adam; and a copy as the roof.

Every contestant computes the same formulas, written out; numpy and PyTorch do so op by op. Where a
result goes decides large rows, as fresh pages cost several times the work, so there are two groups:

- "elementwise": to memory that is kept, for every library (`kept.py` says how).
- "elementwise, fresh memory": a user's plain call, whose result is dropped before the next one. No
  library is told where to write; each takes what its allocator gives, which for peers are fresh
  pages at these sizes. Ours has a pool, and such a call is what it is for. The roof is a copy to
  fresh memory, so ours may be above it.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.work import (
    Prepare,
    Run,
    Work,
    compiled,
    eager_torch,
    jitted_jax,
    plain_numpy,
)
from benchmarks.shapes import SHAPES, counted, normal
from benchmarks.works import formulas, kept

LARGE = 1 << 24
"""From how many elements on allocators take every array from the system, and give it back."""


class Chain(NamedTuple):
    """A formula, as such and op by op into kept arrays; how many arrays it reads and makes, and
    how many are kept."""

    name: str
    formula: Callable[..., Any]
    into: kept.Into
    reads: int
    writes: int
    keeps: int


CHAINS = (
    Chain("GELU by hand", formulas.gelu, kept.gelu, 1, 1, 1),
    Chain("SwiGLU", formulas.swiglu, kept.swiglu, 2, 1, 1),
    Chain("Adam update", formulas.adam, kept.adam, 4, 3, 4),
)


def works(device: str) -> Iterator[Work]:
    """The three chains at each size, and the large ones in fresh memory."""
    for size in SHAPES["elementwise_sizes_cpu"]:
        for chain in CHAINS:
            yield in_kept_memory(chain, device, size)
            if size >= LARGE:
                yield in_fresh_memory(chain, device, size)


def in_kept_memory(chain: Chain, device: str, size: int) -> Work:
    """Results go to memory that every library has had before."""
    sides: dict[str, Prepare] = {
        "brimstone": compiled(chain.formula, device),
        "numpy": kept.numpy_into(chain.into, chain.keeps),
        "torch": kept.torch_into(chain.into, chain.keeps),
        "jax": kept.donating_jax(chain.formula, chain.writes),
        "copy": partial(_copy, _moved(chain, size)),
    }
    return _work("elementwise", chain, size, sides)


def in_fresh_memory(chain: Chain, device: str, size: int) -> Work:
    """Results go where each library's allocator wants them."""
    sides: dict[str, Prepare] = {
        "brimstone": compiled(chain.formula, device),
        "numpy": plain_numpy(chain.formula),
        "torch": eager_torch(chain.formula),
        "jax": jitted_jax(chain.formula),
        "copy": partial(_fresh_copy, _moved(chain, size)),
    }
    return _work("elementwise, fresh memory", chain, size, sides)


def _work(group: str, chain: Chain, size: int, sides: Mapping[str, Prepare]) -> Work:
    return Work(
        group=group,
        name=f"{chain.name}, {counted(size)}",
        inputs=partial(_inputs, size, chain.reads),
        sides=sides,
        bytes=_moved(chain, size),
    )


def _inputs(size: int, count: int) -> list[np.ndarray]:
    made = normal(*[(size,)] * count)
    return [*made[:3], np.abs(made[3])] if count == 4 else made


def _moved(chain: Chain, size: int) -> int:
    return (chain.reads + chain.writes) * 4 * size


def _copy(moved: int, *_: np.ndarray) -> Run:
    """`np.copyto` between arrays that have been touched, moving as many bytes."""
    source = np.ones(moved // 8, np.float32)
    destination = np.ones_like(source)
    return lambda: (np.copyto(destination, source), ())[1]


def _fresh_copy(moved: int, *_: np.ndarray) -> Run:
    """A copy to fresh memory, moving as many bytes."""
    source = np.ones(moved // 8, np.float32)
    return lambda: (source.copy(), ())[1]
