"""Whether memory is short: what the system says that this process may still have.

Comes in: the files in which Linux says so: of the machine, and of the control groups (version 2, or
1) that a container is. Goes out: yes or no. Where the system does not say, memory is never short.
Never: a guess at what a process will need; and what the system would give back when asked for
memory, pages of files that nobody has read for a while, counts as free.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

SHORT_BELOW = 1 / 8
"""Memory is short where less than this share of the total is left."""
_Room = tuple[int, int]
"""Bytes that are left, and bytes in total."""
_FILES = {
    2: ("memory.max", "memory.current", "inactive_file"),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""For each version of control groups: the limit, the use, and what of it can be had back."""


def short(root: Path = Path("/")) -> bool:
    """Whether less than an eighth is left of what this process may have; `root` holds `proc`."""
    rooms = [*_of_machine(root), *_of_groups(root)]
    if not rooms:
        return False
    left, total = (min(values) for values in zip(*rooms, strict=True))
    return left < SHORT_BELOW * total


def _of_machine(root: Path) -> Iterator[_Room]:
    kibibytes = _numbers(root / "proc/meminfo")
    if "MemAvailable:" in kibibytes and "MemTotal:" in kibibytes:
        yield kibibytes["MemAvailable:"] * 1024, kibibytes["MemTotal:"] * 1024


def _of_groups(root: Path) -> Iterator[_Room]:
    """The room in each group that this process is in: the innermost, and all around it."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, name = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        version, base = (1, "sys/fs/cgroup/memory") if controllers else (2, "sys/fs/cgroup")
        inner = PurePosixPath(name.strip("/"))
        # In a container the name may be one of the machine's: its own group is then the base.
        for group in (inner, *inner.parents):
            yield from _of_group(root / base / group, version)


def _of_group(group: Path, version: int) -> Iterator[_Room]:
    limit_file, use_file, returnable = _FILES[version]
    limit, use = _lines(group / limit_file), _lines(group / use_file)
    if not (limit and use and limit[0].isdigit() and use[0].isdigit()):
        return  # no limit is the word "max"
    cached = _numbers(group / "memory.stat").get(returnable, 0)
    yield max(int(limit[0]) - int(use[0]) + cached, 0), int(limit[0])


def _numbers(file: Path) -> dict[str, int]:
    """The second word of each line by its first, where it is a number."""
    words = [line.split() for line in _lines(file)]
    return {line[0]: int(line[1]) for line in words if len(line) > 1 and line[1].isdigit()}


def _lines(file: Path) -> list[str]:
    """The lines of a file; none of one that is not there, or may not be read."""
    try:
        return file.read_text("ascii").splitlines()
    except (OSError, ValueError):
        return []
