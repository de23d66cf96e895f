"""How busy and hot the machine is, from what Linux tells in `/proc` and `/sys`.

Comes in: nothing; `update` looks. Goes out: the last reading, None where the machine does not tell.
Never: an error for what is not there, or a program that is started.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .metric import Metric

PROCESSORS = ("coretemp", "cpu", "k10temp", "soc", "x86_pkg_temp", "zenpower")
"""How the names of their sensors begin."""


@dataclass
class Reading(Metric):
    """What was read last; `root` is where `proc` and `sys` are."""

    root: Path = field(default=Path("/"), repr=False)

    def reset(self) -> None:
        """Forget the last reading."""
        self.last: float | None = None

    @abstractmethod
    def read(self) -> float | None:
        """What is read now."""

    def update(self) -> None:
        """Look."""
        self.last = self.read()

    def observe(self, seen: Any) -> None:
        """Look, whatever the batch was."""
        self.update()

    def value(self) -> float | None:
        """What was read last."""
        return self.last

    def add(self, other: Any) -> None:
        """The reading of the other one, where there is one."""
        self.last = self.last if other.last is None else other.last


@dataclass
class CpuUse(Reading):
    """The share of time that the processors worked between the last two looks, in percent."""

    def reset(self) -> None:
        """Forget the last reading."""
        super().reset()
        self.before = self._times()

    def read(self) -> float | None:
        """What is read now."""
        now, before = self._times(), self.before
        self.before = now
        if now is None or before is None or now[1] <= before[1]:
            return self.last
        return 100.0 * (now[0] - before[0]) / (now[1] - before[1])

    def _times(self) -> tuple[int, int] | None:
        """How long the processors worked, and in all, since the machine began."""
        first = text_of(self.root / "proc/stat").partition("\n")[0].split()
        times = [int(each) for each in first[1:9] if each.isdigit()]
        if len(times) < 5:
            return None
        return sum(times) - times[3] - times[4], sum(times)  # idle, and waiting for disks


@dataclass
class CpuTemperature(Reading):
    """The hottest sensor of the processors, in degrees Celsius."""

    def read(self) -> float | None:
        """What is read now."""
        zones = self._named("sys/class/thermal/thermal_zone*", "type", "temp")
        chips = self._named("sys/class/hwmon/hwmon*", "name", "temp*_input")
        found = [number for each in (*zones, *chips) if (number := number_in(each)) is not None]
        return max(found) / 1000.0 if found else None

    def _named(self, folders: str, name: str, files: str) -> list[Path]:
        """Files in those folders whose name says that they are of a processor."""
        every = self.root.glob(folders)
        ours = [each for each in every if text_of(each / name).strip().startswith(PROCESSORS)]
        return [file for each in ours for file in each.glob(files)]


@dataclass
class MemoryUse(Reading):
    """The memory that programs use, of all, in percent."""

    def read(self) -> float | None:
        """What is read now."""
        rows = [line.split() for line in text_of(self.root / "proc/meminfo").splitlines()]
        sizes = {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}
        total, free = sizes.get("MemTotal:", 0), sizes.get("MemAvailable:")
        return 100.0 * (total - free) / total if total and free is not None else None


@dataclass
class ProcessMemory(Reading):
    """The memory of this process, in bytes."""

    def read(self) -> float | None:
        """What is read now."""
        rows = [line.split() for line in text_of(self.root / "proc/self/status").splitlines()]
        return next((1024.0 * int(row[1]) for row in rows if row and row[0] == "VmRSS:"), None)


def text_of(path: Path) -> str:
    """What a file holds; nothing if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def number_in(path: Path) -> float | None:
    """The number that a file holds."""
    try:
        return float(text_of(path))
    except ValueError:
        return None
