"""The CUDA driver, as far as kernels need it: libcuda through cffi.

Comes in: nothing. Goes out: `driver()`, the library with its functions, `check`, which makes errors
of its codes, and the context of the first device.
Never: PyTorch, or the CUDA runtime.
"""

from functools import cache
from typing import Any

from cffi import FFI

HEADER = """
typedef int CUresult; typedef int CUdevice; typedef uint64_t CUdeviceptr;
typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream, *CUevent;
typedef struct { uint64_t opaque[16]; } CUtensorMap;
typedef struct { int id; char pad[4]; union { char bytes[64]; unsigned int words[16]; } value; }
  CUlaunchAttribute;
typedef struct {
  unsigned int grid[3], block[3], shared; CUstream stream; CUlaunchAttribute *attributes;
  unsigned int count;
} CUlaunchConfig;
CUresult cuInit(unsigned int);
CUresult cuDriverGetVersion(int *);
CUresult cuGetErrorString(CUresult, const char **);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDeviceGetName(char *, int, CUdevice);
CUresult cuDeviceGetAttribute(int *, int, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxSynchronize(void);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuModuleUnload(CUmodule);
CUresult cuFuncGetAttribute(int *, int, CUfunction);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuFuncSetCacheConfig(CUfunction, int);
CUresult cuLaunchKernelEx(const CUlaunchConfig *, CUfunction, void **, void **);
CUresult cuTensorMapEncodeTiled(
  CUtensorMap *, int, unsigned int, void *, const uint64_t *, const uint64_t *,
  const unsigned int *, const unsigned int *, int, int, int, int);
CUresult cuEventCreate(CUevent *, unsigned int);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventSynchronize(CUevent);
CUresult cuEventElapsedTime(float *, CUevent, CUevent);
"""
NAMES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
CONFIG_BYTES, ATTRIBUTE_BYTES = 56, 72

ffi: Any = FFI()
ffi.cdef(HEADER)


class DriverError(Exception):
    """A call of the driver failed; the message is the driver's."""


@cache
def driver() -> Any:
    """The library, with a current context on the first device."""
    assert ffi.sizeof("CUlaunchConfig") == CONFIG_BYTES
    assert ffi.sizeof("CUlaunchAttribute") == ATTRIBUTE_BYTES
    library = _opened()
    _check(library, library.cuInit(0))
    device, context = ffi.new("CUdevice *"), ffi.new("CUcontext *")
    _check(library, library.cuDeviceGet(device, 0))
    _check(library, library.cuDevicePrimaryCtxRetain(context, device[0]))
    _check(library, library.cuCtxSetCurrent(context[0]))
    return library


def check(code: int) -> None:
    """Raise what a code of the driver stands for."""
    _check(driver(), code)


def device_attribute(number: int) -> int:
    """A property of the first device."""
    found = ffi.new("int *")
    check(driver().cuDeviceGetAttribute(found, number, 0))
    return found[0]


def device_name() -> str:
    """What the first device is called."""
    text = ffi.new("char[]", 256)
    check(driver().cuDeviceGetName(text, 256, 0))
    return ffi.string(text).decode()


def _opened() -> Any:
    problems: list[str] = []
    for name in NAMES:
        try:
            return ffi.dlopen(name)
        except OSError as problem:
            problems.append(str(problem))
    raise DriverError(f"there is no CUDA driver: {'; '.join(problems)}")


def _check(library: Any, code: int) -> None:
    if code:
        text = ffi.new("const char **")
        library.cuGetErrorString(code, text)
        said = ffi.string(text[0]).decode() if text[0] else "unknown"
        raise DriverError(f"the CUDA driver says {code}: {said}")
