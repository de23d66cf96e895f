"""What a person is told of a step that fails, and of his own functions that it calls.

Comes in: the error of a step, and a func that says the same. Goes out: an error that names the line
of the op; and where a function was called, that of the call, and that of the function.
Never: an interrupt, or an exit: those pass as they are.
"""

from __future__ import annotations

from ..ir import tensor as ops
from ..ir.errors import IRError
from ..ir.func import Func
from ..ir.locations import Location
from ..ir.shared.named import CallFailed
from .caller import beginning_of, raised_at
from .errors import BrimstoneError, OperationFailed, PlaceError, failure

_CALLS = ("tensor.host_call", "step.host")
"""What calls functions of the user's, on one floor and on another."""
_CALLED = {"gather": "index", "slice": "index", "scatter": "at", "contract": "matmul"}
"""What users call an op that has another name on the tensor floor."""


def step_failure(problem: IRError, func: Func | None) -> Exception:
    """What is raised where a step fails, in the words of users; the func says the same, if it is
    known."""
    called_outside = call_failure(problem, func)
    if called_outside is not None:
        return called_outside
    operation, _, message = problem.message.partition(": ")
    floor, _, name = operation.partition(".")
    called = _CALLED.get(name, name) if floor == "tensor" else operation
    kind = PlaceError if called in ("index", "at") else OperationFailed
    return failure(kind, called, message or problem.message, location=problem.location)


def call_failure(problem: IRError, func: Func | None) -> BrimstoneError | None:
    """The error of a call that failed, with the exception that the function raised, if it did, as
    its cause; None for any other error. The func says the same as the one that failed."""
    failed = _failed_call(problem)
    if failed is None:
        return None
    cause = failed.__cause__
    notes = [("the function", beginning_of(failed.code))]
    if cause is not None:
        notes = [("raised at", raised_at(failed.lines))]
    error = failure(
        OperationFailed, "host_call",
        f"{failed.title} {failed.problem}",
        location=line_of_call(problem, func) or problem.location,
        notes=[f"{word}: {line}" for word, line in notes if line],
    )  # fmt: skip
    error.__cause__ = cause
    return error


def line_of_call(problem: IRError, func: Func | None) -> Location | None:
    """The line of a func in which a call that failed stands, if only one can be meant: the error
    may tell that of another func, which says the same."""
    failed = _failed_call(problem)
    if func is None or failed is None:
        return None
    calls = [op for op in func.walk() if isinstance(op, ops.HostCall)]
    lines = {op.location for op in calls if op.function == failed.function}
    return lines.pop() if len(lines) == 1 else None


def _failed_call(problem: IRError) -> CallFailed | None:
    """What went wrong in a function of the user's; None if it was anything else."""
    failed, operation = problem.__cause__, problem.message.partition(": ")[0]
    return failed if isinstance(failed, CallFailed) and operation in _CALLS else None
