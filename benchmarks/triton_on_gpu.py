"""The kernels of the corpus on an NVIDIA card: right, and how fast.

    python benchmarks/triton_on_gpu.py [--json results.json] [--quick]

Needs a checkout, a card, Triton and cffi; PyTorch is timed beside it where it is installed. Each
kernel is compiled for the card, launched by our own driver binding on sizes with odd edges, and
compared with numpy; then a product of bf16 matrices is timed against cuBLAS, and GELU against a
copy on the device. Figures are medians of launches that CUDA events time; of several schedules the
best is kept, and named.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "typings"), str(ROOT / "tests")]

from brimstone.ir.attributes import Frozen
from brimstone.ir.dtypes import bf16, f32
from brimstone.ir.func import Func
from brimstone.ir.tile.kernel import bind_sizes, windows_of
from brimstone.targets.triton import print_kernel
from brimstone.targets.triton.compile import CompileError, compile_kernel
from brimstone.targets.triton.cuda import Launch, Loaded, allocate
from brimstone.targets.triton.driver import (
    DriverError,
    check,
    device_attribute,
    device_name,
    driver,
    ffi,
)
from kit.tile_corpus import CORPUS, arguments_for, gelu_chain, persistent_matmul
from kit.tile_meanings import meaning_of

TOLERANCE = {"bfloat16": 2**-6, "float16": 2**-8, "float32": 4e-3}
SIZES = ((4096, 4096, 4096), (16384, 768, 768), (8192, 4096, 14336))
ELEMENTS = 1 << 28
MULTIPROCESSORS, MAJOR, MINOR = 16, 75, 76  # CUdevice_attribute
MATMUL_GOAL, GELU_GOAL = 0.8, 0.9
SCHEDULES = (
    ({"m": 128, "n": 256, "k": 64}, 8, 3, True),
    ({"m": 128, "n": 256, "k": 64}, 8, 4, True),
    ({"m": 128, "n": 256, "k": 64}, 8, 3, False),
    ({"m": 256, "n": 128, "k": 64}, 8, 3, True),
    ({"m": 128, "n": 128, "k": 64}, 4, 4, True),
    ({"m": 128, "n": 128, "k": 64}, 8, 4, True),
    ({"m": 128, "n": 128, "k": 64}, 4, 4, False),
)
CHAINS = ((1024, 4), (2048, 4), (2048, 8), (4096, 8))
Row = dict[str, Any]


def main() -> None:
    """Check, time, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, fewer schedules")
    options = parser.parse_args()
    rounds = 5 if options.quick else 30
    driver()
    target = f"cuda:{device_attribute(MAJOR)}{device_attribute(MINOR)}"
    print(f"{device_name()}, {target}, triton {import_module('triton').__version__}\n")
    results: Row = {"device": device_name(), "target": target}
    results["corpus"] = [attempt(name, lambda name=name: checked(name, target)) for name in CORPUS]
    schedules = SCHEDULES[:2] if options.quick else SCHEDULES
    results["matmul"] = [
        attempt(str(size), lambda size=size: matmul(size, target, schedules, rounds))
        for size in SIZES
    ]
    results["gelu"] = [attempt("gelu", lambda: gelu(target, rounds))]
    show(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


def attempt(name: str, work: Callable[[], Row]) -> Row:
    """One row; a failure is one too, and the others go on."""
    try:
        return {"name": name} | work()
    except Exception as problem:
        return {"name": name, "problem": f"{type(problem).__name__}: {problem}"[:400]}


def launch(func: Func, arrays: Sequence[Any], target: str, devices: Sequence[Any]) -> Launch:
    """A launch of a func on device memory; the arrays say what the sizes are."""
    kernel = print_kernel(func)
    sizes = bind_sizes(func, windows_of(func, arrays), {})
    return Loaded(kernel, compile_kernel(kernel, target)).bind(devices, sizes)


def checked(name: str, target: str) -> Row:
    """How far a kernel of the corpus is from numpy, as a part of what is tolerated."""
    example = CORPUS[name]
    func, arrays = arguments_for(example)
    devices = [
        allocate(array.shape, value.dtype)
        for array, value in zip(arrays, func.arguments, strict=True)
    ]
    for array, device in zip(arrays, devices, strict=True):
        device.upload(array)
    launch(func, arrays, target, devices).run()
    made = [device.download() for device in devices[-example.writes :]]
    wanted = meaning_of(name, arrays, example.writes)
    part = max(distance(*each) for each in zip(made, wanted, strict=True))
    for device in devices:
        device.free()
    return {"error": part, "right": part <= 1.0}


def distance(made: Any, wanted: Any) -> float:
    """The largest error; 1 is what is tolerated, and NaN is infinitely far."""
    bound = TOLERANCE[str(made.dtype)] * max(np.abs(wanted).max(), 1e-6)
    found = float(np.max(np.abs(made.astype(np.float64) - wanted)) / bound)
    return found if np.isfinite(found) else float("inf")


def matmul(size: tuple[int, int, int], target: str, schedules: Any, rounds: int) -> Row:
    """The best schedule, checked on some rows, beside cuBLAS."""
    m, n, k = size
    generator = np.random.default_rng(0)
    a, b = (
        generator.standard_normal(shape, np.float32).astype(bf16.storage)
        for shape in ((m, k), (k, n))
    )
    c = np.zeros((m, n), bf16.storage)
    devices = [allocate(array.shape, bf16) for array in (a, b, c)]
    for array, device in zip((a, b), devices, strict=False):
        device.upload(array)
    best: Row = {"ms": float("inf")}
    for schedule in schedules:
        row = candidate(schedule, (a, b, c), devices, target, rounds)
        best = min(best, row, key=lambda each: each.get("ms", float("inf")))
    if best["ms"] == float("inf"):
        raise DriverError(f"no schedule compiles; the last one: {row.get('problem')}")
    best["teraflops"] = 2 * m * n * k / best["ms"] / 1e9
    for device in devices:
        device.free()
    torch_ms = torch_matmul(size, rounds)
    return best | ({"of_cublas": torch_ms / best["ms"], "cublas_ms": torch_ms} if torch_ms else {})


def candidate(
    schedule: Any, arrays: Sequence[Any], devices: Sequence[Any], target: str, rounds: int
) -> Row:
    """One schedule: its time, if it compiles and is right."""
    tiles, warps, stages, flatten = schedule
    named = {"schedule": f"{tiles} warps {warps} stages {stages} flatten {flatten}"}
    func = persistent_matmul(bf16, tiles, programs=device_attribute(MULTIPROCESSORS))
    changed = {"warps": warps, "stages": stages, "flatten": ["turn"] if flatten else []}
    func.attributes = Frozen({**func.attributes, **changed})
    try:
        made = launch(func, arrays, target, devices)
    except (CompileError, DriverError) as problem:
        return named | {"problem": str(problem)[:300]}
    made.run()
    a, b, _ = arrays
    rows = np.linspace(0, len(a) - 1, 16).astype(int)
    wanted = a[rows].astype(np.float32) @ b.astype(np.float32)
    error = distance(devices[2].download()[rows], wanted)
    if error > 1.0:
        return named | {"problem": f"is wrong: {error:.3g} of what is tolerated"}
    return named | {"ms": timed(made.run, rounds, batch=10), "error": error}


def gelu(target: str, rounds: int) -> Row:
    """The best schedule over many numbers, beside a copy of as many."""
    x, y = (allocate((ELEMENTS,), f32) for _ in range(2))
    numbers = np.random.default_rng(0).standard_normal(1 << 20, np.float32)
    x.upload(np.tile(numbers, ELEMENTS >> 20))
    shape = np.broadcast_to(np.float32(0), (ELEMENTS,))
    best: Row = {"ms": float("inf")}
    for size, warps in CHAINS:
        func = gelu_chain({"m": size}, most=1 << 30)
        func.attributes = Frozen({**func.attributes, "warps": warps})
        made = launch(func, [as_row(shape)] * 2, target, [x, y])
        row = {"schedule": f"{size} warps {warps}", "ms": timed(made.run, rounds, batch=4)}
        best = min(best, row, key=lambda each: each["ms"])
    (wanted,) = meaning_of("gelu", [numbers[:4096], numbers[:4096]], 1)
    best["error"] = distance(y.download()[-(1 << 20) :][:4096], wanted)
    bytes_ = ELEMENTS * 4

    def copy() -> None:
        check(driver().cuMemcpyDtoDAsync_v2(y.address, x.address, bytes_, ffi.NULL))

    copy_ms = timed(copy, rounds, batch=4)
    best |= {"copy_ms": copy_ms, "of_copy": copy_ms / best["ms"], "right": best["error"] <= 1.0}
    best["gigabytes_a_second"] = 2 * bytes_ / best["ms"] / 1e6
    return best


def as_row(array: Any) -> Any:
    """An array that takes no memory, seen with the strides that memory would have."""
    return np.lib.stride_tricks.as_strided(array, array.shape, (0,))


def timed(run: Callable[[], None], rounds: int, batch: int) -> float:
    """Milliseconds of one run: the median over rounds, each of a batch of runs."""
    start, stop = event(), event()
    for _ in range(3):
        run()
    times: list[float] = []
    for _ in range(rounds):
        check(driver().cuEventRecord(start, ffi.NULL))
        for _ in range(batch):
            run()
        check(driver().cuEventRecord(stop, ffi.NULL))
        check(driver().cuEventSynchronize(stop))
        found = ffi.new("float *")
        check(driver().cuEventElapsedTime(found, start, stop))
        times.append(found[0] / batch)
    return statistics.median(times)


def event() -> Any:
    """An event of the driver."""
    made = ffi.new("CUevent *")
    check(driver().cuEventCreate(made, 0))
    return made[0]


def torch_matmul(size: tuple[int, int, int], rounds: int) -> float:
    """Milliseconds of cuBLAS through PyTorch; 0 where it is not installed."""
    try:
        torch = import_module("torch")
    except ModuleNotFoundError:
        return 0.0
    m, n, k = size
    a, b = (torch.randn(*each, device="cuda", dtype=torch.bfloat16) for each in ((m, k), (k, n)))
    out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    times: list[float] = []
    for turn in range(rounds + 1):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(10):
            torch.matmul(a, b, out=out)
        stop.record()
        torch.cuda.synchronize()
        times += [start.elapsed_time(stop) / 10] if turn else []
    return statistics.median(times)


def show(results: Row) -> None:
    """A line for each row."""
    for row in results["corpus"]:
        said = row.get("problem") or f"{row['error']:.3f} of what is tolerated"
        print(f"{row['name']:28} {'right' if row.get('right') else 'WRONG':6} {said}")
    print()
    for row in results["matmul"]:
        if "problem" in row:
            print(f"{row['name']:22} {row['problem']}")
            continue
        beside = f"{row['of_cublas']:.2f} of cuBLAS" if "of_cublas" in row else "no PyTorch"
        said = f"{row['ms']:8.3f} ms {row['teraflops']:6.0f} TFLOP/s  {beside}"
        print(f"{row['name']:22} {said} (goal {MATMUL_GOAL})  {row['schedule']}")
    for row in results["gelu"]:
        if "problem" in row:
            print(row["problem"])
            continue
        said = f"{row['ms']:8.3f} ms {row['gigabytes_a_second']:6.0f} GB/s"
        beside = f"{row['of_copy']:.2f} of a copy (goal {GELU_GOAL})"
        print(f"{'gelu 2^28':22} {said}  {beside}  {row['schedule']}")


if __name__ == "__main__":
    main()
