"""Excerpts of the user's files: the lines that ops come from, and a few around each.

Comes in: places, and the texts that are known already. Goes out: numbered lines of the files that
can be read.
Never: an error, a file that is not plain text, or more of a file than somebody needs to see.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...ir.locations import Place

CONTEXT_LINES = 3
LONGEST_LINE = 300
LARGEST_FILE = 8_000_000

Excerpt = dict[int, str]


def excerpts(places: Iterable[Place], known: Mapping[str, str]) -> dict[str, Excerpt]:
    """For each file that can be read, the lines around `places`, by their numbers from 1 on."""
    wanted: defaultdict[str, set[int]] = defaultdict(set)
    for file, line in places:
        wanted[file].update(range(line - CONTEXT_LINES, line + CONTEXT_LINES + 1))
    found: dict[str, Excerpt] = {}
    for file, numbers in wanted.items():
        text = known[file] if file in known else _text_of(file)
        lines = text.splitlines()
        excerpt = {
            number: lines[number - 1][:LONGEST_LINE]
            for number in sorted(numbers)
            if 0 < number <= len(lines)
        }
        if excerpt:
            found[file] = excerpt
    return found


def _text_of(file: str) -> str:
    """The text of a file; nothing if it is not there, not text, not plain, or very large."""
    try:
        path = Path(file)
        if path.is_file() and path.stat().st_size <= LARGEST_FILE:
            return path.read_text(encoding="utf-8")
    except (OSError, ValueError):  # a name may hold what no file system takes
        pass
    return ""
