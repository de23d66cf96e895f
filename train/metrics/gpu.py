"""How busy, full and hot a GPU is, from NVIDIA's management library or from `/sys` for AMD's.

Comes in: the number of the GPU; `update` looks. Goes out: the last reading, None where there is
none.
Never: an error for what is not there, or a kernel that is launched.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..checks import expect_whole
from .system import Reading, number_in

DECLARATIONS = """
typedef struct { unsigned gpu, memory; } Use;
typedef struct { unsigned long long total, free, used; } Memory;
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetUtilizationRates(void *device, Use *use);
int nvmlDeviceGetMemoryInfo(void *device, Memory *memory);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees);
"""


@dataclass
class GpuReading(Reading):
    """What was last read of the GPU of that number."""

    index: int = 0

    def __post_init__(self) -> None:
        expect_whole(self, 0, index=self.index)
        super().__post_init__()

    def read(self) -> float | None:
        """What is read now."""
        library = management()
        if library is not None:
            return self.of_nvidia(*library)
        folders = sorted(self.root.glob("sys/class/drm/card*/device/gpu_busy_percent"))
        return self.of_amd(folders[self.index].parent) if self.index < len(folders) else None

    @abstractmethod
    def of_nvidia(self, ffi: Any, library: Any) -> float | None:
        """What NVIDIA's library tells."""

    @abstractmethod
    def of_amd(self, folder: Any) -> float | None:
        """What the files of AMD's driver tell."""

    def ask(self, ffi: Any, library: Any, question: str, kind: str, *more: Any) -> Any:
        """The answer of NVIDIA's library to a question about this GPU."""
        device, answer = ffi.new("void **"), ffi.new(kind)
        if library.nvmlDeviceGetHandleByIndex_v2(self.index, device):
            return None
        return None if getattr(library, question)(device[0], *more, answer) else answer[0]


@dataclass
class GpuUse(GpuReading):
    """The share of the last moments in which the GPU worked, in percent."""

    def of_nvidia(self, ffi: Any, library: Any) -> float | None:
        """What NVIDIA's library tells."""
        use = self.ask(ffi, library, "nvmlDeviceGetUtilizationRates", "Use *")
        return None if use is None else float(use.gpu)

    def of_amd(self, folder: Any) -> float | None:
        """What the files of AMD's driver tell."""
        return number_in(folder / "gpu_busy_percent")


@dataclass
class GpuMemory(GpuReading):
    """The memory of the GPU that is used, of all, in percent."""

    def of_nvidia(self, ffi: Any, library: Any) -> float | None:
        """What NVIDIA's library tells."""
        memory = self.ask(ffi, library, "nvmlDeviceGetMemoryInfo", "Memory *")
        return None if memory is None else 100.0 * memory.used / memory.total

    def of_amd(self, folder: Any) -> float | None:
        """What the files of AMD's driver tell."""
        used, total = (number_in(folder / f"mem_info_vram_{what}") for what in ("used", "total"))
        return 100.0 * used / total if used is not None and total else None


@dataclass
class GpuTemperature(GpuReading):
    """The temperature of the GPU, in degrees Celsius."""

    def of_nvidia(self, ffi: Any, library: Any) -> float | None:
        """What NVIDIA's library tells."""
        degrees = self.ask(ffi, library, "nvmlDeviceGetTemperature", "unsigned *", 0)
        return None if degrees is None else float(degrees)

    def of_amd(self, folder: Any) -> float | None:
        """What the files of AMD's driver tell."""
        found = [number_in(each) for each in folder.glob("hwmon/hwmon*/temp1_input")]
        return found[0] / 1000.0 if found and found[0] is not None else None


@cache
def management() -> tuple[Any, Any] | None:
    """NVIDIA's management library, opened once; None where there is none."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    try:
        library: Any = ffi.dlopen("libnvidia-ml.so.1")
    except OSError:
        return None
    return None if library.nvmlInit_v2() else (ffi, library)
