"""What fusion made of a compiled function, in as many lines as it has kernels.

Comes in: an explanation. Goes out: a table for `rich`, and the sentences above it.
Never: all there is to say; the explanation prints that itself.
"""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...frontend.explanation import Explanation
from ...frontend.explanation.words import summary, traffic

WIDE = 72
"""From so many columns on there is room for the user's lines."""


def sentences(told: Explanation) -> Iterable[str]:
    """What became of the ops, and for which sizes that holds."""
    yield f"{told.ops.total()} ops became {summary(told)}"
    yield traffic(told)
    sizes = [size for part in told.parts for size in part.sizes]
    yield f"one code for all sizes: {', '.join(f'{size.name} = {size.number}' for size in sizes)}"


def kernel_table(told: Explanation, console: Console) -> Table:
    """A line for each kernel: its ops, its bytes, and the first of the user's lines in it."""
    wide = console.width >= WIDE
    shown = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=wide)
    cut = "ellipsis" if console.encoding.lower().startswith("utf") else "crop"
    shown.add_column("kernel", no_wrap=True, overflow=cut, max_width=26 if wide else 14)
    for heading in ("ops", "moves", "saved"):
        shown.add_column(heading, justify="right", no_wrap=True)
    if wide:
        shown.add_column("begins with", no_wrap=True, overflow=cut, style="italic", ratio=1)
    for kernel in told.kernels:
        saved = str(kernel.saved) if kernel.saved.formula != 0 else ""
        cells = [kernel.name, str(len(kernel.ops)), str(kernel.moved), saved]
        if wide:
            cells.append(kernel.lines[0].text if kernel.lines else "")
        shown.add_row(*map(Text, cells))
    return shown
