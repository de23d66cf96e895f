"""What there is to say of a script: what its actions are, for errors and profiles.

Comes in: the ops that actions come from, as they are written. Goes out: names, lines, bytes.
Never: a word that is put together before somebody asks.
"""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from ...ir import step
from ...ir.dtypes import SIGNED
from ...ir.errors import ExecutionError
from ...ir.shared.places import outside
from ...ir.values import Op
from ..script import Failure, Said


class Indices(NamedTuple):
    """What indices are: their shape, and the sizes of the axes along which they name places."""

    shape: tuple[int, ...]
    sizes: tuple[int, ...]


class Actions:
    """Those of one script, of the step called `name`."""

    __slots__ = ("__weakref__", "_bytes", "_indices", "_joined", "_ops", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._ops, self._bytes = list[Op](), list[int]()
        self._indices: dict[int, Indices] = {}
        self._joined: dict[int, list[Op]] = {}

    def __len__(self) -> int:
        return len(self._ops)

    def __getitem__(self, action: int) -> Op:
        return self._ops[action]

    def add(self, op: Op, bytes: int, indices: Indices | None = None) -> None:
        """One action more, which reads and writes so many bytes, or looks at indices."""
        if indices is not None:
            self._indices[len(self._ops)] = indices
        self._ops.append(op)
        self._bytes.append(bytes)

    def join(self, op: Op, bytes: int) -> None:
        """The last action also is this op's, and reads and writes so many bytes more."""
        self._joined.setdefault(len(self._ops) - 1, []).append(op)
        self._bytes[-1] += bytes

    @property
    def numbers(self) -> list[int]:
        """The bytes of each action, then what indices are."""
        told = [number for each in self._indices.values() for both in each for number in both]
        return [*self._bytes, *told]

    def with_numbers(self, numbers: Sequence[int]) -> "Actions":
        """The same actions, with the numbers of other sizes."""
        made, given = Actions(self.name), iter(numbers)
        made._ops, made._joined = self._ops, self._joined
        made._bytes = [*islice(given, len(self._bytes))]
        for action, (shape, sizes) in self._indices.items():
            both = [tuple(islice(given, len(each))) for each in (shape, sizes)]
            made._indices[action] = Indices(*both)
        return made

    def said(self, action: int) -> Said:
        """What an action is; of several ops, the names of all."""
        ops = [self._ops[action], *self._joined.get(action, ())]
        names = [op.kernel if isinstance(op, step.Launch) else op.name for op in ops]
        lines = dict.fromkeys([str(op.location) for op in ops if op.location])
        return Said(" + ".join(names), ", ".join(lines), self._bytes[action])

    def failed(self, failure: Failure) -> Exception:
        """The error where an index names no place, an op fails, or a kernel cannot have what it
        needs while it runs."""
        op = self._ops[failure.action]
        if isinstance(op, step.Inside):
            return _outside(op, failure, self._indices[failure.action])
        if isinstance(op, step.Expect):
            return op.error
        lines = self.said(failure.action).lines
        where = f"{lines}: " if lines else ""
        return MemoryError(f"{where}there is no memory for what a kernel needs while it runs")


def _outside(op: step.Inside, failure: Failure, indices: Indices) -> ExecutionError:
    *place, column = map(int, np.unravel_index(failure.place, indices.shape))
    index = failure.bits if op.indices.dtype in SIGNED else failure.bits % (1 << 64)
    problem = outside(index, place, op.axes[column], indices.sizes[column])
    return ExecutionError(f"{op.by}: {problem}", op.location)
