"""Operands of ops that have many, as what a step of a large model returns.

Comes in: an op, and a value that it reads in the place of another. Goes out: its operands with that
one. Where each is gets found out once, so that to exchange all, one by one, takes no search each.
Never: kept beyond the op's stay in a block.
"""

from typing import Any

Operands = tuple[Any, ...]
MANY = 64
"""From how many operands on it pays to know where each is."""


class Places:
    """Where each operand of an op is."""

    __slots__ = ("_places", "operands")

    def __init__(self, operands: Operands) -> None:
        self.operands = operands
        self._places: dict[Any, list[int]] = {}
        for place, each in enumerate(operands):
            self._places.setdefault(each, []).append(place)

    def exchange(self, old: Any, new: Any) -> Operands:
        """The operands with `new` wherever `old` was."""
        moved, operands = self._places.pop(old, []), [*self.operands]
        for place in moved:
            operands[place] = new
        self._places.setdefault(new, []).extend(moved)
        self.operands = tuple(operands)
        return self.operands


def exchanged(table: dict[Any, Places], op: Any, old: Any, new: Any) -> Operands:
    """The operands of an op with `new` instead of `old`; the table is its block's."""
    known = table.get(op)
    if known is None or known.operands is not op.operands:
        known = table[op] = Places(op.operands)
    return known.exchange(old, new)
