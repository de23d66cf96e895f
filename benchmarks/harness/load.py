"""Whether the machine has time for us: figures from a loaded one mean nothing.

Comes in: the neighbour, if there is to be one. Goes out: whether a spinning thread gets all of each
core's time, but half on the neighbour's; and, for a while of work, whether the cores did nothing
but our work and the neighbour's.
Never: a figure that is corrected for load; it is taken again, or not trusted.
"""

import os
import time
from pathlib import Path
from threading import get_native_id

from benchmarks.harness.neighbour import Neighbour

SPIN_SECONDS = 0.02
ENOUGH = 0.97
BESIDE_SECONDS = 0.2
"""How long to spin beside a neighbour: a scheduler gives some milliseconds to each in turn."""
HALF = (0.4, 0.6)
OTHERS_AT_MOST = 0.05
"""Which part of a core's time others may have during work; the system counts in ticks."""
SETTLE_SECONDS = 0.002
"""How long a process is left alone before it is looked at once more."""
SETTLE_TRIES = 250
TICKS = os.sysconf("SC_CLK_TCK")


def share(seconds: float = SPIN_SECONDS) -> float:
    """The part of the time that this thread ran while it wanted to run all the time."""
    wall, own = time.perf_counter(), time.thread_time()
    while time.perf_counter() - wall < seconds:
        pass
    return (time.thread_time() - own) / (time.perf_counter() - wall)


def quiet(neighbour: Neighbour | None = None, tries: int = 20) -> bool:
    """Whether the machine leaves us alone, but for the neighbour, or comes to within some tries."""
    for _ in range(tries):
        if _ours(neighbour):
            return True
        time.sleep(0.1)
    return False


def _ours(neighbour: Neighbour | None) -> bool:
    """Whether we get what we should of each core: whoever may run anywhere hides a busy one."""
    cores = os.sched_getaffinity(0)
    try:
        return all([_as_expected(core, neighbour) for core in cores])
    finally:
        os.sched_setaffinity(0, cores)


def _as_expected(core: int, neighbour: Neighbour | None) -> bool:
    os.sched_setaffinity(0, {core})
    if neighbour is None or core != neighbour.core:
        return share() >= ENOUGH
    low, high = HALF
    return low <= share(BESIDE_SECONDS) <= high


def settle() -> None:
    """Return when no other thread of this process wants to run any more, or after a while.

    Threads of OpenBLAS spin for a tenth of a second after a product, those of OpenMP for some
    milliseconds: time of whoever runs next. The system counts their time in ticks, which come too
    late for that; but it says at once who wants to run.
    """
    for _ in range(SETTLE_TRIES):
        time.sleep(SETTLE_SECONDS)
        if not others_run():
            return


def others_run() -> bool:
    """Whether threads of this process other than this one run, or would if there were a core."""
    mine = str(get_native_id())
    return any([task.name != mine and _runs(task) for task in Path("/proc/self/task").iterdir()])


def _runs(task: Path) -> bool:
    columns = _columns(task / "stat")
    return bool(columns) and columns[0] == "R"


class Watch:
    """What runs on our cores from now on."""

    def __init__(self, neighbour: Neighbour | None = None) -> None:
        self.neighbour = neighbour
        self._start, self._before = time.perf_counter(), self._of_others()

    def undisturbed(self) -> bool:
        """Whether it was our process and the neighbour's, and nearly nothing else."""
        wall = time.perf_counter() - self._start
        return self._of_others() - self._before <= OTHERS_AT_MOST * wall

    def _of_others(self) -> float:
        """Seconds, since some time in the past."""
        beside = 0.0 if self.neighbour is None else _seconds_of(self.neighbour.process)
        return _busy_seconds(os.sched_getaffinity(0)) - time.process_time() - beside


def _busy_seconds(cores: set[int]) -> float:
    """What the system counted for these cores, but for idling and for waiting for disks."""
    names = {f"cpu{core}" for core in cores}
    total = 0
    for line in Path("/proc/stat").read_text("ascii").splitlines():
        name, *columns = line.split()
        if name in names:
            user, nice, system, _, _, *interrupts_and_stolen = map(int, columns[:8])
            total += user + nice + system + sum(interrupts_and_stolen)
    return total / TICKS


def _seconds_of(process: int) -> float:
    """The time that a process had; none, if it is gone."""
    columns = _columns(Path(f"/proc/{process}/stat"))
    return (int(columns[11]) + int(columns[12])) / TICKS if columns else 0.0


def _columns(stat: Path) -> list[str]:
    """What the system says of a process or a thread, from its state on; nothing, if it is gone."""
    try:
        text = stat.read_text("ascii", "replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
