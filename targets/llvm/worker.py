"""A process that compiles for another one: `python -m brimstone.targets.llvm.worker`.

Comes in, on standard input: frames; the CPU and the text of a kernel of tiles make a task. Goes
out, on standard output: a frame when it is ready, and two for each task, of which the first says
whether the second is code or a message. Ends when the input ends.
Never: code that runs.
"""

import gc
import os
import sys

from ...passes.handled import is_of_handler
from .compile import CompileError, target_machine
from .frames import CODE, READY, REFUSED, machine_of, read_frame, write_frame
from .lower import compile_kernel
from .machines import CPU


def outcome(text: str, machine: CPU) -> bytes | CompileError:
    """The code of a kernel, or any reason for there being none: who asked will want to see it."""
    try:
        return compile_kernel(text, machine)
    except Exception as problem:
        if is_of_handler(problem):
            raise
        return CompileError(str(problem) or repr(problem))


def answer(machine: bytes, text: bytes) -> tuple[bytes, bytes]:
    """What is made of a task."""
    made = outcome(text.decode(), machine_of(machine))
    return (CODE, made) if isinstance(made, bytes) else (REFUSED, str(made).encode())


def main() -> None:
    """Compile until there is no more to do."""
    # Whatever LLVM prints must not get between the frames.
    tasks, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    target_machine(machine_of(read_frame(tasks)))
    write_frame(answers, READY)
    answers.flush()
    gc.freeze()
    gc.disable()  # a kernel is done before there is much to collect
    while True:
        for frame in answer(read_frame(tasks), read_frame(tasks)):
            write_frame(answers, frame)
        answers.flush()
        gc.collect()


if __name__ == "__main__":
    try:
        main()
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        os._exit(0)  # nobody is there any more
