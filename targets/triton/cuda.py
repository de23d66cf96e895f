"""Binaries on an NVIDIA GPU: loaded, and launched by the driver alone.

Comes in: a printed kernel and its binary; device memory for each view. Goes out: a `Loaded`, and
`Launch`es of it, whose parameters are laid out once and may be run many times.
Never: PyTorch, or a call of Triton's own launcher, which differs from version to version.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ...ir.dims import Symbol
from ...ir.dtypes import DType, u8
from ...ir.payloads import Array
from ...ir.types import Scalar, View
from .compile import Binary
from .driver import DriverError, check, device_attribute, driver, ffi
from .kernel import DIVISIBLE_BY, Kernel, Parameter, Role
from .tensor_map import encoded, room_for_map

SHARED_LIMIT = 49152
MAX_DYNAMIC_SHARED, STATIC_SHARED = 8, 1  # CUfunction_attribute
OPT_IN_SHARED = 97  # CUdevice_attribute
PREFER_SHARED = 1  # CUfunc_cache
CLUSTER, CLUSTER_POLICY, SPREAD = 4, 5, 1  # CUlaunchAttributeID, and a policy


@dataclass(frozen=True, slots=True, eq=False)
class DeviceArray:
    """Memory on the device, seen through sizes and strides, as a `Window` sees host memory."""

    address: int
    dtype: DType
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """How much memory it is, if it has no gaps."""
        return prod(self.sizes) * self.dtype.itemsize

    def upload(self, array: Array) -> None:
        """Copy a host array here."""
        data = np.ascontiguousarray(array, self.dtype.storage)
        assert data.nbytes == self.bytes
        if data.nbytes:
            check(driver().cuMemcpyHtoD_v2(self.address, _pointer(data), data.nbytes))

    def download(self) -> Array:
        """A host copy; all that was launched before has run."""
        data = np.empty(self.sizes, self.dtype.storage)
        check(driver().cuCtxSynchronize())
        if data.nbytes:
            check(driver().cuMemcpyDtoH_v2(_pointer(data), self.address, data.nbytes))
        return data

    def free(self) -> None:
        """Give the memory back."""
        check(driver().cuMemFree_v2(self.address))


def allocate(shape: Sequence[int], dtype: DType) -> DeviceArray:
    """Row-major memory on the device."""
    found, size = ffi.new("CUdeviceptr *"), max(prod(shape) * dtype.itemsize, 1)
    check(driver().cuMemAlloc_v2(found, size))
    strides = tuple([prod(shape[axis + 1 :]) for axis in range(len(shape))])
    return DeviceArray(found[0], dtype, tuple(shape), strides)


class Loaded:
    """A kernel on the device."""

    def __init__(self, kernel: Kernel, binary: Binary) -> None:
        self.kernel, self.binary = kernel, binary
        module, function = ffi.new("CUmodule *"), ffi.new("CUfunction *")
        check(driver().cuModuleLoadData(module, ffi.from_buffer(binary.code)))
        check(driver().cuModuleGetFunction(function, module[0], binary.name.encode()))
        self.function = function[0]
        self._allow_shared()

    def _allow_shared(self) -> None:
        """Ask for more shared memory than programs get unasked."""
        shared = self.binary.shared
        limit = device_attribute(OPT_IN_SHARED)
        if shared > limit:
            raise DriverError(f"{self.binary.name} needs {shared} bytes of {limit} shared ones")
        if shared > SHARED_LIMIT:
            static = ffi.new("int *")
            check(driver().cuFuncSetCacheConfig(self.function, PREFER_SHARED))
            check(driver().cuFuncGetAttribute(static, STATIC_SHARED, self.function))
            room = limit - static[0]
            check(driver().cuFuncSetAttribute(self.function, MAX_DYNAMIC_SHARED, room))

    def bind(self, arguments: Sequence[Any], sizes: Mapping[Symbol, int]) -> "Launch":
        """A launch on device arrays and numbers, where the func's symbols have these sizes."""
        return Launch(self, arguments, self.kernel.grid_of(sizes))


class Launch:
    """The parameters of a launch, laid out; `run` hands them to the driver."""

    def __init__(
        self, loaded: Loaded, arguments: Sequence[Any], grid: tuple[int, int, int]
    ) -> None:
        binary, kernel = loaded.binary, loaded.kernel
        self.loaded, self.empty = loaded, not all(grid)
        self._kept: list[Any] = []
        self._rooms: list[Any] = []
        described = iter(binary.descriptors)
        for parameter in kernel.parameters:
            if self.empty:
                break
            self._parameter(parameter, arguments[parameter.place], kernel, described)
        self._scratch(binary, prod(grid) * binary.clusters)
        self._parameters = ffi.new("void *[]", [ffi.cast("void *", each) for each in self._kept])
        self._config = self._configured(binary, grid)

    def run(self, stream: Any = ffi.NULL) -> None:
        """Start all programs, in the order of a stream."""
        if not self.empty:
            self._config.stream = stream
            function = self.loaded.function
            check(driver().cuLaunchKernelEx(self._config, function, self._parameters, ffi.NULL))

    def _keep(self, type_text: str, value: Any) -> None:
        self._kept.append(ffi.new(f"{type_text} *", value))

    def _parameter(
        self, parameter: Parameter, argument: Any, kernel: Kernel, described: Any
    ) -> None:
        match parameter.role:
            case Role.POINTER:
                _require_aligned(parameter, argument)
                self._keep("uint64_t", argument.address)
            case Role.DESCRIPTOR:
                self._descriptor(parameter, argument, next(described, None))
            case Role.NUMBER:
                self._number(argument, kernel.func.arguments[parameter.place].type)
            case Role.SIZE | Role.STRIDE:
                found = argument.sizes if parameter.role is Role.SIZE else argument.strides
                number = found[parameter.axis]
                if parameter.divisible and number % DIVISIBLE_BY:
                    raise DriverError(
                        f"{parameter.name} is {number}, no multiple of {DIVISIBLE_BY}"
                    )
                self._integer(parameter.type, number)

    def _integer(self, type_text: str, number: int) -> None:
        """A size or stride; of a stride of 64 bits that no element needs, the low ones."""
        if type_text == "i64":
            self._keep("int64_t", number)
        else:
            self._keep("uint32_t", number & 0xFFFFFFFF)

    def _number(self, value: Any, type_: Scalar | View) -> None:
        data = np.asarray(value, type_.dtype.storage).tobytes().ljust(8, b"\0")
        self._keep("uint64_t", int.from_bytes(data, "little"))

    def _descriptor(self, parameter: Parameter, array: DeviceArray, chosen: Any) -> None:
        """A tensor map with sizes and strides; where the GPU has no copy engine, plain numbers."""
        rank = len(array.sizes)
        if chosen is None:
            raise DriverError(f"{parameter.name} has no tensor map; such GPUs take pointers alone")
        self._rooms.append(room_for_map())
        shown = array.address, array.sizes, array.strides, array.dtype.itemsize
        self._kept.append(encoded(self._rooms[-1], *shown, chosen))
        for axis in range(rank):
            self._keep("int32_t", array.sizes[axis])
        for axis in range(rank):
            self._keep("int64_t", array.strides[axis])

    def _scratch(self, binary: Binary, programs: int) -> None:
        """Two pointers end every list: memory that Triton asks for, and that of its profiler."""
        size = binary.scratch[0] * programs
        address = allocate((size,), u8).address if size else 0
        self._keep("uint64_t", address)
        self._keep("uint64_t", 0)

    def _configured(self, binary: Binary, grid: tuple[int, int, int]) -> Any:
        config = ffi.new("CUlaunchConfig *")
        config.grid = [grid[0] * binary.clusters, grid[1], grid[2]]
        config.block = [binary.threads, 1, 1]
        config.shared = binary.shared
        if binary.clusters > 1:
            self._attributes = ffi.new("CUlaunchAttribute[2]")
            for attribute, number in zip(self._attributes, (CLUSTER, CLUSTER_POLICY), strict=True):
                attribute.id = number
            self._attributes[0].value.words[0:3] = [binary.clusters, 1, 1]
            self._attributes[1].value.words[0] = SPREAD
            config.attributes, config.count = self._attributes, 2
        return config


def _require_aligned(parameter: Parameter, array: DeviceArray) -> None:
    if parameter.divisible and array.address % DIVISIBLE_BY:
        raise DriverError(f"{parameter.name} is at an address that is no multiple of 16")


def _pointer(array: Array) -> Any:
    return ffi.cast("void *", array.__array_interface__["data"][0])
