"""A log as JSON lines: an object a row.

Comes in: events. Goes out: `metrics.jsonl`.
Never: a token that is not JSON: NaN and the infinities are strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ..numbers import heard, told
from .row import Row
from .text_log import TextLog


class JsonLinesLog(TextLog):
    """Writes `metrics.jsonl` in a folder."""

    file_name = "metrics.jsonl"

    def line(self, row: Row) -> str:
        values = {name: told(value) for name, value in row.values.items()}
        about = {"step": row.step, "epoch": row.epoch, "split": row.split, "scope": row.scope}
        return json.dumps({**about, "values": values}, ensure_ascii=False) + "\n"

    def step_of(self, line: str) -> int:
        (row,) = rows_of([line])
        return row.step


def rows_of(lines: Iterable[str]) -> Iterator[Row]:
    """The rows that lines say."""
    for line in lines:
        found = json.loads(line)
        values = {name: heard(value) for name, value in found["values"].items()}
        yield Row(found["step"], found["epoch"], found["split"], found["scope"], values)
