"""Short ways to write and run programs of the loop floor in tests.

Comes in: ops as text, operands as pairs of a type and a value. Goes out: funcs that have been
printed, read back and verified, and what they compute.
"""

from typing import Any

import numpy as np

import brimstone.ir.loop  # noqa: F401 (declares the ops that texts name)
from brimstone.ir.errors import IRError
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.verifier import verify

Operand = tuple[str, Any]


def loops(text: str) -> Func:
    """The func that `text` describes; it prints as it was read."""
    module = parse(text, "kernel.ir")
    verify(module)
    printed = print_module(module)
    assert print_module(parse(printed)) == printed
    return module.main


def kernel(arguments: str, body: str) -> Func:
    """A func that takes `arguments`, such as `%x: scalar<f32>`, and returns nothing."""
    return loops(f"func @kernel({arguments}) {{\n{body}\n  return\n}}")


def op(text: str, result: str = "", **types: str) -> Func:
    """A func of one op on operands of these types; what it makes, of the type `result`, is
    returned."""
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in types.items())
    if not result:
        return kernel(arguments, f"  {text}")
    body = f"  %result = {text} : {result}\n  return %result"
    return loops(f"func @f({arguments}) -> {result} {{\n{body}\n}}")


def compute(text: str, result: str = "", **operands: Operand) -> Any:
    """What one op makes of these operands, each of a type and a value."""
    func = op(text, result, **{name: type_ for name, (type_, _) in operands.items()})
    made = interpret(func, *[value for _, value in operands.values()])
    assert all(isinstance(each, np.ndarray) for each in made)
    return made[0] if result else None


def refusal(text: str, result: str = "", **types: str) -> str:
    """What is said of an op that is wrong."""
    try:
        op(text, result, **types)
    except IRError as problem:
        return str(problem)
    raise AssertionError(f"accepted: {text}")


def same_bits(found: Any, expected: Any) -> bool:
    """Whether two arrays are of one dtype and shape, and equal to the sign of a zero; NaNs are
    equal whatever their payload."""
    found, expected = np.asarray(found), np.asarray(expected)
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return False
    wide = found.astype(np.float64), expected.astype(np.float64)
    both_nan = np.isnan(wide[0]) & np.isnan(wide[1])
    same_sign = np.signbit(wide[0]) == np.signbit(wide[1])
    return bool(np.all(both_nan | ((found == expected) & same_sign)))
