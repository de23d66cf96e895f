"""Runs a module before and after some passes in the interpreter, and compares.

Comes in: both modules, and ranges for integer arguments that are used as indices or bounds.
Goes out: nothing, or `Differs`, which says at what sizes, and what changed.
Never: a program that does not run: it fails here, and says what its file should say.
"""

from collections.abc import Mapping
from typing import Any
from zlib import crc32

import numpy as np

from brimstone.ir.errors import ExecutionError
from brimstone.ir.func import Func, Module
from brimstone.passes.oracle import choose_sizes, difference, random_arguments, run

Ranges = Mapping[str, tuple[int, int]]


class Differs(Exception):
    """Two modules do not give the same, or the first does not run."""


def run_both(before: Module, after: Module, ranges: Ranges, seed: str = "") -> None:
    """Run each func that stands in both, at sizes 0, 1, 2, 7 and 33 where its facts allow."""
    rng = np.random.default_rng(crc32(seed.encode()))
    for func in before:
        if func is not before.main and func.name not in after.funcs:
            continue
        for sizes in choose_sizes(func):
            for special in (False, True):
                arguments = random_arguments(func, sizes, rng, special)
                _within(arguments, func, ranges, rng)
                _compare(before, after, func.name, sizes, arguments)


def _compare(
    before: Module, after: Module, name: str, sizes: Mapping[str, int], arguments: Any
) -> None:
    where = f"@{name} at {', '.join(f'{n} = {size}' for n, size in sizes.items()) or 'no sizes'}"
    try:
        expected = run(before, name, sizes, arguments)
    except ExecutionError as problem:
        raise Differs(
            f"{where} does not run: {problem}\n"
            "`// INPUT: %name low..high` keeps an argument in range, `// NORUN: why` gives up"
        ) from None
    try:
        found = run(after, name, sizes, arguments)
    except ExecutionError as problem:
        raise Differs(f"{where} runs before the passes, and not after: {problem}") from None
    changed = difference(expected, found)
    if changed is not None:
        raise Differs(f"{where}: {changed}")


def _within(arguments: list[Any], func: Func, ranges: Ranges, rng: np.random.Generator) -> None:
    """Give the arguments that have a range numbers from it."""
    for place, value in enumerate(func.arguments):
        if value.name is not None and value.name in ranges:
            low, high = ranges[value.name]
            old = arguments[place]
            arguments[place] = rng.integers(low, high + 1, old.shape).astype(old.dtype)
