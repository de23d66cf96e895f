"""Triton source to machine code, without a GPU, without PyTorch.

Comes in: a printed kernel, and the name of a target. Goes out: a `Binary`, from Triton's own cache
where it was compiled before (`TRITON_CACHE_DIR`).
Never: a launch. What Triton refuses is a `CompileError`, for a tuner to pass over.
"""

import linecache
import os
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from types import ModuleType
from typing import Any

from .kernel import Kernel
from .library import triton_module

CODE = {"cuda": "cubin", "hip": "hsaco"}
DIVISIBLE = [["tt.divisibility", 16]]
LONGEST_REASON = 2000


class CompileError(Exception):
    """Triton could not compile a kernel; the message is Triton's."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """How the copy engine moves a block: what Triton chose for a descriptor."""

    swizzle: int
    element: int
    box: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Binary:
    """Machine code, and what a launch must know of it."""

    name: str
    code: bytes
    target: str
    threads: int
    shared: int
    clusters: int
    scratch: tuple[int, int]
    descriptors: tuple[Descriptor, ...]
    assembly: str


def compile_kernel(kernel: Kernel, target: str) -> Binary:
    """Compile for a target: `cuda:90`, `hip:gfx942`."""
    backend, architecture, lanes = gpu_of(target)
    triton, compiler = triton_module(), triton_module("triton.compiler")
    gpu = triton_module("triton.backends.compiler").GPUTarget(backend, architecture, lanes)
    function = getattr(load_source(kernel.source), kernel.name)
    signature = {each.name: each.type for each in kernel.parameters}
    attributes = {(at,): DIVISIBLE for at, each in enumerate(kernel.parameters) if each.divisible}
    source = compiler.ASTSource(fn=function, signature=signature, constexprs={}, attrs=attributes)
    options = {"num_warps": kernel.warps, "num_stages": kernel.stages, "enable_fp_fusion": False}
    with quiet() as said:
        try:
            made = triton.compile(source, target=gpu, options=options)
        except Exception as problem:
            reason = f"{problem}\n{said()}"[:LONGEST_REASON]
            raise CompileError(f"@{kernel.name} for {target}: {reason}") from problem
    return _binary(made, target)


def gpu_of(target: str) -> tuple[str, int | str, int]:
    """By the name of a target: Triton's backend, the architecture, the lanes of a warp."""
    backend, _, architecture = target.partition(":")
    if backend == "cuda" and architecture.isdigit():
        return backend, int(architecture), 32
    if backend == "hip" and architecture.startswith("gfx"):
        return backend, architecture, 64 if architecture.startswith("gfx9") else 32
    raise CompileError(f"{target} is no target; cuda:90 and hip:gfx942 are")


def load_source(source: str) -> ModuleType:
    """A module of source that lies in no file; Triton reads it where tracebacks do."""
    name = f"<triton {sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module = ModuleType(name)
    exec(compile(source, name, "exec"), module.__dict__)
    return module


@contextmanager
def quiet() -> Generator[Callable[[], str]]:
    """Keep what Triton writes to the second file of the process, where no Python sees it."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:

        def said() -> str:
            file.seek(0)
            return file.read().decode(errors="replace")

        os.dup2(file.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _binary(made: Any, target: str) -> Binary:
    backend, _, lanes = gpu_of(target)
    metadata = made.metadata
    descriptors = getattr(metadata, "tensordesc_meta", None) or ()
    scratch = [getattr(metadata, f"global_scratch_{name}", 0) for name in ("size", "align")]
    return Binary(
        name=metadata.name,
        code=made.asm[CODE[backend]],
        target=target,
        threads=lanes * metadata.num_warps,
        shared=metadata.shared,
        clusters=getattr(metadata, "num_ctas", 1),
        scratch=(scratch[0], scratch[1]),
        descriptors=tuple([_descriptor(each) for each in descriptors]),
        assembly=made.asm["ptx" if backend == "cuda" else "amdgcn"],
    )


def _descriptor(made: dict[str, Any]) -> Descriptor:
    return Descriptor(made["swizzle"], made["elem_type"], tuple(made["block_size"]))
