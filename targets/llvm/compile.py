"""LLVM text to machine code.

Comes in: the text of a module, and the CPU it was printed for. Goes out: the bytes of an object.
Never: a vectoriser, a loop unrolled, or places in memory computed in another way than the text
does: schedules and printers decide about these.
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from .library import llvm
from .machines import CPU
from .uninterrupted import uninterrupted

LEVEL = 2
PASSES = ("sroa", "simplify_cfg", "instruction_combine", "loop_rotate")
"""Kernels are written as they shall be: more passes cost more than the code generator, and made no
kernel faster. What they miss, such as what does not change in a loop, the code generator sees."""
AS_WRITTEN = {"-disable-lsr": ("true", "false"), "-grow-region-complexity-budget": ("0", "10000")}
"""What LLVM would look for, had it its own settings, which stand behind ours: the best way to count
in each loop, which took more time than all else, and found what `emit/addresses.py` writes; and
where to split what a register holds, which begins a loop by moving half of the others on by one: of
75 instructions of a softmax with AVX2, 18."""
_EMITTING = Lock()


class CompileError(Exception):
    """LLVM refused a text; the message is LLVM's."""


@uninterrupted
def compile_text(text: str, machine: CPU) -> bytes:
    """The object of a module."""
    target = target_machine(machine)
    try:
        module = llvm().parse_assembly(text, llvm().create_context())
        with module:
            module.data_layout = str(target.target_data)
            module.verify()
            optimise(module, target)
            with _as_written():
                return target.emit_object(module)
    except RuntimeError as problem:
        raise CompileError(str(problem)) from problem


@uninterrupted
def assembly_of(text: str, machine: CPU) -> str:
    """The assembly of a module, for a person."""
    target = target_machine(machine)
    module = llvm().parse_assembly(text, llvm().create_context())
    with module:
        module.data_layout = str(target.target_data)
        optimise(module, target)
        with _as_written():
            return target.emit_assembly(module)


def optimise(module: Any, target: Any) -> None:
    """Run the passes."""
    tuning = llvm().create_pipeline_tuning_options(speed_level=LEVEL)
    builder = llvm().create_pass_builder(target, tuning)
    passes = llvm().create_new_module_pass_manager()
    for name in PASSES:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, builder)


@contextmanager
def _as_written() -> Generator[None]:
    """Loops keep their counters, and values their registers. Settings are those of the process:
    other threads of ours wait, and other libraries that compile with LLVM find what they left."""
    with _EMITTING:
        _set(0)
        try:
            yield
        finally:
            _set(1)


def _set(place: int) -> None:
    """Make the settings ours, or LLVM's."""
    for name, values in AS_WRITTEN.items():
        llvm().set_option("", f"{name}={values[place]}")


@uninterrupted
@cache  # in there, where objects of llvmlite begin and end
def target_machine(machine: CPU) -> Any:
    """LLVM's view of a CPU."""
    target = llvm().Target.from_triple(machine.triple)
    return target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=LEVEL, reloc="pic", codemodel="small"
    )
