"""Every row of `docs/semantics.md`, run in the interpreter and through constant folding."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from brimstone.ir import tensor
from brimstone.ir.attributes import PAYLOAD
from brimstone.ir.declare import REGISTRY, Op
from brimstone.ir.dtypes import BY_NAME, Kind
from brimstone.ir.errors import VerifyError
from brimstone.ir.scanner import Scanner
from kit.evaluate import Array, evaluate, folded, same

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "semantics.md"
CODE = re.compile(r"`([^`]*)`")
ATTRIBUTE = re.compile(r"(\w+) = (\[[^]]*\]|[^,}]+)")
REFUSED = "refused: "

pytestmark = pytest.mark.skipif(
    not DOCUMENT.is_file(), reason="the table stands in a checkout, and this is a copy"
)


@dataclass
class Row:
    """One row: an op with attributes, operands, and what it makes of them, or how it is refused."""

    line: int
    op: type[Op]
    attributes: dict[str, Any]
    operands: list[Array]
    results: list[Array]
    refused: str

    def __str__(self) -> str:
        return f"line {self.line} {self.op.name}"


def read_rows() -> list[Row]:
    """The rows of the table, but for its head."""
    text = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.is_file() else ""
    numbered = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line[:1] == "|"]
    return [read_row(at, line) for at, line in numbered[2:]]


def read_row(at: int, line: str) -> Row:
    """`| what happens | op {attributes} | operands | results |`"""
    _, _, op, operands, results, _ = (cell.strip() for cell in line.split("|"))
    refused = results.removeprefix(REFUSED) if results.startswith(REFUSED) else ""
    (call,) = CODE.findall(op)
    cls = REGISTRY[f"tensor.{call.split(' ')[0]}"]
    return Row(at, cls, read_attributes(cls, call), arrays(operands), arrays(results), refused)


def read_attributes(cls: type[Op], call: str) -> dict[str, Any]:
    kinds = {field.name: field.kind for field in cls.attribute_fields}
    found: dict[str, Any] = {}
    for name, value in ATTRIBUTE.findall(call):
        kind = kinds[name]
        assert kind is not None
        found[name] = kind.parse(Scanner(value))
    return found


def arrays(cell: str) -> list[Array]:
    """`f32 [nan, 1.0]`, and so on: a dtype and a number or rows of numbers."""
    return [read_array(*code.split(" ", 1)) for code in CODE.findall(cell)]


def read_array(dtype: str, text: str) -> Array:
    return PAYLOAD.parse(Scanner(text)).resolve(BY_NAME[dtype]).array


ROWS = read_rows()


@pytest.mark.parametrize("row", [row for row in ROWS if not row.refused], ids=str)
def test_row(row: Row) -> None:
    made = evaluate(row.op, *row.operands, **row.attributes)
    check(made if isinstance(made, tuple) else (made,), row.results)
    if row.operands:
        check(folded(row.op, *row.operands, **row.attributes), row.results)


def check(made: Iterable[Array], wanted: list[Array]) -> None:
    for one, other in zip(made, wanted, strict=True):
        assert same(one, other), f"{one.dtype} {one.tolist()}, not {other.tolist()}"


@pytest.mark.parametrize("row", [row for row in ROWS if row.refused], ids=str)
def test_row_that_is_refused(row: Row) -> None:
    with pytest.raises(VerifyError, match=re.escape(row.refused)):
        evaluate(row.op, *row.operands, **row.attributes)


def test_every_row_says_what_comes_out() -> None:
    assert ROWS
    assert all(bool(row.results) != bool(row.refused) for row in ROWS)


def test_casts_between_every_two_kinds_are_in_the_table() -> None:
    casts = {(row.operands[0].dtype, row.results[0].dtype) for row in ROWS if row.op is tensor.Cast}
    kind_of = {dtype.storage: dtype.kind for dtype in BY_NAME.values()}
    assert {(kind_of[a], kind_of[b]) for a, b in casts} == set(product(Kind, Kind))
