"""How many cores this process may use.

Comes in: what the system says just now: the cores that the process may run on, and on Linux how
much of their time its control groups (version 2) may have. Goes out: a count, of at least 1.
Never: an answer that is kept; both may change while a process runs.
"""

import os
from math import ceil
from pathlib import Path, PurePosixPath

GROUPS = "sys/fs/cgroup"


def usable_cores(root: Path = Path("/")) -> int:
    """The cores of the process, and no more than the time that it may have; `root` holds `proc`."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min([cores, *_quotas(root)]))


def _quotas(root: Path) -> list[int]:
    """So many cores' time each group around the process may have, rounded up; none if no group
    has a limit."""
    name = _group(root)
    found: list[int] = []
    for group in (name, *name.parents):
        # "150000 100000": so many microseconds in each period of so many; or "max 100000".
        quota, _, period = _text(root / GROUPS / group / "cpu.max").partition(" ")
        if quota.isdigit() and period.strip().isdigit() and int(period):
            found.append(ceil(int(quota) / int(period)))
    return found


def _group(root: Path) -> PurePosixPath:
    """The control group of the process, below that of the machine."""
    lines = _text(root / "proc/self/cgroup").splitlines()
    own = next((line for line in lines if line.startswith("0::")), "0::")
    return PurePosixPath(own.removeprefix("0::").strip("/"))


def _text(file: Path) -> str:
    """What is in a file; nothing if it cannot be read."""
    try:
        return file.read_text("ascii")
    except (OSError, ValueError):
        return ""
