"""What happened in a run, for people and for Perfetto: diffs, a table of times, a trace.

Comes in: stages. Goes out: text for a `rich` console, which drops colours where there is no
terminal, or the JSON of Chrome's trace format.
Never: a change to a stage, and never an `import rich` before something is to be shown.
"""

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .stage import Span, Stage

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

CONTEXT_LINES = 3
STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


def unified_diff(before: str, after: str, was: str = "before", now: str = "after") -> str:
    """What changed, as `diff -u` writes it; empty if nothing did."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), was, now, n=CONTEXT_LINES, lineterm=""
    )
    return "".join(f"{line}\n" for line in lines)


def stage_diff(stage: Stage) -> str:
    """What a pass changed, or a line that says that it changed nothing."""
    step = str(stage.step)
    diff = unified_diff(stage.before, stage.after, f"before {step}", f"after {step}")
    return diff or f"--- {step} changed nothing\n"


def coloured(diff: str) -> "Text":
    """A diff with its lines in colour."""
    from rich.text import Text

    text = Text()
    for line in diff.splitlines(keepends=True):
        style = next((style for start, style in STYLES.items() if line.startswith(start)), "")
        text.append(line, style)
    return text


def timing_table(stages: Sequence[Stage]) -> "Table":
    """A row for each stage: its time and share, its changes, the ops before and after it."""
    from rich import box
    from rich.table import Table

    total = sum(stage.seconds for stage in stages)
    table = Table(box=box.SIMPLE, show_footer=True)
    table.add_column("pass", "total")
    changes = sum(len(stage.applications) for stage in stages)
    verifying = sum(stage.seconds_of_verifying for stage in stages)
    ops = f"{stages[0].ops_before} → {stages[-1].ops_after}" if stages else ""
    footers = (_milliseconds(total), "", str(changes), ops, _milliseconds(verifying))
    headers = ("ms", "share", "changes", "ops", "ms to verify")
    for header, footer in zip(headers, footers, strict=True):
        table.add_column(header, footer, justify="right")
    for stage in stages:
        table.add_row(
            str(stage.step),
            _milliseconds(stage.seconds),
            f"{stage.seconds / total:.0%}" if total else "",
            str(len(stage.applications)),
            f"{stage.ops_before} → {stage.ops_after}",
            _milliseconds(stage.seconds_of_verifying),
        )
    return table


def chrome_trace(stages: Sequence[Stage]) -> dict[str, Any]:
    """Complete events, in microseconds from the first stage on: each pass, and in it each func."""
    origin = stages[0].start if stages else 0.0
    events = [event for stage in stages for event in _events(stage, origin)]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _events(stage: Stage, origin: float) -> Iterable[dict[str, Any]]:
    facts = {
        "options": str(stage.step),
        "changes": len(stage.applications),
        "ops before": stage.ops_before,
        "ops after": stage.ops_after,
    }
    yield _event(stage.name, "pass", stage.start - origin, stage.seconds, facts)
    for span in stage.spans:
        yield _span_event(span, origin)
    if stage.seconds_of_verifying:
        start = stage.start + stage.seconds - origin
        yield _event("verify", "verify", start, stage.seconds_of_verifying, {})


def _span_event(span: Span, origin: float) -> dict[str, Any]:
    facts = {"changes": span.applications}
    return _event(f"@{span.func}", "func", span.start - origin, span.seconds, facts)


def _event(
    name: str, category: str, start: float, seconds: float, facts: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": round(start * 1e6, 3),
        "dur": round(seconds * 1e6, 3),
        "pid": 1,
        "tid": 1,
        "args": facts,
    }


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}"
