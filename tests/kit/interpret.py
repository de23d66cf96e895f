"""Runs printed Triton source in Triton's own interpreter, as `run_kernel` runs the func itself.

Comes in: a func of the tile floor, and its arguments. Goes out: nothing; the arguments change. The
interpreter must be asked for before Triton is imported, so it lives in a process of its own, which
serves all tests.
Never: a GPU, or a check of what comes out.
"""

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from brimstone.ir.func import Func
from brimstone.ir.tile import Window
from brimstone.ir.tile.kernel import bind_arguments, bind_sizes, windows_of
from brimstone.targets.triton import Kernel, Role, print_kernel

TESTS = Path(__file__).parents[1]
MISSING = "triton is not installed; it comes with the extra cuda"
WORKER = "from kit.triton_worker import serve; serve()"


def require_triton() -> None:
    """Skip what needs Triton where there is none."""
    pytest.importorskip("triton", reason=MISSING)


def run_triton(func: Func, arguments: Sequence[Any]) -> Kernel:
    """Run all programs of the func's grid; the kernel that was printed for it is handed back."""
    require_triton()
    kernel = print_kernel(func)
    windows = windows_of(func, arguments)
    sizes = bind_sizes(func, windows, {})
    bound = bind_arguments(func, windows, sizes)
    grid = kernel.grid_of(sizes)
    if all(grid):
        _call(kernel, kernel.values_of(bound), grid)
    return kernel


def _call(kernel: Kernel, values: Sequence[Any], grid: tuple[int, ...]) -> None:
    memories: dict[int, Any] = {}
    listed: list[tuple[Any, ...]] = []
    for parameter, value in zip(kernel.parameters, values, strict=True):
        if parameter.role in (Role.POINTER, Role.DESCRIPTOR):
            memories[id(value.memory)] = value.memory
            key, offset = id(value.memory), value.offset
            box = _box(parameter.block, value) if parameter.block else None
            listed.append((parameter.type, key, offset, box))
        else:
            listed.append((parameter.type, value))
    changed = _ask((kernel.source, kernel.name, grid, memories, listed))
    for key, memory in memories.items():
        if memory.flags.writeable:
            memory[...] = changed[key]


def _box(block: tuple[int, ...], window: Window) -> tuple[Any, ...]:
    return window.sizes, window.strides, block


def _ask(question: Any) -> Any:
    worker = _worker()
    assert worker.stdin is not None and worker.stdout is not None
    pickle.dump(question, worker.stdin)
    worker.stdin.flush()
    made, answer = pickle.load(worker.stdout)
    assert made, answer
    return answer


@cache
def _worker() -> subprocess.Popen[bytes]:
    paths = [str(TESTS), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "TRITON_INTERPRET": "1",
        "PYTHONPATH": os.pathsep.join([path for path in paths if path]),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
    )  # fmt: skip
    atexit.register(process.kill)
    return process
