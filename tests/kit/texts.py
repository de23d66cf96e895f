"""Programs given as text: read, refused, run, failing.

Comes in: a text, of which every op prints and is read back the same, and arrays.
Goes out: the module, the results, or the message of the error that must come.
"""

from typing import Any

import pytest

from brimstone.ir import step, tensor
from brimstone.ir.errors import ExecutionError, VerifyError
from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.verifier import verify

FILE = "model.py"
DIALECTS = (step, tensor)
"""A text can speak of the ops of these, since they are imported."""


def read(text: str) -> Module:
    """The module, checked, which makes the round trip through text."""
    module = parse(text, FILE)
    verify(module)
    printed = print_module(module)
    again = parse(printed)
    verify(again)
    assert print_module(again) == printed
    return module


def refused(text: str) -> str:
    """What is wrong with a program that reads well but breaks a rule of an op."""
    with pytest.raises(VerifyError) as caught:
        verify(parse(text, FILE))
    assert caught.value.location, "an error says where it is"
    return caught.value.message


def run(text: str, *arrays: Any, **sizes: int) -> Any:
    """The results of the first func; one result is not wrapped."""
    results = interpret(read(text), *arrays, sizes=sizes)
    return results[0] if len(results) == 1 else results


def failing(text: str, *arrays: Any, **sizes: int) -> str:
    """What goes wrong when the first func runs, in the line that says so."""
    with pytest.raises(ExecutionError) as caught:
        interpret(read(text), *arrays, sizes=sizes)
    assert caught.value.location, "an error says where it is"
    return str(caught.value)
