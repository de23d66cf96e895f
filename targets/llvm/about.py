"""What there is to say of a script: what its actions are, for errors and profiles.

Comes in: the ops that actions come from, as they are written. Goes out: names, lines, bytes.
Never: a word that is put together before somebody asks.
"""

from ...ir import step
from ...ir.values import Op
from ..script import Said


class Actions:
    """Those of one script, of the step called `name`."""

    __slots__ = ("__weakref__", "_bytes", "_ops", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._ops, self._bytes = list[Op](), list[int]()

    def __len__(self) -> int:
        return len(self._ops)

    def __getitem__(self, action: int) -> Op:
        return self._ops[action]

    def add(self, op: Op, bytes: int) -> None:
        """One action more, which reads and writes so many bytes."""
        self._ops.append(op)
        self._bytes.append(bytes)

    def said(self, action: int) -> Said:
        """What an action is."""
        op = self._ops[action]
        name = op.kernel if isinstance(op, step.Launch) else op.name
        return Said(name, str(op.location), self._bytes[action])

    def failed(self, action: int) -> MemoryError:
        """The error where a kernel cannot have what it needs while it runs."""
        location = self._ops[action].location
        where = f"{location}: " if location else ""
        return MemoryError(f"{where}there is no memory for what a kernel needs while it runs")
