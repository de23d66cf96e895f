"""A compiled function as IR.

Comes in: a traced function. Goes out: a module to read and to print.
Never: what becomes of it below the tensor floor.
"""

from __future__ import annotations

from ...ir.func import Module
from ...ir.printer import print_module
from ..function import Traced


class Lowered:
    """A function as IR: `ir` is the module; printed, it is the text with the user's lines.

    It is one func, or where sizes depend on values one for each stage, in order.
    """

    def __init__(self, traced: Traced) -> None:
        steps = () if traced.stages is None else traced.stages.steps
        self.ir = Module([stage.func for stage in steps] or [traced.func])

    def __str__(self) -> str:
        return print_module(self.ir, locations=True)

    def __repr__(self) -> str:
        return f"<lowered function of {sum(1 for func in self.ir for _ in func.walk())} ops>"
