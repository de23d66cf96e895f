"""What a person did wrong: one exception a kind of mistake, each a subclass of the built-in one.

Comes in: the operation, the rule it broke, the tensors it was given. Goes out: an exception whose
message names them, the line of the user's program, and what would likely fix it.
Never: a message about the library's own insides.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

from ..ir.errors import IRError
from .caller import user_line

_DERIVATIVES = {
    "tensor.custom": "give the kernel its derivative: `bs.kernel(gradient=...)`",
    "tensor.custom_vjp": "use `bs.grad`, `bs.vjp`, `bs.jacrev` or `bs.linearize`",
    "tensor.host_call": "give what calls the function its derivative, with `bs.custom_vjp`",
}
"""What to do about ops whose derivative only the user knows."""


class BrimstoneError(Exception):
    """The base of the errors below; `operation` failed at `location`, the user's line."""

    operation: str = ""
    location: Any = None


class ShapeError(BrimstoneError, ValueError):
    """Shapes that do not go together."""


class DTypeError(BrimstoneError, TypeError):
    """Dtypes that do not go together, or a value of a kind that an operation does not take."""


class AxisError(BrimstoneError, ValueError, IndexError):
    """An axis that a tensor does not have, or one named twice."""


class PlaceError(BrimstoneError, IndexError):
    """An index outside a tensor, or of a form that means no place."""


class DeviceError(BrimstoneError, RuntimeError):
    """A device that is not there, or tensors of two devices in one operation."""


class ArgumentError(BrimstoneError, ValueError):
    """An argument that is out of its range."""


class TracedValueError(BrimstoneError, TypeError):
    """Python asks for the value of a tensor that has none yet, inside `jit`, `grad` or `vmap`."""


class DeadTensorError(BrimstoneError, RuntimeError):
    """A tensor that was donated, or made inside a transformation that has ended."""


class OperationFailed(BrimstoneError, RuntimeError):
    """An operation failed when it ran, long after it was recorded at `location`."""


class OutOfMemory(BrimstoneError, MemoryError):
    """What is computed takes more memory than there is; nothing is lost but the result."""


class DifferentiationError(BrimstoneError, TypeError):
    """Something that has no derivative is differentiated."""


def fail(
    kind: type[BrimstoneError], operation: str, problem: str, *given: Any, hint: str = ""
) -> NoReturn:
    """Raise `kind`, naming the tensors (and other arguments) given, the user's line and a hint."""
    from .unseen import refuse

    refuse()
    raise failure(kind, operation, problem, *given, hint=hint) from None


def failure(
    kind: type[BrimstoneError],
    operation: str,
    problem: str,
    *given: Any,
    hint: str = "",
    location: Any = None,
    notes: Sequence[str] = (),
) -> BrimstoneError:
    """The exception that `fail` raises; `location` is given where it is not the running line, and
    `notes` are lines that stand before the hint."""
    location = location or user_line()
    lines = [f"{operation}: {problem}"]
    if given:
        lines.append(f"  given: {', '.join(map(described, given))}")
    if location:
        lines.append(f"  at: {location}")
    lines += [f"  {note}" for note in notes]
    if hint:
        lines.append(f"  hint: {hint}")
    error = kind("\n".join(lines))
    error.operation, error.location = operation, location
    return error


def refuse_derivative(operation: str, problem: IRError) -> NoReturn:
    """Say that an op has no derivative, where it was recorded, and what helps."""
    hint = f"the operation was recorded at {problem.location}" if problem.location else ""
    advice = _DERIVATIVES.get(problem.message.partition(" ")[0])
    hint = "; ".join([each for each in (advice, hint) if each])
    fail(DifferentiationError, operation, problem.message.removeprefix("tensor."), hint=hint)


def expect_functions(operation: str, *given: Any) -> None:
    """Refuse what cannot be called, where functions are expected."""
    for each in given:
        if not callable(each):
            fail(ArgumentError, operation, f"expected a function, got {type(each).__name__}", each)


def one_of(
    operation: str, name: str, value: Any, known: Sequence[int | str], hint: str = ""
) -> Any:
    """The value, which is one of those known."""
    if not isinstance(value, int | float | str) or value not in known:
        listed = ", ".join(map(repr, known))
        fail(ArgumentError, operation, f"{name} is one of {listed}, not {shown(value)}", hint=hint)
    return value


def described(value: Any) -> str:
    """A tensor as `float32[2, 3]`, anything else as Python shows it."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None:
        return f"{dtype}[{', '.join(map(str, shape))}]"
    return shown(value)


def shown(value: Any, width: int = 60) -> str:
    """So many letters of what Python shows of a value, which need not let itself be shown."""
    try:
        return repr(value)[:width]
    except Exception:
        return f"<{type(value).__name__}>"
