"""Tapes done again by the core.

Comes in: a `Tape`, other numbers. Goes out: what becomes of those that it made.
"""

from collections.abc import Sequence
from typing import Any

from brimstone.runtime.native import Outcome, core, ffi
from brimstone.targets.tape import Tape


def again(tape: Tape, given: Sequence[int], numbers: Sequence[int]) -> list[int] | None:
    """What numbers of a tape are where others are given; None if something else holds then."""
    words: Any = ffi.new("int64_t[]", [tape.line_of(each) for each in numbers])
    lines: Any = ffi.new("brimstone_line[]", tape.lines)
    packed: Any = ffi.new("brimstone_interval[]", [(*each, 0) for each in tape.packed])
    none: Any = ffi.new("int64_t[]", 0)
    counts = len(tape.lines), len(words), 0
    record: Any = ffi.new("brimstone_tape *", (lines, packed, words, none, *counts))
    found: Any = ffi.new("int64_t[]", len(words))
    outcome = core().brimstone_replay(record, ffi.new("int64_t[]", given), found)
    return list(found) if outcome == Outcome.DONE else None
