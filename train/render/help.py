"""The dashboard's help: what the screen shows, and what its keys do.

Comes in: nothing. Goes out: a screen on top of the other, which any key closes.
Never: a key of its own; the table is that of the application.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

ABOUT = (
    "Blue is training, orange is validation. A noisy curve is pale, with its running mean in "
    "front. A run that is stopped ends after the step that is running."
)


class Help(ModalScreen[None]):
    """What the keys do."""

    def __init__(self, bindings: Sequence[Binding]) -> None:
        super().__init__()
        self._bindings_shown = bindings

    def compose(self) -> ComposeResult:
        table = Table.grid(padding=(0, 2))
        for binding in self._bindings_shown:
            table.add_row(f"[bold #f2913d]{binding.key_display}[/]", binding.tooltip)
        with VerticalScroll(id="help"):
            yield Static(table)
            yield Static(f"\n{ABOUT}", classes="pale")

    def on_key(self, event: events.Key) -> None:
        """Close; but Ctrl-C and `q` mean what they mean everywhere."""
        if event.key not in ("q", "ctrl+c", "ctrl+q", "up", "down", "pageup", "pagedown"):
            event.stop()
            self.dismiss()
