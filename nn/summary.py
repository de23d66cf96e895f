"""A table of the modules of a model: what each returns, and how many parameters it has.

Comes in: a module, and arguments to call it with. Goes out: a `Summary`, which prints as a table.
Never: a value; the model is only traced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from ..frontend.errors import described
from ..frontend.jit import jit
from ..frontend.tree import leaves_of
from ..frontend.updates import collecting
from .display import count_of
from .module import Module
from .parameters import leaves
from .scope import parts_of, watching


@dataclass(frozen=True)
class Row:
    """One module: where it is, what it is, what it returned, how many parameters it has."""

    path: str
    kind: str
    output: str
    parameters: int


@dataclass(frozen=True)
class Summary:
    """The modules of a model, outer ones first."""

    rows: tuple[Row, ...]
    parameters: int
    trained: int
    bytes: int

    @property
    def totals(self) -> str:
        """The last line."""
        return (
            f"{self.parameters:,} parameters, {self.trained:,} of them trained, "
            f"{self.bytes / 2**20:,.2f} MiB"
        )

    def __str__(self) -> str:
        cells = [("module", "kind", "output", "parameters")]
        cells += [(row.path, row.kind, row.output, f"{row.parameters:,}") for row in self.rows]
        widths = [max([len(row[at]) for row in cells]) for at in range(4)]
        lines = [
            f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}  {d:>{widths[3]}}"
            for a, b, c, d in cells
        ]
        rule = "─" * len(lines[0])
        return "\n".join([lines[0], rule, *lines[1:], rule, self.totals])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def summary_of(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Summary:
    """The modules of a model; with arguments, also what each returns for these."""
    outputs: dict[str, str] = {}

    def note(path: str, result: Any) -> None:
        shapes = [described(each) for each in leaves_of(result)]
        outputs.setdefault(path, ", ".join(shapes[:2]) + (", …" if len(shapes) > 2 else ""))

    if args or kwargs:
        with watching(note):
            jit(_dropping_updates(module)).lower(*args, **kwargs)
    rows = [
        Row(path or "(model)", type(part).__name__, outputs.get(path, ""), count_of(part))
        for path, part in parts_of(module)
    ]
    tensors = list(leaves(module))
    trained = [each for each in tensors if not (each.is_buffer or each.is_frozen)]
    return Summary(
        tuple(rows),
        count_of(module),
        sum([each.tensor.size for each in trained]),
        sum([each.tensor.nbytes for each in tensors]),
    )


def _dropping_updates(module: Module) -> Callable[..., Any]:
    """The call of a module, of which nobody takes what it leaves to be updated."""

    def called(*args: Any, **kwargs: Any) -> Any:
        with collecting():
            return module(*args, **kwargs)

    return called
