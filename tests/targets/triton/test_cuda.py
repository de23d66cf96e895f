"""Launches, against a driver that only writes down what it is handed."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import bf16, f32
from brimstone.targets.triton import Role, cuda, driver, print_kernel, tensor_map
from brimstone.targets.triton.compile import Binary, Descriptor
from brimstone.targets.triton.cuda import DeviceArray, Loaded
from brimstone.targets.triton.driver import DriverError, ffi
from kit.tile_builder import MOST
from kit.tile_corpus import MOST_OF_MATMUL, gelu_chain, persistent_matmul

LIMIT = 232448
C_TYPES = {"i32": "int32_t *", "i64": "int64_t *"}


class Recorder:
    """Stands for libcuda: every call succeeds."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            self.calls.append((name, arguments))
            return 0

        return call

    def last(self, name: str) -> tuple[Any, ...]:
        return [arguments for called, arguments in self.calls if called == name][-1]


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    made = Recorder()
    for module in (cuda, tensor_map):
        monkeypatch.setattr(module, "driver", lambda: made)
        monkeypatch.setattr(module, "check", lambda code: None)
    monkeypatch.setattr(cuda, "device_attribute", lambda number: LIMIT)
    return made


def binary(shared: int = 0, scratch: int = 0, boxes: Any = ()) -> Binary:
    descriptors = tuple([Descriptor(3, 10, box) for box in boxes])
    return Binary("k", b"code", "cuda:90", 256, shared, 1, (scratch, 128), descriptors, "")


def parameters(recorder: Recorder, count: int) -> tuple[Any, list[Any]]:
    config, _, listed, _ = recorder.last("cuLaunchKernelEx")
    return config, [listed[place] for place in range(count)]


def test_a_launch_of_pointers(recorder: Recorder) -> None:
    kernel = print_kernel(gelu_chain({"m": 64}))
    arrays = [DeviceArray(4096 * at, f32, (208,), (1,)) for at in (1, 2)]
    symbol = Symbol("N", 0, MOST, 16)
    Loaded(kernel, binary(shared=512)).bind(arrays, {symbol: 208}).run()
    config, values = parameters(recorder, 5)
    assert [*config.grid] == [4, 1, 1] and [*config.block] == [256, 1, 1]
    assert config.shared == 512
    numbers = [ffi.cast("uint64_t *", each)[0] for each in (values[0], values[2])]
    assert numbers == [4096, 8192]
    assert ffi.cast("uint32_t *", values[1])[0] == 208
    assert [ffi.cast("uint64_t *", each)[0] for each in values[3:]] == [0, 0]


def test_a_launch_of_descriptors(recorder: Recorder) -> None:
    kernel = print_kernel(persistent_matmul(bf16))
    boxes = [(128, 64), (64, 64), (128, 64)]
    numbers = zip("mkn", (256, 512, 768), strict=True)
    sizes = {Symbol(name, 0, MOST_OF_MATMUL): size for name, size in numbers}
    shapes = [(256, 512), (512, 768), (256, 768)]
    arrays = [
        DeviceArray(65536 * (at + 1), bf16, shape, (shape[1], 1)) for at, shape in enumerate(shapes)
    ]
    Loaded(kernel, binary(shared=200000, boxes=boxes)).bind(arrays, sizes).run()
    assert recorder.last("cuFuncSetAttribute")[1] == cuda.MAX_DYNAMIC_SHARED
    encoded = [arguments for name, arguments in recorder.calls if name == "cuTensorMapEncodeTiled"]
    assert [[*each[4]] for each in encoded] == [[512, 256], [768, 512], [768, 256]]
    assert [each[5][0] for each in encoded] == [1024, 1536, 1536]
    assert [[*each[6]] for each in encoded] == [[64, 128], [64, 64], [64, 128]]
    _, values = parameters(recorder, 5)
    assert int(ffi.cast("uintptr_t", values[0])) % 64 == 0
    assert [ffi.cast("int32_t *", each)[0] for each in values[1:3]] == [256, 512]
    assert [ffi.cast("int64_t *", each)[0] for each in values[3:5]] == [512, 1]
    first_size = [each.role for each in kernel.parameters].index(Role.SIZE)
    assert kernel.parameters[first_size].name == "m"


def test_nothing_is_launched_for_an_empty_grid(recorder: Recorder) -> None:
    kernel = print_kernel(gelu_chain({"m": 64}))
    arrays = [DeviceArray(4096, f32, (0,), (1,))] * 2
    Loaded(kernel, binary()).bind(arrays, {Symbol("N", 0, MOST, 16): 0}).run()
    assert all(name != "cuLaunchKernelEx" for name, _ in recorder.calls)


def test_what_a_kernel_was_compiled_for_must_be_true(recorder: Recorder) -> None:
    kernel = print_kernel(gelu_chain({"m": 64}))
    arrays = [DeviceArray(4100, f32, (208,), (1,))] * 2
    with pytest.raises(DriverError, match="no multiple of 16"):
        Loaded(kernel, binary()).bind(arrays, {Symbol("N", 0, MOST, 16): 208})


def test_too_much_shared_memory(recorder: Recorder) -> None:
    with pytest.raises(DriverError, match="shared ones"):
        Loaded(print_kernel(gelu_chain({"m": 64})), binary(shared=LIMIT + 1))


def test_scratch_memory_is_for_all_programs(recorder: Recorder) -> None:
    kernel = print_kernel(gelu_chain({"m": 64}))
    arrays = [DeviceArray(4096, f32, (208,), (1,))] * 2
    Loaded(kernel, binary(scratch=128)).bind(arrays, {Symbol("N", 0, MOST, 16): 208})
    assert recorder.last("cuMemAlloc_v2")[1] == 4 * 128


def test_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "NAMES", ("libmissing.so",))
    driver.driver.cache_clear()
    with pytest.raises(DriverError, match="there is no CUDA driver"):
        driver.driver()


def test_copies_move_whole_arrays(recorder: Recorder) -> None:
    array = DeviceArray(4096, f32, (3, 4), (4, 1))
    array.upload(np.ones((3, 4), np.float32))
    assert recorder.last("cuMemcpyHtoD_v2")[2] == array.bytes == 48
    assert array.download().shape == (3, 4)
