"""Hidden arguments of compiled functions: what their random numbers are made of at each call.

Comes in: a function being traced, and who draws in it. Goes out: arguments of it, and for each call
their values: the next key of the default generator, or the number of a draw in a context.
Never: a key or a number baked into a compiled step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir import dtypes as ir
from ..ir.types import Tensor as TensorType
from ..runtime.device import Device
from .generator import DEFAULT, KEY, draw_key
from .node import Node, constant
from .surroundings import next_number
from .trace import Drawer, Trace

NUMBER = TensorType((), ir.i64)


def hide(current: Trace) -> None:
    """Let a function being traced have hidden arguments, made when they are needed: one key of the
    default generator, and a number for each draw in a context."""
    made: list[Node] = []

    def key() -> Node:
        if not made:
            made.append(_argument(current, KEY, None))
        return made[0]

    current.hidden_key = key
    current.hidden_number = lambda drawer: _argument(current, NUMBER, drawer)


def hidden_buffers(drawers: Sequence[Drawer], device: Device) -> tuple[Any, ...]:
    """The hidden arguments of a call."""
    words = [DEFAULT.next_words() if each is None else _number(each) for each in drawers]
    return tuple([device.target.upload(each) for each in words])


def hidden_nodes(drawers: Sequence[Drawer]) -> list[Node]:
    """The hidden arguments of a call that is a part of something else."""
    return [
        draw_key() if each is None else constant(int(_number(each)), ir.i64) for each in drawers
    ]


def _argument(current: Trace, type_: TensorType, drawer: Drawer) -> Node:
    current.drawers.append(drawer)
    return current.add_argument(type_)


def _number(name: str) -> Any:
    return np.asarray(next_number(name), np.int64)
