"""The CPUs that there is code for, as passes know them and as LLVM names them.

Comes in: nothing, or the processor that this runs on. Goes out: `CPU`s.
Never: a size of any program.
"""

import platform
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ...passes.machine import Machine
from .library import llvm
from .uninterrupted import uninterrupted

KIB = 1 << 10
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
"""Where Linux says how large the caches of a processor are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CPU(Machine):
    """A machine, with the triple, the processor and the features that LLVM is told of.

    `halves` says whether it has instructions that make f16 of f32, and f32 of f16; `ranges` whether
    it has x86's instruction for the larger of two floats that knows the order of the zeros, and
    `spreads` whether LLVM spreads a number that all lanes have by an instruction of its own.
    """

    triple: str
    cpu: str
    features: str = ""
    halves: bool = True
    ranges: bool = False
    spreads: bool = False


AVX512 = CPU(
    "avx512", 64, 32, fused=True, masked=True, level1=32 * KIB, level2=1024 * KIB,
    triple="x86_64-unknown-linux-gnu", cpu="x86-64-v4", ranges=True,
)  # fmt: skip
AVX2 = CPU(
    "avx2", 32, 16, fused=True, masked=False, level1=32 * KIB, level2=256 * KIB,
    triple="x86_64-unknown-linux-gnu", cpu="x86-64-v3", spreads=True,
)  # fmt: skip
SSE42 = CPU(
    "sse42", 16, 16, fused=False, masked=False, level1=32 * KIB, level2=256 * KIB,
    triple="x86_64-unknown-linux-gnu", cpu="x86-64-v2", halves=False,
)  # fmt: skip
NEON = CPU(
    "neon", 16, 32, fused=True, masked=False, level1=64 * KIB, level2=512 * KIB,
    triple="aarch64-unknown-linux-gnu", cpu="generic", features="+neon",
)  # fmt: skip

MODELS = {model.name: model for model in (AVX512, AVX2, SSE42, NEON)}
WANTED = {
    AVX512: ("avx512f", "avx512bw", "avx512dq", "avx512vl"),
    AVX2: ("avx2", "fma", "f16c", "bmi2"),
}
"""What a processor must have to be taken for a model, the best first; all others are SSE4.2."""
FAST_SHARED, SHARE = "znver", 2048 * KIB
"""LLVM's names of AMD's processors, whose third level feeds products as fast as the second one: a
16th of it for each core. On Zen 5, 2048^3 numbers take 80 ms with so much of an operand near
instead of 120 with half of a level-2 cache."""


@cache
def host() -> CPU:
    """The processor that this runs on: the best model that it is, with its own name, features and
    caches."""
    llvm()  # imported by whoever asks
    return _found()


@uninterrupted
def host_features() -> frozenset[str]:
    """What LLVM says that this processor has."""
    return frozenset([name for name, has in llvm().get_host_cpu_features().items() if has])


@uninterrupted
def _found() -> CPU:
    found, model = llvm().get_host_cpu_features(), model_of(host_features())
    name = llvm().get_host_cpu_name()
    return replace(
        model,
        triple=llvm().get_process_triple(),
        cpu=name,
        features=found.flatten(),
        level1=_cache_size(1) or model.level1,
        level2=_cache_size(2) or model.level2,
        shared=SHARE if name.startswith(FAST_SHARED) else 0,
    )


def model_of(features: frozenset[str]) -> CPU:
    """The best model all of whose features are there."""
    if platform.machine() in ("aarch64", "arm64"):
        return NEON
    return next((model for model, wanted in WANTED.items() if features >= {*wanted}), SSE42)


def _cache_size(level: int) -> int:
    """How many bytes of data the cache of a level holds, as the system says; 0 if it does not."""
    for cache_ in sorted(CACHES.glob("index*")):
        try:
            texts = [(cache_ / name).read_text().strip() for name in ("level", "type", "size")]
            found, kind, kibibytes = int(texts[0]), texts[1], int(texts[2].removesuffix("K"))
        except (OSError, ValueError):
            continue
        if found == level and kind != "Instruction":
            return kibibytes * KIB
    return 0
