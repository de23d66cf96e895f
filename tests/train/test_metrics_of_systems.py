"""Metrics of progress and of the machine, on a clock and on files of our own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import brimstone as bs
from brimstone import train
from brimstone.train import metrics
from brimstone.train.metrics import gpu


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def read(metric: Any) -> Any:
    metric.update()
    return metric.value()


def test_speed_is_of_iterations_a_second() -> None:
    ticks: Iterator[float] = iter([0.0, 10.0, 12.0, 14.0])
    speed = metrics.IterationSpeed(lambda: next(ticks))
    speed.reset()
    assert speed.value() != speed.value()
    speed.update()
    assert speed.value() == 0.5
    speed.update(7)
    assert speed.value() == 2.0
    other = metrics.IterationSpeed(lambda: 0.0)
    other.merge(speed)
    assert other.value() == 2.0


def test_the_rate_is_the_optimisers() -> None:
    rate = metrics.LearningRate()
    assert rate.value() != rate.value()
    optimiser = train.SGD(lr=train.schedules.Linear(1.0, 0.0, 2))
    state = optimiser.initial(bs.zeros(1))
    _, state = optimiser.update(bs.zeros(1), bs.zeros(1), state)
    rate.update(optimiser.rate(state))
    assert rate.value() == 0.5
    rate.update((0.1, bs.asarray(0.25)))
    assert rate.value() == (0.1, 0.25)
    other = metrics.LearningRate()
    other.merge(rate)
    assert other.value() == (0.1, 0.25)


def test_use_is_of_the_time_between_two_looks(tmp_path: Path) -> None:
    write(tmp_path, "proc/stat", "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 1 1 1\n")
    use = metrics.CpuUse(tmp_path)
    assert read(use) is None
    write(tmp_path, "proc/stat", "cpu  130 0 60 840 70 0 0 0 0 0\n")
    assert read(use) == 40.0
    write(tmp_path, "proc/stat", "")
    assert read(use) == 40.0


def test_the_hottest_processor_counts(tmp_path: Path) -> None:
    write(tmp_path, "sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n")
    write(tmp_path, "sys/class/thermal/thermal_zone0/temp", "41000\n")
    write(tmp_path, "sys/class/hwmon/hwmon1/name", "k10temp\n")
    write(tmp_path, "sys/class/hwmon/hwmon1/temp1_input", "52500\n")
    write(tmp_path, "sys/class/hwmon/hwmon1/temp2_input", "unknown\n")
    write(tmp_path, "sys/class/hwmon/hwmon2/name", "nvme\n")
    write(tmp_path, "sys/class/hwmon/hwmon2/temp1_input", "99000\n")
    assert read(metrics.CpuTemperature(tmp_path)) == 52.5


def test_memory_is_what_is_not_available(tmp_path: Path) -> None:
    write(tmp_path, "proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n")
    write(tmp_path, "proc/self/status", "Name:\tpython\nVmRSS:\t  20 kB\n")
    assert read(metrics.MemoryUse(tmp_path)) == 75.0
    assert read(metrics.ProcessMemory(tmp_path)) == 20480


def test_gpus_of_amd_are_read_from_files(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(gpu, "management", lambda: None)
    device = "sys/class/drm/card0/device"
    write(tmp_path, f"{device}/gpu_busy_percent", "37\n")
    write(tmp_path, f"{device}/mem_info_vram_used", "256\n")
    write(tmp_path, f"{device}/mem_info_vram_total", "1024\n")
    write(tmp_path, f"{device}/hwmon/hwmon3/temp1_input", "61000\n")
    assert read(metrics.GpuUse(tmp_path)) == 37
    assert read(metrics.GpuMemory(tmp_path)) == 25
    assert read(metrics.GpuTemperature(tmp_path)) == 61
    assert read(metrics.GpuUse(tmp_path, index=1)) is None


class Library:
    """What NVIDIA's library answers, for one GPU."""

    def nvmlDeviceGetHandleByIndex_v2(self, index: int, device: Any) -> int:
        return 2 * (index > 0)

    def nvmlDeviceGetUtilizationRates(self, device: Any, use: Any) -> int:
        use.gpu = 42
        return 0

    def nvmlDeviceGetMemoryInfo(self, device: Any, memory: Any) -> int:
        memory.total, memory.used = 80, 20
        return 0

    def nvmlDeviceGetTemperature(self, device: Any, sensor: int, degrees: Any) -> int:
        degrees[0] = 55
        return sensor


def test_gpus_of_nvidia_are_asked(tmp_path: Path, monkeypatch: Any) -> None:
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(gpu.DECLARATIONS)
    monkeypatch.setattr(gpu, "management", lambda: (ffi, Library()))
    assert read(metrics.GpuUse(tmp_path)) == 42
    assert read(metrics.GpuMemory(tmp_path)) == 25
    assert read(metrics.GpuTemperature(tmp_path)) == 55
    assert read(metrics.GpuTemperature(tmp_path, index=1)) is None


@pytest.mark.parametrize(
    "kind",
    [metrics.CpuUse, metrics.CpuTemperature, metrics.MemoryUse, metrics.ProcessMemory,
     metrics.GpuUse, metrics.GpuMemory, metrics.GpuTemperature],
)  # fmt: skip
def test_a_machine_that_tells_nothing_gives_none(
    kind: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(gpu, "management", lambda: None)
    metric = kind(tmp_path)
    assert read(metric) is None
    other = kind(tmp_path)
    other.last = 3.0
    metric.merge(other)
    assert metric.value() == 3.0


def test_this_machine_can_be_asked() -> None:
    for kind in (metrics.CpuUse, metrics.CpuTemperature, metrics.MemoryUse, metrics.GpuUse):
        found = read(kind())
        assert found is None or found >= 0
