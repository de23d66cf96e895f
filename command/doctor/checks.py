"""The checks: one function for each thing that an installation consists of.

Comes in: this machine. Goes out: findings, in the order in which things build on each other.
Never: a change to anything, but that a kernel may be stored in the cache as by any program.
"""

import os
import platform
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from time import perf_counter
from warnings import catch_warnings

from .finding import Finding, broken, missing, ok

REINSTALL = "run `pip install .` in the checkout, or `pip install -e .` to develop"
UNITS = ("amx_bf16", "amx_int8", "avx512_bf16", "avx512_fp16", "avx512_vnni")
"""What LLVM may be told of a processor beyond its vectors, as /proc/cpuinfo calls it."""
BITS = {"avx512": 512, "avx2": 256, "sse42": 128, "neon": 128}
VARIABLES = {
    "BRIMSTONE_CACHE": "the folder of compiled kernels",
    "BRIMSTONE_DEVICE": "the device of tensors that are made from nothing",
    "BRIMSTONE_FUSE": "0: each op is a kernel of its own",
    "BRIMSTONE_INTERPRET": "0: small steps that do not come again are compiled, too",
    "BRIMSTONE_REPRODUCERS": "the folder for what a failing pass leaves behind",
    "BRIMSTONE_THREADS": "how many threads kernels run on",
}
"""The environment variables that Brimstone reads."""
SWITCHES = ("BRIMSTONE_FUSE", "BRIMSTONE_INTERPRET")
CONFUSED = 0.85
"""How alike a wrong name must be to a right one to be taken for it; all begin alike."""


def package() -> Iterator[Finding]:
    """What runs, and on what."""
    from ..info import installed

    version, python = installed("brimstone"), platform.python_version()
    system = f"{platform.system()} on {platform.machine()}"
    if version is None:
        text = f"the sources are here, but not installed (Python {python})"
        yield broken("brimstone", text, REINSTALL)
    else:
        yield ok("brimstone", f"{version}, Python {python}, {system}")


def native() -> Iterator[Finding]:
    """The compiled part of the package."""
    from ..info import installed, native_library

    found = native_library()
    if found["error"] is not None:
        yield broken("native core", found["error"], REINSTALL)
    elif found["version"] != installed("brimstone"):
        text = f"it is {found['version']}, the package is {installed('brimstone')}"
        yield broken("native core", text, REINSTALL)
    else:
        yield ok("native core", str(found["path"]))


def processor() -> Iterator[Finding]:
    """Which instructions kernels are made of, and how many cores there are for this process."""
    from ...runtime.host import threads_wanted
    from ...targets.cores import usable_cores
    from ...targets.llvm.machines import host, host_features

    machine, features = host(), host_features()
    caches = f"caches of {machine.level1 >> 10} and {machine.level2 >> 10} KiB"
    vectors = f"vectors of {BITS[machine.name]} bits ({machine.name})"
    also = [name for name in UNITS if name.replace("_", "-") in features or name in features]
    units = f"; it also has {', '.join(also)}" if also else ""
    yield ok("processor", f"{machine.cpu}: {vectors}, {caches}{units}")
    yield ok("cores", f"{usable_cores()} of {os.cpu_count() or 1} are for this process")
    try:
        text = f"kernels run on {threads_wanted()}; BRIMSTONE_THREADS sets another number"
        yield ok("threads", text)
    except ValueError as problem:
        yield broken("threads", str(problem), "unset BRIMSTONE_THREADS, or let it be a number")


def compiler() -> Iterator[Finding]:
    """The library that makes machine code."""
    from ...targets.llvm.library import llvm
    from ..info import installed

    version = ".".join(map(str, llvm().llvm_version_info))
    yield ok("LLVM", f"{version}, from llvmlite {installed('llvmlite')}")


def devices() -> Iterator[Finding]:
    """Each device computes something, and is right."""
    from ... import BrimstoneError
    from ...runtime.device import default_device
    from ...targets import TARGETS

    for name in TARGETS:
        try:
            yield _computes(name)
        except (BrimstoneError, ValueError, OSError) as problem:
            text, remedy = str(problem).partition("\n")[0], "what is broken above may be why"
            yield broken(f"device {name}", text, f"{remedy}; else report this")
    try:
        yield ok("default device", str(default_device()))
    except ValueError as problem:
        remedy = "unset BRIMSTONE_DEVICE, or name one of these"
        if _refused("BRIMSTONE_THREADS"):
            remedy = "what is broken above is why"
        yield broken("default device", str(problem), remedy)


def _computes(name: str) -> Finding:
    import numpy as np

    from ... import asarray, device, exp, jit
    from ...targets.llvm.cache import CacheWarning

    row = np.linspace(0, 1, 35, dtype=np.float32)
    start = perf_counter()
    with device(name), catch_warnings(action="ignore", category=CacheWarning):
        found = jit(lambda x: exp(x) / exp(x).sum())(asarray(row)).numpy()
    took = f"{1e3 * (perf_counter() - start):.0f} ms"
    expected = np.exp(row) / np.exp(row).sum()
    if np.allclose(found, expected, rtol=1e-5):
        return ok(f"device {name}", f"computes, and is right; the first step took {took}")
    text = f"a softmax came to {found[:3]}, not {expected[:3]}"
    return broken(f"device {name}", text, "report this, with what `brimstone info` prints")


def gpus() -> Iterator[Finding]:
    """What there is of NVIDIA's, and of Triton, which prints kernels for it."""
    from ...targets.triton.driver import DriverError, driver
    from ..info import installed

    try:
        driver()
        yield ok("NVIDIA driver", "it loads; kernels can be launched (docs/triton.md)")
    except (DriverError, OSError) as problem:
        remedy = "only kernels for NVIDIA GPUs want it: install NVIDIA's driver"
        yield missing("NVIDIA driver", str(problem).partition(": ")[0], remedy)
    version = installed("triton")
    if version is not None:
        yield ok("Triton", f"{version}, which compiles kernels for GPUs")
    else:
        remedy = "only kernels for GPUs want it: pip install 'brimstone[cuda]'"
        yield missing("Triton", "the package triton is not installed", remedy)


def cache() -> Iterator[Finding]:
    """Where compiled kernels are kept between processes."""
    from ...targets.llvm.cache import VARIABLE, default_cache

    found = default_cache()
    if found.folder is None:
        remedy = f"unset {VARIABLE}, or let it name a folder"
        yield missing("cache", f"{VARIABLE} is empty: kernels are compiled anew", remedy)
        return
    why = found.unusable()
    if why:
        remedy = f"make it yours alone (chmod 700), or let {VARIABLE} name another folder"
        yield broken("cache", f"{found.folder} {why}", remedy)
        return
    count, held = found.held()
    room = found.bytes_at_most >> 20
    yield ok("cache", f"{count} kernels, {held / (1 << 20):.1f} of {room} MiB, in {found.folder}")


def memory() -> Iterator[Finding]:
    """How much the machine has, and how much of it is kept for tensors to come."""
    from ...runtime.arrays import use

    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
    kept = use().kept_at_most / (1 << 30)
    yield ok("memory", f"{total:.1f} GiB; up to {kept:.1f} GiB of freed memory is kept")


def environment() -> Iterator[Finding]:
    """Variables that are set, and those that nobody reads."""
    for name, value in sorted(os.environ.items()):
        if not name.startswith("BRIMSTONE"):
            continue
        if name in VARIABLES:
            why = _refused(name)
            if why:
                yield broken(name, f"{value!r}: {VARIABLES[name]}", why)
            else:
                yield ok(name, f"{value!r}: {VARIABLES[name]}")
            continue
        near = get_close_matches(name, VARIABLES, 1, CONFUSED)
        remedy = f"did you mean {near[0]}?" if near else f"there are {', '.join(VARIABLES)}"
        yield broken(name, "nobody reads this variable", remedy)


def _refused(name: str) -> str:
    """Why the value of a variable means nothing; empty if it does, or is not set."""
    from ...runtime.device import default_device
    from ...runtime.host import threads_wanted

    asked = {"BRIMSTONE_THREADS": threads_wanted, "BRIMSTONE_DEVICE": default_device}
    value = os.environ.get(name)
    if value is not None and name in SWITCHES and value not in ("", "0", "1"):
        return "0 is all that is looked for"
    try:
        if value is not None and name in asked:
            asked[name]()
    except ValueError as problem:
        return str(problem)
    return ""


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    package, native, processor, compiler, cache, devices, memory, gpus, environment,
)  # fmt: skip


def findings() -> Iterator[Finding]:
    """What all checks find; one that fails has found something, too."""
    for check in CHECKS:
        try:
            yield from check()
        except Exception as problem:
            text = f"{type(problem).__name__}: {problem}"
            yield broken(check.__name__, text, f"is everything installed? else {REINSTALL}")
